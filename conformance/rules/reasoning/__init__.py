"""Rules of `reasoning/`: reasoning, from the reply and back."""
