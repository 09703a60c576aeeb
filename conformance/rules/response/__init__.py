"""Rules about replies as a whole."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.CONTENT
