"""Rules about status and headers."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
