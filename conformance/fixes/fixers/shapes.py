"""Values of the wrong shape: what is at the place of a finding, left out, wrapped, or in the form that is expected."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import orjson

from conformance.documents.patch import apply
from conformance.documents.pointer import Place, copied, render, value_at
from conformance.fixes.content import REASONING
from conformance.fixes.fixers.parameters import CONTENT
from conformance.fixes.fixers.prepared import WITHOUT_REASONING
from conformance.fixes.problem import Candidate, ClientProblem

ORDER: Final = 50
RULES: Final = ("*",)

_QUOTED: Final = re.compile(r"'([^']{1,200})'|\"([^\"]{1,200})\"")
_ONE_OF: Final = re.compile(r"one of ([\w, -]+?), got")
_MISSING: Final = re.compile(r'expected the key "([^"]+)"')
_LIST: Final = re.compile(r"expected (?:an array|a list|parts|blocks)")
_DEFAULTS: Final[dict[str, tuple[Any, ...]]] = {
    "type": ("function", "text"),
    "arguments": ("{}",),
    "content": ("",),
    "role": ("user",),
    "parameters": ({"type": "object", "properties": {}},),
    "properties": ({},),
    "input": ({},),
    "args": ({},),
}
"""What stands under a key that is missing, where any client means the same."""

_ROLES: Final = {"developer": "system", "tool": "user", "function": "tool", "model": "assistant", "assistant": "model"}
_EMPTY: Final[tuple[Any, ...]] = ("", None, [], {})
_UNIT: Final = 2
"""The length of the place of a message, item or content in a request."""

_TEXT_PARTS: Final = ("text", "input_text", "output_text")
_ABSENT: Final = object()


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield requests with another value at the place of the finding, or without it."""
    place, request = problem.place, problem.request
    spared = frozenset({REASONING}) if problem.rule in WITHOUT_REASONING else frozenset()
    value = value_at(request, place, _ABSENT)
    yield from _with_missing_key(problem, place, value)
    if value in _EMPTY:
        # Nothing is lost with it.
        yield from _without(request, place, spared)
    for other in _other_forms(value, problem):
        yield Candidate(_replaced(request, place, other), "send it in the form that is expected", spared=spared)
    parent = value_at(request, place[:-1], None) if place else None
    if isinstance(parent, dict) and (named := _with_text(parent)) is not None:
        yield Candidate(_replaced(request, place[:-1], named), "send the text as the text of its part", whole=True)
    if value is not _ABSENT:
        yield from _without(request, place, spared)
    yield from _of_parent(problem, place)


def _without(request: Any, place: Place, spared: frozenset[str]) -> Iterator[Candidate]:
    if len(place) > 1 or (place and (request[place[0]] in _EMPTY or place[0] not in CONTENT)):
        removed = apply(request, [{"op": "remove", "path": render(place)}])
        yield Candidate(removed, f"leave out {place[-1]}", spared=spared)


def _replaced(request: Any, place: Place, value: Any) -> Any:
    return apply(request, [{"op": "replace", "path": render(place), "value": value}]) if place else value


def _with_missing_key(problem: ClientProblem, place: Place, value: Any) -> Iterator[Candidate]:
    found = _MISSING.search(problem.finding.message)
    if found is None or not isinstance(value, dict):
        return
    key = found[1]
    choices = ("tool",) if key == "role" and "tool_call_id" in value else _DEFAULTS.get(key, ())
    for default in choices:
        yield Candidate(_replaced(problem.request, place, {**value, key: copied(default)}), f"add the {key}")
    for each in problem.conversation[:-1]:
        earlier = each.request if isinstance(each.request, dict) else {}
        if not place and key in earlier:
            yield Candidate({**problem.request, key: earlier[key]}, f"add the {key}", "/0/request")


def _other_forms(value: Any, problem: ClientProblem) -> Iterator[Any]:
    """Yield other forms of a value: those that the finding names first."""
    message = problem.finding.message
    expected = message.partition(", got")[0]
    if value is _ABSENT:
        return
    if isinstance(value, (str, type(None))):
        named = [one or two for one, two in _QUOTED.findall(expected)]
        found = _ONE_OF.search(message)
        named += [each.strip() for each in found[1].split(",")] if found else []
        if problem.place and problem.place[-1] in ("role", "type") and value in _ROLES:
            named = [each for each in (_ROLES[str(value)], "user") if each in named] or named
        yield from named
    if isinstance(value, dict):
        if (part := _with_text(value)) is not None:
            yield [part]
            yield part
        yield orjson.dumps(value).decode()
        yield [value]
        yield {"url": value["url"]} if isinstance(value.get("url"), str) else [value]
        yield from ([{**value, "type": "text"}] if "text" in value else [])
    elif isinstance(value, str):
        yield from _of_text(value, problem)
    elif isinstance(value, list):
        texts = [each["text"] for each in value if isinstance(each, dict) and isinstance(each.get("text"), str)]
        if len(texts) == len(value):
            yield "\n".join(texts)
        yield [each for each in value if each not in _EMPTY]
        yield orjson.dumps(value).decode()
    elif isinstance(value, (int, float)):
        yield str(value)
        yield int(value)
    yield from ([], {}, "") if value is None else ()


def _with_text(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return a part without a type, or whose only text stands under another key, as a part of text; None for others."""
    if "type" not in value and isinstance(value.get("text"), str):
        return {"type": "text", **value}
    others = [key for key, each in value.items() if key != "type" and isinstance(each, str) and each.strip()]
    if value.get("type", "text") not in _TEXT_PARTS or "text" in value or len(others) != 1:
        return None
    return {"type": value.get("type", "text"), "text": value[others[0]]} | {
        key: each for key, each in value.items() if key not in ("type", *others)
    }


def _of_text(value: str, problem: ClientProblem) -> Iterator[Any]:
    yield value.rstrip()
    key = problem.place[-1] if problem.place else ""
    if key in ("image_url", "input_audio"):
        yield {"url": value}
    if key == "arguments":
        # The model should still see what it wrote; Anthropic documents this form.
        yield "{}" if not value.strip() else orjson.dumps({"INVALID_JSON": value}).decode()
    with suppress(orjson.JSONDecodeError):
        yield orjson.loads(value)
    if type(key) is int and "content" in problem.place:
        yield {"type": "text", "text": value}
    if _LIST.search(problem.finding.message):
        yield [{"type": "text", "text": value}]
    if type(key) is int and len(problem.place) == _UNIT:
        yield {"role": "user", "content": value}


def _of_parent(problem: ClientProblem, place: Place) -> Iterator[Candidate]:
    """Yield the request without the empty message, part or block that holds the place."""
    for end in range(len(place) - 1, 0, -1):
        if isinstance(place[end - 1], int):
            removed = apply(problem.request, [{"op": "remove", "path": render(place[:end])}])
            yield Candidate(removed, "leave out what is empty")
