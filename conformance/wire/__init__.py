"""The wire as plain values: facts, no opinions, no I/O."""
