"""Rules about the tool calls of replies."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
