"""Rules about what only OpenAI Responses has: item ids, reasoning items, the state of the server, numbers of events."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
