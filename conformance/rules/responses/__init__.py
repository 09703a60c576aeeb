"""Rules about what only OpenAI Responses has: item ids, reasoning items, the state of the server, numbers of events."""
