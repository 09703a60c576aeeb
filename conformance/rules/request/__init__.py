"""Rules of `request/`: what a request holds."""
