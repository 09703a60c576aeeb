"""Rules about the order of messages in a request, and between the requests of a session."""

from typing import Final

from conformance.results import Harm

HARM: Final = Harm.LOOP
