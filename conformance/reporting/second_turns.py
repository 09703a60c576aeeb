"""Second requests of a conversation, as a provider's claims require them: examples that a reader can copy.

The simulator plays the first reply, so ids and reasoning have the form that the provider gives to them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance import scenarios
from conformance.convert import egress, ingress
from conformance.profiles import Claims, Profile, rejects_or_damages
from conformance.scenarios import tool_definitions
from conformance.simulator import Simulator
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

_SCENARIOS: Final = {"After an answer": "reasoning-without-tools", "After a tool call": "one-tool-call"}
_ANY_MODEL: Final = "any-model"


class SecondTurn(NamedTuple):
    """The second request of a conversation: what it follows, its body, and the exchange before it."""

    title: str
    body: dict[str, Any]
    before: Exchange

    @property
    def conversation(self) -> Conversation:
        """Return the first exchange and the second request."""
        return self.before, Exchange(request=self.body)


def second_turns(profile: Profile) -> Iterator[SecondTurn]:
    """Yield an example for a plain turn and one for a tool turn; none if the provider supports no such turn.

    Where sources disagree, they send what none of them says is refused.
    """
    claims, contested = profile.at(profile.model), profile.contested(profile.model)

    def prepared(transcript: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return egress.prepare(transcript, claims, contested=contested).messages

    for title, name in _SCENARIOS.items():
        scenario = scenarios.load(name)
        if scenario.tools and claims.get("tools.supported") is False:
            continue
        body: dict[str, Any] = {"model": profile.model or _ANY_MODEL, "messages": []}
        if scenario.tools:
            body["tools"] = [tool_definitions()[each] for each in scenario.tools]
        if not (scenario.tools and rejects_or_damages(claims.get("thinking.with-tools"))):
            body |= _switch(claims)
        first, second = scenario.turns[:2]
        transcript: list[dict[str, Any]] = [{"role": "user", "content": first.user}]
        before = Simulator(profile).send({**body, "messages": prepared(transcript)})
        replies = Index((before,)).replies
        if not replies:
            continue
        reply = ingress.read(replies[0].message, claims)
        transcript += [reply, *_continued(reply, second)]
        yield SecondTurn(title, {**body, "messages": prepared(transcript)}, before)


def _switch(claims: Claims) -> Mapping[str, Any]:
    """Return what turns thinking on, unless it is on by itself."""
    switch = claims.get("thinking.on")
    is_on = claims.get("thinking.mode") in ("always", "default-on", "never")
    return switch if not is_on and isinstance(switch, Mapping) else {}


def _continued(reply: dict[str, Any], turn: scenarios.ScriptTurn) -> list[dict[str, Any]]:
    """Return what the client adds to a reply: the results of its calls, or the next user message."""
    calls = zip(reply.get("tool_calls", ()), turn.results, strict=True)
    results = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call, result in calls]
    return results or [{"role": "user", "content": turn.user}]
