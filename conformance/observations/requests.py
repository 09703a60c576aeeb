"""What the answer to a request shows about the request: parameters that were accepted, thinking that was switched."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from conformance.observations.counts import reasoning_tokens
from conformance.observations.replies import is_reasoned
from conformance.observations.sights import ExchangeView, Sight, partial
from conformance.profiles import Claims, matches
from conformance.wire.reasoning import FIELDS, has_field

_SWITCHES: Final = frozenset(
    {"reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget", "chat_template_kwargs"}
)
"""What requests turn thinking on or off with, whether or not a profile knows that its host reads it."""


def sights(view: ExchangeView, claims: Claims) -> Iterator[Sight]:
    """Yield what an accepted request shows."""
    request = view.exchange.request
    if not isinstance(request, dict) or not view.accepted:
        return
    yield from _parameters(request, claims)
    yield from _history(request, claims)
    replies = [reply for reply in view.elements.replies if reply.place[0] == view.number]
    if replies:
        reasons = any(is_reasoned(each.message) for each in replies) or reasoning_tokens(view.elements, view.number) > 0
        yield from _thinking(request, claims, reasons=reasons)


def _parameters(request: Mapping[str, Any], claims: Claims) -> Iterator[Sight]:
    # Null counts as absent on this wire.
    lengths = ("max_tokens", "max_completion_tokens")
    yield from partial("request.max-tokens-fields", [each for each in lengths if request.get(each) is not None])
    for name in ("request.extra-fields", "request.ignored-fields"):
        claimed = claims.get(name)
        yield from partial(name, [each for each in request if isinstance(claimed, list) and each in claimed])
    if request.get("tools"):
        yield from partial("tools.choices", _choices(request.get("tool_choice")))
    efforts = (request.get("reasoning_effort"), _inner(request, "reasoning", "effort"))
    yield from partial("thinking.efforts", [each for each in efforts if isinstance(each, str)])


def _choices(choice: Any) -> Iterator[str]:
    if isinstance(choice, dict):
        yield "allowed_tools" if choice.get("type") == "allowed_tools" else "named"
    elif isinstance(choice, str):
        # Mistral's word for it.
        yield "required" if choice == "any" else choice


def _history(request: Mapping[str, Any], claims: Claims) -> Iterator[Sight]:
    messages = [each for each in request.get("messages") or () if isinstance(each, dict)]
    assistant = [each for each in messages if each.get("role") == "assistant"]
    yield from partial("reasoning.request-field", [f for f in FIELDS for each in assistant if has_field(each, f)])
    deviating = _deviating(messages, [each.get("role") for each in messages])
    yield from (Sight(name, ("accepted",), partial=True) for name, deviates in deviating.items() if deviates)
    known = claims.get("request.known-message-fields")
    fields = known if isinstance(known, list) else []
    yield from partial("request.known-message-fields", [f for f in fields for each in messages if f in each])
    kinds = [part.get("type") for each in messages for part in _parts(each)]
    yield from partial("request.known-part-types", [each for each in kinds if isinstance(each, str)])


def _deviating(messages: list[dict[str, Any]], roles: list[Any]) -> Mapping[str, bool]:
    """Return which deviations a request has that rules do not report, because they are about something else."""
    plain = [each for each in messages if each.get("role") == "assistant" and not each.get("tool_calls")]
    both = [each for each in messages if each.get("reasoning_content") and each.get("reasoning")]
    pairs = list(pairwise(zip(roles, messages, strict=True)))
    return {
        "reasoning.input.both": any(each["reasoning_content"] == each["reasoning"] for each in both),
        "reasoning.on-plain-turn": any(has_field(each, field) for each in plain for field in FIELDS),
        # Results of parallel calls follow each other by design, and system messages have a claim of their own.
        "request.successive-same-role": any(
            first == second and first in ("user", "assistant") for (first, _), (second, _) in pairs
        ),
        "request.system-position": any(
            role == "system" and set(roles[:at]) - {"system"} for at, role in enumerate(roles)
        ),
        "request.last-assistant": bool(messages) and messages[-1] in plain,
    }


def _thinking(request: Mapping[str, Any], claims: Claims, *, reasons: bool) -> Iterator[Sight]:
    switches = claims.get("thinking.switches")
    switched = next(
        (switch["thinks"] for switch in (switches if isinstance(switches, list) else ()) if matches(switch, request)),
        None,
    )
    if switched is None:
        # A model that thinks may also answer at once.
        modes = ("default-on", "always") if reasons else ("default-off", "never")
        yield Sight("thinking.mode", modes, partial=not reasons)
    # A switch that works shows nothing of the default; only one that fails does.
    elif switched is not reasons:
        yield Sight("thinking.mode", ("always",) if reasons else ("never",), partial=not reasons)
    for name, wanted in (("thinking.on", True), ("thinking.off", False)):
        body = claims.get(name)
        # That nothing has to be sent is shown by a request that sends nothing of it.
        is_bare = body == {} and (switched is not None or not _SWITCHES.isdisjoint(request))
        if isinstance(body, dict) and reasons is wanted and not is_bare and _includes(request, body):
            yield Sight(name, (body,), partial=True)


def _includes(request: Any, body: Any) -> bool:
    """Return whether a request has all members of another body."""
    if isinstance(body, dict):
        return isinstance(request, dict) and all(key in request and _includes(request[key], body[key]) for key in body)
    return bool(request == body)


def _inner(holder: Mapping[str, Any], *path: str) -> Any:
    held: Any = holder
    for key in path:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
