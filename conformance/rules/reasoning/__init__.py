"""Rules about reasoning, in replies and in later requests."""
