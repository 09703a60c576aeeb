"""Rules about error replies."""
