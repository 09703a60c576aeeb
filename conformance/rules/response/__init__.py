"""Rules of `response/`: the reply as a whole."""
