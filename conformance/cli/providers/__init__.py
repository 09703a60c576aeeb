"""Commands about providers, their profiles and cassettes, and engines."""
