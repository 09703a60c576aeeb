"""Rules about what only Gemini has: signatures on the parts that hold calls."""
