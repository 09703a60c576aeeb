"""Rules about status and headers."""
