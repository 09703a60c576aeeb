"""Rules of `stream/`: the reply as an event stream."""
