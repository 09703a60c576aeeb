"""Rules of `shape/`: single values and bodies have the shapes of the canonical schemas."""
