"""Rules of `error/`: error replies."""
