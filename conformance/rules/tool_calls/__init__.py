"""Rules about the tool calls of replies."""
