"""The edits of `prepare`: of all that it changes for the provider, a fix is the part that one finding needs."""

from collections.abc import Iterator
from typing import Any, Final

from conformance import convert
from conformance.convert.native import native_request
from conformance.documents.patch import apply, difference
from conformance.fixes.content import REASONING
from conformance.fixes.excerpt import LISTS
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.wire.native import CHAT

ORDER: Final = 20
RULES: Final = ("*",)

WITHOUT_REASONING: Final = frozenset(
    {
        "reasoning/dropped-on-plain-turns",
        "reasoning/not-of-earlier-turn",
        "reasoning/not-sent-where-refused",
        "reasoning/on-assistant-messages-only",
    }
)
"""The rules that are broken because reasoning is sent where the provider refuses it, or nothing reads it."""


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield the request with the messages that `prepare` makes of its own."""
    spared = frozenset({REASONING}) if problem.rule in WITHOUT_REASONING else frozenset()
    for request in problem.once(_requests):
        yield Candidate(request, "as `prepare` sends it", spared=spared)


def _requests(problem: ClientProblem) -> list[Any]:
    """Return the request with the messages that `prepare` makes of its own, for each list that holds them."""
    exchange = problem.exchange
    body: Any = exchange.request
    prepared = convert.prepare(body, problem.profile, model=exchange.model, date=problem.day)
    if exchange.protocol == CHAT:
        return [{**body, "messages": prepared.messages}]
    sent = native_request({**body, "messages": prepared.messages}, prepared.origins, exchange.protocol).body
    found = []
    for key in LISTS:
        if key in problem.request and key in sent:
            # Whole units may come back in another form; only what changes within one is an edit for the provider.
            edits = [each for each in difference(problem.request[key], sent[key]) if each["path"].count("/") > 1]
            found.append({**problem.request, key: apply(problem.request[key], edits)})
    return found
