"""Checks of what is committed: they end with exit code 1, and say what is stale and how to fix it."""
