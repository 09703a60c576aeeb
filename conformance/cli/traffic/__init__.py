"""Commands about requests, replies, streams and recordings that exist."""
