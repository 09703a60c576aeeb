"""Rules about reasoning, in replies and in later requests."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.CONTENT
