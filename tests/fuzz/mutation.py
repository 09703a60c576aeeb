"""Mutations of bytes, text and JSON values, drawn from one source of randomness, so that a seed repeats them."""

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias

Key: TypeAlias = "str | int"

MEMBERS: Final = (
    "$ref", "api", "arguments", "body", "choices", "code", "completion_tokens", "content", "created", "custom", "date",
    "delta", "details", "encoding", "error", "finish_reason", "function", "headers", "id", "index", "input", "items",
    "log", "logprobs", "max_tokens", "message", "messages", "method", "model", "n", "name", "object", "parameters",
    "parallel_tool_calls", "parts", "properties", "reasoning", "reasoning_content", "reasoning_details", "refusal",
    "request", "required", "response", "response_format", "role", "schema", "seed", "session", "signature", "source",
    "status", "stop", "stream", "stream_options", "string", "text", "thinking", "tool_call_id", "tool_calls",
    "tool_choice", "tools", "type", "uri", "url", "usage", "value", "verdict",
)  # fmt: skip
"""Names of members that bodies, recordings and definition files have."""

TEXTS: Final = (
    "", " ", "\n", "\x00", "\x1b[31m", "\ufeff", "\u2028", "\ud800", "\udfff\ud800", "雪", "👩\u200d🚀", "é" * 300,
    "x" * 5000, "0", "-1", "1e400", "007", "null", "NaN", "{}", "{", "[]", '{"a": 1, "a": 2}', '"', "\\u12", "[" * 300,
    "user", "system", "developer", "assistant", "tool", "function", "text", "stop", "tool_calls", "length", "call_0",
    "<think>", "</think>", "[DONE]", "data: [DONE]\n\n", "data:", "event: error\ndata: {}\n\n", ": note", "\r",
    "\r\n\r\n", "chat.completion.chunk", "text/event-stream; charset=latin-1", "gzip", "chunked", "base64", "AAAA====",
    "\x1f\x8b\x08", "2026-13-45", "2026-11-22", "Thu, 99 Foo 2026 25:61:00 GMT", "9999999999999", "200 OK", "http://[",
    "https://u:p@h:99999/%zz?#", "/v1/chat/completions", "../..", "#/definitions/a", "#", "(a+)+$", "(", "\\p{Greek}",
    "^[a-z]{1,65536}$", "*", "[!", "{number}", "%s", "&a", "*a", "!!python/object:os.system", "<<", "- x", "? y", "~",
    "|", "@", "`", "interactions:", "httprr trace v1\n",
)  # fmt: skip
"""Strings that code trims, parses, escapes or compares."""

NUMBERS: Final = (
    0, -0.0, 1, -1, 2, 7, 99, 100, 200, 429, 599, 600, 1.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 2**31,
    2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**400, 1767225600, 1767225600000,
)  # fmt: skip

_MOST_STEPS: Final = 5
_DEEP: Final = (2, 20, 120, 260)
_LARGE: Final = 20_000
"""What a step adds is not larger than so many characters, about: growth has tests of its own."""


def times(rng: Random) -> int:
    """Return how many steps to take: mostly one or two, so that a mutated value still resembles its original."""
    count = 1
    while count < _MOST_STEPS and rng.random() < 0.45:
        count += 1
    return count


def odd(rng: Random) -> Any:
    """Return a new value that may be of any type."""
    return rng.choice(_KINDS)(rng)


_KINDS: Final[tuple[Callable[[Random], Any], ...]] = (
    lambda rng: rng.choice((None, True, False)),
    lambda rng: rng.choice(NUMBERS),
    lambda rng: rng.choice(NUMBERS),
    lambda rng: rng.choice(TEXTS),
    lambda rng: rng.choice(TEXTS),
    lambda rng: rng.choice(MEMBERS),
    lambda rng: [odd(rng) for _ in range(rng.randrange(3))],
    lambda rng: {rng.choice(MEMBERS): odd(rng) for _ in range(rng.randrange(3))},
    lambda rng: _nested(rng, None),
)


def value(rng: Random, given: Any, donor: Any) -> Any:
    """Return a JSON value with a few mutations, made in place; `donor` is another value to take parts from."""
    holder = [given]
    for _ in range(times(rng)):
        rng.choice(_STEPS)(rng, holder, donor)
        if not holder:
            holder.append(odd(rng))
    return holder[0]


def _place(rng: Random, holder: Any) -> tuple[Any, Any]:
    """Return a container and one of its keys, by a random walk from the outside in."""
    key: Any = 0
    while rng.random() < 0.85:
        inner = holder[key]
        if not inner or not isinstance(inner, (dict, list)):
            break
        holder, key = inner, rng.choice(list(inner)) if isinstance(inner, dict) else rng.randrange(len(inner))
    return holder, key


def _replace(rng: Random, holder: list[Any], donor: Any) -> None:
    parent, key = _place(rng, holder)
    parent[key] = odd(rng)


def _cast(rng: Random, holder: list[Any], donor: Any) -> None:
    """Replace a value by a similar one of another type."""
    parent, key = _place(rng, holder)
    inner = parent[key]
    casts: list[Any] = [[inner], {rng.choice(MEMBERS): inner}, None, _shown(inner)]
    if isinstance(inner, (dict, list)):
        casts += [type(inner)(), *(inner.values() if isinstance(inner, dict) else inner[:1])]
    elif isinstance(inner, (int, float)):
        casts += [str(inner), -inner, inner + 1, bool(inner)]
    parent[key] = rng.choice(casts)


def _remove(rng: Random, holder: list[Any], donor: Any) -> None:
    parent, key = _place(rng, holder)
    del parent[key]


def _double(rng: Random, holder: list[Any], donor: Any) -> None:
    """Repeat an item of a list, at times often."""
    parent, key = _place(rng, holder)
    if parent is holder or not isinstance(parent, list):
        return
    room = _LARGE // (1 + len(_shown(parent[key])))
    count = min(room, rng.choice((1, 1, 1, 2, 40)))
    parent[key:key] = [_copied(parent[key]) for _ in range(count)]


def _move(rng: Random, holder: list[Any], donor: Any) -> None:
    """Move an item of a list to another position."""
    parent, key = _place(rng, holder)
    if isinstance(parent, list) and parent is not holder:
        parent.insert(rng.randrange(len(parent)), parent.pop(key))


def _add(rng: Random, holder: list[Any], donor: Any) -> None:
    parent, key = _place(rng, holder)
    inner = parent[key]
    if isinstance(inner, dict):
        inner[rng.choice(MEMBERS if rng.random() < 0.9 else TEXTS)] = odd(rng)
    elif isinstance(inner, list):
        inner.insert(rng.randint(0, len(inner)), odd(rng))


def _rename(rng: Random, holder: list[Any], donor: Any) -> None:
    parent, key = _place(rng, holder)
    if isinstance(parent, dict):
        parent[rng.choice(MEMBERS if rng.random() < 0.8 else TEXTS)] = parent.pop(key)


def _splice(rng: Random, holder: list[Any], donor: Any) -> None:
    """Put a part of the other value here; at times one that had the same name there."""
    parent, key = _place(rng, holder)
    there, name = _place(rng, [donor])
    if isinstance(key, str) and isinstance(there, dict) and key in there:
        name = key
    parent[key] = _copied(there[name])


def _graft(rng: Random, holder: list[Any], donor: Any) -> None:
    """Put here what the other value has in the same place, or a member that only it has there."""
    parent, there, key = holder, [donor], 0
    while True:
        inner, other = parent[key], there[key]
        alike = type(inner) is type(other) and isinstance(inner, (dict, list)) and inner and other
        if not alike or rng.random() < 0.2:
            parent[key] = _copied(other)
            return
        chosen = rng.choice(list(other)) if isinstance(other, dict) else rng.randrange(len(other))
        if isinstance(inner, dict) and chosen not in inner:
            inner[chosen] = _copied(other[chosen])
            return
        if isinstance(inner, list) and chosen >= len(inner):
            inner.append(_copied(other[chosen]))
            return
        parent, there, key = inner, other, chosen


def _copy_within(rng: Random, holder: list[Any], donor: Any) -> None:
    """Put a part of the value elsewhere in it: two ids become equal, a message holds a call."""
    there, name = _place(rng, holder)
    copied = _copied(there[name]) if there is not holder else None
    parent, key = _place(rng, holder)
    parent[key] = copied


def _in_text(rng: Random, holder: list[Any], donor: Any) -> None:
    """Mutate a string; the arguments of a call also as the JSON value that they are."""
    parent, key = _place(rng, holder)
    inner = parent[key]
    if not isinstance(inner, str):
        return
    if inner[:1] in ("{", "[") and rng.random() < 0.4:
        try:
            parent[key] = _shown(value(rng, json.loads(inner), donor))
        except (ValueError, RecursionError):
            parent[key] = text(rng, inner)
    else:
        parent[key] = text(rng, inner)


def _wrap(rng: Random, holder: list[Any], donor: Any) -> None:
    parent, key = _place(rng, holder)
    parent[key] = _nested(rng, parent[key])


_STEPS: Final[tuple[Callable[[Random, list[Any], Any], None], ...]] = (
    _replace, _replace, _cast, _remove, _remove, _double, _move, _add, _add, _rename, _splice, _graft, _graft,
    _copy_within, _in_text, _in_text, _in_text, _wrap,
)  # fmt: skip


def _nested(rng: Random, inner: Any) -> Any:
    as_list, name = rng.random() < 0.5, rng.choice(MEMBERS)
    for _ in range(rng.choice(_DEEP)):
        inner = [inner] if as_list else {name: inner}
    return inner


def _copied(inner: Any) -> Any:
    if isinstance(inner, dict):
        return {key: _copied(each) for key, each in inner.items()}
    return [_copied(each) for each in inner] if isinstance(inner, list) else inner


def _shown(inner: Any) -> str:
    try:
        return json.dumps(inner)
    except RecursionError:
        return "[]"


def text(rng: Random, given: str) -> str:
    """Return a string with a few mutations."""
    characters = list(given)
    for _ in range(times(rng)):
        _edit(
            rng,
            characters,
            list(rng.choice(TEXTS)),
            lambda: chr(rng.choice((rng.randrange(128), rng.randrange(0x3000)))),
        )
    return "".join(characters)


def data(rng: Random, given: bytes, donor: bytes) -> bytes:
    """Return bytes with a few mutations; `donor` are other bytes to take parts from."""
    edited = bytearray(given)
    for _ in range(times(rng)):
        if donor and rng.random() < 0.15:
            start = rng.randrange(len(donor))
            part = donor[start : start + rng.randrange(1, 400)]
        else:
            part = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
        _edit(rng, edited, part, lambda: rng.randrange(256))
    return bytes(edited)


def _edit(rng: Random, given: Any, part: Any, unit: Callable[[], Any]) -> None:
    """Insert, overwrite, remove, repeat, move or cut something in a sequence of bytes or characters."""
    size = len(given)
    start = rng.randint(0, size)
    end = min(size, start + rng.choice((1, 1, 1, 2, 4, 16, 200)))
    match rng.randrange(8):
        case 0:
            given[start:start] = part
        case 1:
            given[start:end] = part
        case 2:
            del given[start:end]
        case 3:
            repeats = min(rng.choice((1, 2, 50)), _LARGE // (1 + end - start))
            given[start:start] = given[start:end] * repeats
        case 4 if size:
            at = rng.randrange(size)
            given[at] = unit()
        case 5 if size:
            moved = given[start:end]
            del given[start:end]
            at = rng.randint(0, len(given))
            given[at:at] = moved
        case 6 if rng.random() < 0.3:
            del given[start:]
        case _:
            given[start:start] = type(given)([unit() for _ in range(rng.choice((1, 1, 4)))])
