"""The deviations of probes about reasoning: what is sent back of it, on which turns, in which field."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from conformance.convert import egress
from conformance.suite.history import Inapplicable, assistant_messages
from conformance.wire.reasoning import ALL_KEYS, PAIR, SIGNATURE_KEYS

_OTHER_WORDS: Final = " Or so it seems."


class Request(Protocol):
    """What a change gets: the messages to change, their transcript, and the provider's claims."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Return the messages, which are changed in place."""

    @property
    def transcript(self) -> Sequence[Mapping[str, Any]]:
        """Return the canonical message of each message, with its reasoning."""

    @property
    def claims(self) -> Mapping[str, Any]:
        """Return the claims of the provider."""


def _absent(request: Request, on: str = "tool") -> None:
    for message, _ in _turns(request, on):
        _strip(message, request)


def _empty(request: Request, on: str = "tool") -> None:
    """Send back an empty string, or an empty list of details."""
    _write(request, on, {"reasoning_details": [], "thinking_blocks": []}, "")


def _null(request: Request, on: str = "tool") -> None:
    _write(request, on, {}, None)


def _write(request: Request, on: str, values: Mapping[str, Any], usual: Any) -> None:
    field = _field(request)
    if field not in ALL_KEYS or field in SIGNATURE_KEYS:
        raise Inapplicable
    for message, _ in _turns(request, on):
        _strip(message, request)
        message[field] = copy.copy(values.get(field, usual))


def _altered(request: Request, on: str = "tool") -> None:
    """Send back the reasoning with some words added."""
    for message, source in _turns(request, on):
        _strip(message, request)
        _fill(message, _field(request), _reworded(source))


def _exact(request: Request, on: str = "tool") -> None:
    """Send back the reasoning unchanged, even where it would be omitted."""
    for message, source in _turns(request, on):
        _strip(message, request)
        _fill(message, _field(request), source)


def _under(request: Request, field: str, on: str = "tool") -> None:
    """Send back the reasoning in another field only."""
    if field in egress.request_fields(request.claims)[:1]:
        raise Inapplicable
    for message, source in _turns(request, on):
        _strip(message, request)
        _fill(message, field, source)


def _both(request: Request, on: str = "tool") -> None:
    """Send back the reasoning in both text fields."""
    for message, source in _turns(request, on):
        for field in PAIR:
            _fill(message, field, source)


def _details(edit: Callable[[list[Any]], None], least: int) -> Callable[[Request], None]:
    """Return a change of the details of every turn with at least `least` of them."""

    def change(request: Request) -> None:
        for message, _ in _turns(request, "tool"):
            details = message.get("reasoning_details")
            if isinstance(details, list) and len(details) >= least:
                edit(details)

    return change


def _edit(details: list[Any]) -> None:
    """Change the text of the last detail, or the data of an encrypted one."""
    detail = details[-1]
    key = next((key for key in ("data", "text", "summary") if isinstance(detail.get(key), str)), None)
    if key is not None:
        detail[key] = detail[key][::-1]


def _drop(details: list[Any]) -> None:
    del details[0]


def _signatures(edit: Callable[[dict[str, Any], str], None]) -> Callable[[Request], None]:
    """Return a change of every signature in the history."""

    def change(request: Request) -> None:
        for message, _ in _turns(request, "tool"):
            for holder, key in _signed(message):
                edit(holder, key)

    return change


def _signed(message: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    items = [*message.get("reasoning_details", ()), *message.get("thinking_blocks", ())]
    found = [(item, "signature") for item in items if isinstance(item, dict)]
    for holder in (message, *message.get("tool_calls", ())):
        google = holder.get("extra_content", {}).get("google", {})
        found.append((google, "thought_signature"))
    return [(holder, key) for holder, key in found if isinstance(holder.get(key), str)]


def _alter(holder: dict[str, Any], key: str) -> None:
    holder[key] = holder[key][::-1]


def _remove(holder: dict[str, Any], key: str) -> None:
    del holder[key]


CHANGES: Final[Mapping[str, Callable[..., None]]] = {
    "reasoning-absent": _absent,
    "reasoning-empty": _empty,
    "reasoning-null": _null,
    "reasoning-altered": _altered,
    "reasoning-exact": _exact,
    "reasoning-under": _under,
    "reasoning-under-both": _both,
    "details-reordered": _details(lambda details: details.reverse(), 2),
    "details-dropped": _details(_drop, 2),
    "details-edited": _details(_edit, 1),
    "details-duplicated": _details(lambda details: details.append(copy.deepcopy(details[-1])), 1),
    "signatures-dropped": _signatures(_remove),
    "signatures-altered": _signatures(_alter),
}


def _turns(request: Request, on: str) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Return the assistant messages of a kind, each with its canonical message."""
    of = {id(message): source for message, source in zip(request.messages, request.transcript, strict=False)}
    return [(message, of[id(message)]) for message in assistant_messages(request.messages, on)]


def _field(request: Request) -> str:
    fields = egress.request_fields(request.claims)
    return fields[0] if fields else "reasoning_content"


def _strip(message: dict[str, Any], request: Request) -> None:
    """Remove the reasoning from a message, also from its content."""
    for key in ALL_KEYS:
        message.pop(key, None)
    if "content" in message:
        pairs = zip(request.messages, request.transcript, strict=False)
        source = next(source for each, source in pairs if each is message)
        message["content"] = message["content"] and source["content"]


def _fill(message: dict[str, Any], field: str, source: Mapping[str, Any]) -> None:
    filled = egress.with_reasoning(message, field, source)
    if filled == message:
        raise Inapplicable
    message.update(filled)


def _reworded(source: Mapping[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = copy.deepcopy(dict(source))
    if "reasoning_content" in changed:
        changed["reasoning_content"] += _OTHER_WORDS
    for detail in changed.get("reasoning_details", ()):
        for key in ("text", "summary"):
            if isinstance(detail.get(key), str):
                detail[key] += _OTHER_WORDS
    return changed
