"""Rules about token counts."""
