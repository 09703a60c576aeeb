"""Rules of `tool-calls/`: the tool calls of replies."""
