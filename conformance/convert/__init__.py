"""The reference converter: other message models to the canonical transcript and back, and egress to one provider."""
