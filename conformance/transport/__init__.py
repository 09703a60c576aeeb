"""How conversations travel: a client over HTTP, cassettes, and a server on loopback."""
