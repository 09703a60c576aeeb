"""Rules of `transcript/`: how messages of a request stand to one another."""
