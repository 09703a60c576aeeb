"""Rules about replies as a whole."""
