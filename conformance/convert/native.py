"""A request of chat completions as it is sent on another wire, and what of it that wire cannot hold.

How the wire is written is for its protocol. What it lost or changed is found by looking for each value of the request
in the native body, so that it is named for every wire alike.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.convert.egress import Note
from conformance.documents.pointer import Place, render
from conformance.wire.exchange import Exchange
from conformance.wire.media import IMAGE
from conformance.wires import as_sent

_LEFT_OUT: Final = "left out: the wire has no place for it"
_MEDIA: Final = "this wire has another form for it, which is not written: the part is in that of chat completions"
_REWRITTEN: Final = "sent as an object, so its bytes change"
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_TEXTS: Final = ("content", "refusal", "name", "reasoning_content", "reasoning", "tool_call_id")
_DETAILS: Final = ("text", "summary", "data", "signature")


class NativeRequest(NamedTuple):
    """A request on another wire, as the exchange that the rules check, and a note of each value that it lacks."""

    exchange: Exchange
    notes: tuple[Note, ...]

    @property
    def body(self) -> Any:
        """Return the body that is sent."""
        return self.exchange.request if self.exchange.native is None else self.exchange.native.request


def native_request(
    body: Mapping[str, Any], origins: Sequence[int], wire: str, at: Place = ("messages",)
) -> NativeRequest:
    """Return a request of chat completions as one of another wire: "messages", "responses" or "gemini".

    `body` is what `prepare` made acceptable. `origins` are the positions of its messages in the transcript, and `at`
    the place of the transcript in what the caller has: notes point there. Raises UnknownName if there is no such wire,
    and Unusable if the project cannot write it yet.
    """
    exchange = as_sent(body, wire)
    sent = NativeRequest(exchange, ())
    notes = [
        Note(render((key,)), _LEFT_OUT)
        for key, value in body.items()
        if key not in ("messages", "tools") and not _is_sent(key, value, sent.body, exchange.request)
    ]
    pool, translated = _Pool(sent.body), _Pool(exchange.request)
    for number, tool in enumerate(body.get("tools") or ()):
        notes += [Note(render(("tools", number, *place)), reason) for place, reason in _missing_of_tool(tool, pool)]
    for message, origin in zip(body["messages"], origins, strict=True):
        for place, reason in _missing(message, pool, translated):
            notes.append(Note(render((*at, origin, *place)), reason, fixed=reason != _MEDIA))
    return sent._replace(notes=tuple(notes))


def _is_sent(key: str, value: Any, native: Any, translated: Any) -> bool:
    """Return whether a parameter is in the native body under its own name, or under another that means the same."""
    names = _LIMITS if key in _LIMITS else (key,)
    found = [each[name] for each in (native, translated) for name in names if name in each]
    return value is None or value in found


class _Pool:
    """The values in a native body, each as often as it occurs."""

    def __init__(self, native: Any) -> None:
        self._values = Counter(map(_key, _values(native)))

    def take(self, value: Any) -> bool:
        """Return whether there is one more of a value."""
        key = _key(value)
        self._values[key] -= 1
        return self._values[key] >= 0


def _values(value: Any) -> Iterator[Any]:
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _values(inner)


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _missing_of_tool(tool: Any, pool: _Pool) -> Iterator[tuple[Place, str]]:
    """Yield the place of each value of a tool's definition that is not in the native body, and what became of it."""
    for key, value in tool.get("function", {}).items():
        if value is not None and not pool.take(value):
            yield ("function", key), _LEFT_OUT


def _missing(message: Mapping[str, Any], pool: _Pool, translated: _Pool) -> Iterator[tuple[Place, str]]:
    """Yield the place of each value of a message that is not in the native body, and what became of it.

    `translated` are the values of the body when it is read again, where an image is one of chat completions.
    """
    for key in _TEXTS:
        value = message.get(key)
        if isinstance(value, list):
            for number, part in enumerate(value):
                is_sent = pool.take(part.get("text", part))
                if is_sent:
                    yield from () if "text" in part else [((key, number), _MEDIA)]
                elif not translated.take(part):
                    yield from _left_out_of_part(part, (key, number), translated)
        elif value and not pool.take(value):
            yield from _rewritten((key,), value, pool)
    for number, detail in enumerate(message.get("reasoning_details") or ()):
        held = [detail[key] for key in _DETAILS if detail.get(key)]
        if not all([pool.take(value) for value in held]) or not held:
            yield ("reasoning_details", number), _LEFT_OUT
    yield from _missing_of_calls(message.get("tool_calls") or (), pool)


def _left_out_of_part(part: Mapping[str, Any], place: Place, translated: _Pool) -> Iterator[tuple[Place, str]]:
    """Yield what is left out of a part: of an image, only what some wires have no place for, if the rest is sent."""
    if part.get("type") == IMAGE and translated.take({"url": part[IMAGE].get("url")}):
        yield (*place, IMAGE, "detail"), _LEFT_OUT
    else:
        yield place, _LEFT_OUT


def _missing_of_calls(calls: Sequence[Mapping[str, Any]], pool: _Pool) -> Iterator[tuple[Place, str]]:
    for number, call in enumerate(calls):
        at = ("tool_calls", number)
        function = call["function"]
        if not pool.take(call["id"]):
            yield (*at, "id"), _LEFT_OUT
        if not pool.take(function["arguments"]):
            yield from _rewritten((*at, "function", "arguments"), function["arguments"], pool)
        if not all([pool.take(value) for value in _leaves(call.get("extra_content"))]):
            yield (*at, "extra_content"), _LEFT_OUT


def _rewritten(place: Place, text: str, pool: _Pool) -> Iterator[tuple[Place, str]]:
    """Yield the place of a text that is not in the native body: left out, or sent as the object that it is."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not pool.take(value):
        yield place, _LEFT_OUT
    elif json.dumps(value, ensure_ascii=False, separators=(",", ":")) != text:
        yield place, _REWRITTEN


def _leaves(value: Any) -> Iterator[Any]:
    return (each for each in _values(value) if isinstance(each, str))
