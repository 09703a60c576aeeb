"""Rules about what a request contains."""
