"""Rules of `usage/`: token counts."""
