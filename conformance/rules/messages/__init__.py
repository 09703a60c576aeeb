"""Rules about what only Anthropic Messages has: blocks and their order, thinking modes, bound signatures."""
