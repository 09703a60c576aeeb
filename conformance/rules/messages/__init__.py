"""Rules about what only Anthropic Messages has: blocks and their order, thinking modes, bound signatures."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
