"""Discovery: asks an endpoint that nothing is known of, and derives the claims of a profile from what it answers."""
