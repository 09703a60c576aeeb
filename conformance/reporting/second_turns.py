"""The second requests that the page of a provider shows: what `conformance.reporting.asked` makes of two wishes."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from conformance.profiles import Profile
from conformance.reporting.asked.requests import Wish, sample
from conformance.wire.exchange import Conversation, Exchange
from conformance.wires import as_sent

_WISHES: Final = {
    "After an answer": Wish(thinking=True),
    "After a tool call": Wish(tools=True, thinking=True),
}


class SecondTurn(NamedTuple):
    """The second request of a conversation: what it follows, its body, the exchange before it, and its wire."""

    title: str
    body: dict[str, Any]
    before: Exchange
    wire: str

    @property
    def conversation(self) -> Conversation:
        """Return the first exchange and the second request."""
        return self.before, as_sent(self.body, self.wire)


def second_turns(profile: Profile) -> Iterator[SecondTurn]:
    """Yield an example for a plain turn and one for a tool turn; none if the provider supports no such turn."""
    claims = profile.at(profile.model)
    for title, wish in _WISHES.items():
        if wish.tools and claims.get("tools.supported") is False:
            continue
        found = sample(profile, wish)
        if found is not None:
            yield SecondTurn(title, found.second, found.before, profile.wire)
