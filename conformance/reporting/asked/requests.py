"""The first and the second request of a conversation, as a provider's claims require them for a wish.

The simulator plays the first reply, so ids and reasoning have the form that the provider gives to them. Where sources
disagree, the requests have what none of them says is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from conformance import scenarios
from conformance.convert import egress, ingress
from conformance.convert.egress import Note
from conformance.profiles import Claims, Profile, rejects_or_damages, thinks
from conformance.scenarios import Scenario, tool_definitions
from conformance.simulator import Simulator
from conformance.suite.sent_back import OwnTurn, with_own_turns
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT

ANY_MODEL: Final = "any-model"
"""The model of a request if the profile names none."""

_ANSWER: Final = "reasoning-without-tools"
_CALL: Final = "one-tool-call"
_CALLS: Final = "parallel-tool-calls"
_BYPASS: Final = "signature.bypass"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a conversation is to have; None leaves it to the provider.

    `parallel`: the first reply makes several calls, so the second request has several results.
    """

    tools: bool = False
    parallel: bool = False
    thinking: bool | None = None
    stream: bool = False


class Shortfall(NamedTuple):
    """What of a wish the requests do not have, and the claim behind it; `is_refused`: the provider has no such thing.

    Otherwise no source says how to ask for it.
    """

    text: str
    claim: str
    is_refused: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """Both requests of a conversation in the canonical form, and the exchange between them.

    `notes` are the changes that the claims require of the second request, and `shortfalls` what is missing of the wish.
    """

    first: dict[str, Any]
    second: dict[str, Any]
    before: Exchange
    notes: tuple[Note, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()


def sample(profile: Profile, wish: Wish) -> Sample | None:
    """Return the requests for a wish; None if the simulated provider refuses the first one."""
    claims, contested = profile.at(profile.model), profile.contested(profile.model)
    granted, lacking = _granted(wish, claims)
    scenario = scenarios.load(_scenario(granted))
    body, more = _parameters(profile, granted, scenario, claims)
    first, second = scenario.turns[:2]
    transcript: list[dict[str, Any]] = [{"role": "user", "content": first.user}]
    asked = {**body, "messages": egress.prepare(transcript, claims, contested=contested).messages}
    before = Simulator(profile).send(asked)
    replies = Index((before,)).replies
    if not replies:
        return None
    reply = ingress.read(replies[0].message, claims)
    transcript += [reply, *_continued(reply, second)]
    prepared = egress.prepare(transcript, claims, contested=contested)
    messages: Sequence[dict[str, Any]] = prepared.messages
    if profile.wire != CHAT and not any(note.claim == _BYPASS for note in prepared.notes):
        # A reply of another wire goes back as it came: its blocks hold more than their translation.
        messages, _ = with_own_turns(prepared, transcript, {1: OwnTurn.of(before, replies[0].message)}, profile.wire)
    return Sample(asked, {**body, "messages": messages}, before, prepared.notes, (*lacking, *more))


def switch(claims: Claims, *, on: bool) -> Mapping[str, Any]:
    """Return what turns thinking on or off, unless it is so by itself."""
    already = ("always", "default-on", "never") if on else ("never", "default-off", "always")
    found = claims.get("thinking.on" if on else "thinking.off")
    return found if claims.get("thinking.mode") not in already and isinstance(found, Mapping) else {}


def _scenario(wish: Wish) -> str:
    return _CALLS if wish.parallel else _CALL if wish.tools else _ANSWER


def _granted(wish: Wish, claims: Claims) -> tuple[Wish, tuple[Shortfall, ...]]:
    """Return what of a wish the provider has, and what not."""
    tools, parallel, thinking = wish.tools, wish.parallel, wish.thinking
    lacking = []
    if tools and claims.get("tools.supported") is False:
        tools = parallel = False
        lacking.append(Shortfall("without tools: the model does not call any", "tools.supported", is_refused=True))
    if parallel and scenarios.load(_CALLS).unmet(claims) is not None:
        parallel, is_known = False, claims.get("tools.parallel") is False
        text = "with one call: a reply has only one" if is_known else "with one call: nothing shows a reply with more"
        lacking.append(Shortfall(text, "tools.parallel", is_refused=is_known))
    if thinking and tools and rejects_or_damages(claims.get("thinking.with-tools")):
        thinking = False if claims.get("thinking.mode") == "default-on" else None
        text = "without thinking: it is refused together with tools"
        lacking.append(Shortfall(text, "thinking.with-tools", is_refused=True))
    return Wish(tools, parallel, thinking, wish.stream), tuple(lacking)


def _parameters(
    profile: Profile, wish: Wish, scenario: Scenario, claims: Claims
) -> tuple[dict[str, Any], Iterator[Shortfall]]:
    """Return the body of both requests but for its messages, and what thinking it lacks."""
    body: dict[str, Any] = {"model": profile.model or ANY_MODEL, "messages": []}
    if scenario.tools:
        body["tools"] = [tool_definitions()[each] for each in scenario.tools]
    if wish.stream:
        body["stream"] = True
    if wish.thinking is not None:
        body |= switch(claims, on=wish.thinking)
    return body, _unswitched(claims, body, wish)


def _unswitched(claims: Claims, body: Mapping[str, Any], wish: Wish) -> Iterator[Shortfall]:
    """Yield that thinking is not as it was wished."""
    does, wished = thinks(claims, body), wish.thinking
    if wished is None or does is wished or switch(claims, on=wished):
        return
    if does is None:
        word = "on" if wished else "off"
        yield Shortfall(
            f"without a switch: no source says what turns thinking {word}", f"thinking.{word}", is_refused=False
        )
    elif wished:
        text = "without thinking: the model never thinks"
        yield Shortfall(text, "thinking.mode", is_refused=claims.get("thinking.mode") == "never")
    else:
        is_bound = claims.get("thinking.mode") == "always"
        text = (
            "with thinking: the model always thinks" if is_bound else "with thinking: no source says how to turn it off"
        )
        yield Shortfall(text, "thinking.mode" if is_bound else "thinking.off", is_bound)


def _continued(reply: Mapping[str, Any], turn: scenarios.ScriptTurn) -> Sequence[dict[str, Any]]:
    """Return what the client adds to a reply: the results of its calls, or the next user message."""
    calls = zip(reply.get("tool_calls", ()), turn.results, strict=True)
    results = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call, result in calls]
    return results or [{"role": "user", "content": turn.user}]
