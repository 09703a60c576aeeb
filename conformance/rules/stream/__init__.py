"""Rules about event streams."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.CONTENT
