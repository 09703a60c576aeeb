"""Rules about the bodies and streams of other wires as they are: their schemas, and the order of their events."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
