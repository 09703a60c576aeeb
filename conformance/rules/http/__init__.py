"""Rules of `http/`: the envelope."""
