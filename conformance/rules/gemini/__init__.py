"""Rules about what only Gemini has: signatures on the parts that hold calls."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
