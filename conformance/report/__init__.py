"""Reports: one renderer a file, each a pure function of outcomes."""
