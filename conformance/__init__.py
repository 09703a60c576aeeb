"""Conformance suite and wire validator for OpenAI-compatible chat completions."""
