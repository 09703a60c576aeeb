"""One request and its reply as a recorder keeps them: bytes, before anything is read out of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from conformance.secrets import Scrubber
from conformance.secrets.bodies import scrub
from conformance.secrets.urls import shown_url
from conformance.transport.http import Headers


@dataclass(frozen=True, slots=True)
class RawInteraction:
    """A request that was sent and the reply that came, whose body is unpacked and within the bounds of the client."""

    url: str
    sent_headers: Headers
    sent: bytes
    status: int
    reason: str
    headers: Headers
    content: bytes

    def without_secrets(self, scrubber: Scrubber) -> "RawInteraction":
        """Return the interaction as it may be kept; raises Unscrubbable if a secret cannot be removed from it."""
        return replace(
            self,
            url=scrubber.text(shown_url(self.url)),
            reason=scrubber.text(self.reason),
            headers=tuple([(name, scrubber.text(value)) for name, value in self.headers]),
            content=scrub(scrubber, self.content, self.sent.decode("utf-8", "surrogateescape")),
        )


Keep: TypeAlias = Callable[[RawInteraction], None]
"""What keeps an interaction, such as a recorder."""
