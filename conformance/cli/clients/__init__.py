"""Commands for those who write a client: an SDK, an adapter or an agent loop."""
