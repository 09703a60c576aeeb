"""Rules about the order of messages in a request, and between the requests of a session."""
