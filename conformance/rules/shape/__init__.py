"""Rules about the shapes of values and bodies, as the canonical schemas define them."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
