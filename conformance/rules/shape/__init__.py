"""Rules about the shapes of values and bodies, as the canonical schemas define them."""
