"""What exchanges show of claims: the one list of it, the one way to combine it, and the one comparison.

`sights` are the values that one exchange shows by itself: `requests`, `replies`, `streams`, `counts` and `errors` each
read a part of it. `collected` puts those of many exchanges together, one value a claim. `comparing` holds a value
beside another: of a claim, of an earlier day, of another wire. `words` says it to people.

Rules report what departs from a claim. Here a claim is read from the exchange as a reader would read it, so that only
the value that was seen is counted. Exchanges of other wires are translated first: see `conformance.wires`.
"""

from collections.abc import Iterable, Mapping

from conformance.observations import counts, errors, replies, requests, streams
from conformance.observations.answers import answer_of
from conformance.observations.sights import ExchangeView, Sight
from conformance.profiles import Claims
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index


def of(conversation: Conversation, number: int, index: Index, claims: Claims) -> Mapping[str, tuple[Sight, ...]]:
    """Return what an exchange of a conversation shows, by claim; `claims` are those in force for it."""
    exchange = conversation[number]
    answer = answer_of(exchange)
    if answer is None:
        return {}
    view = ExchangeView(number, exchange, index, not answer.rejected)
    seen: list[Iterable[Sight]] = [errors.sights(view, answer, claims)]
    if not answer.rejected:
        seen += [
            requests.sights(view, claims),
            replies.sights(view, claims),
            streams.sights(view, claims),
            counts.sights(view),
        ]
    found: dict[str, list[Sight]] = {}
    for each in (sight for sights in seen for sight in sights):
        found.setdefault(each.claim, []).append(each)
    return {name: tuple(sights) for name, sights in found.items()}
