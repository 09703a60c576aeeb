"""Chat completions as plain values: no opinions, no I/O."""
