"""Rules about what a request contains."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
