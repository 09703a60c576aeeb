"""The validating proxy: passes HTTP between a client and a provider unchanged, and checks a copy beside the path."""
