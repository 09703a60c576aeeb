"""Puts a reply back whose calls the client wrote as text, left out or dropped, with the results of its calls after it.

The reply is in the same file. Results that stand in a text become results of their calls: each call gets the line that
names its arguments, or, where the lines do not show their calls, the whole text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from conformance.convert import parse_reply
from conformance.convert.egress import request_fields, with_reasoning
from conformance.fixes.content import CALLS, REASONING, plain
from conformance.fixes.fixers.history import reply_units, result_ids
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.wire.native import CHAT
from conformance.wire.reasoning import ALL_KEYS, PARTS
from conformance.wire.text import content_text
from conformance.wire.values import as_object, objects
from conformance.wire.views import continuations

ORDER: Final = 9
RULES: Final = ("transcript/reply-resent",)

_SPARED: Final = frozenset({CALLS, REASONING})
_TITLE: Final = "send the reply back with its calls, and the results after it"
_HEADING: Final = re.compile(
    r"\A\s*(?:observations?|(?:(?:tool|function|call)s?[ _-]*(?:call)?[ _-]*)?(?:result|output|response)s?)\s*[:-]\s*",
    re.I,
)
"""What clients write before the results of calls in a text."""

_TAG: Final = re.compile(r"\A\s*<(?:tool|function)_?(?:result|response|output)s?>|\A\s*<observation>", re.I)
"""What models that call in markup get around their results; it stays, because there may be several."""

_SCAFFOLD: Final = re.compile(
    r"\b(?:calling|called|tools?|calls?|tool_calls?|tool_use|functions?|function_call|functionCall|names?|arguments|args"
    r"|parameters|input|ids?|type|action|with|None|null)\b|[^\w]|_",
    re.I,
)
_MOST_WORDS: Final = 24
"""How many letters a retold reply may have that are not the reply's."""


class _MadeCall(NamedTuple):
    """A call of a reply, as its wire has it: its id, which a call of Gemini may lack, its name and its arguments."""

    identity: Any
    name: Any
    arguments: Any


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield requests with the reply in place of what the client made of it."""
    holder, *at = problem.place
    units = problem.request.get(holder) if isinstance(holder, str) else None
    number = _number(problem)
    if number is None or not isinstance(units, list) or not at or not isinstance(at[0], int):
        return
    start, origin = at[0], f"/{number}/response"
    retold = _text(units[start]) if start < len(units) and _is_of_assistant(units[start]) else None
    end = start if retold is None else start + 1
    for sent in _forms(problem, number):
        calls = [call for unit in sent for call in _calls(unit)]
        spared = retold if retold and _retells_only(retold, sent) else ""
        for results, after in _results(units, end, calls, problem.exchange.protocol):
            changed = [*units[:start], *sent, *results, *units[after:]]
            yield Candidate({**problem.request, holder: changed}, _TITLE, origin, _SPARED, whole=True, retold=spared)


def _number(problem: ClientProblem) -> int | None:
    """Return the number of the exchange whose reply is missing in the request."""
    found = [each for each in continuations.select(problem.index) if each.place[0] == problem.number]
    return next((each.earlier for each in found if not each.returned), None)


def _forms(problem: ClientProblem, number: int) -> Iterator[list[Any]]:
    """Yield the units that send a reply back; on chat completions with its reasoning where the provider reads it."""
    units = reply_units(problem, number)
    if problem.exchange.protocol != CHAT or not units:
        yield units
        return
    (message,) = units
    if message.get("tool_calls"):
        made = [
            {key: each for key, each in call.items() if key != "index"} for _, call in objects(message["tool_calls"])
        ]
        message = {**message, "tool_calls": made}
    bare = {key: value for key, value in message.items() if key not in ALL_KEYS}
    thinks = parse_reply(problem.translated[number], problem.profile)
    for field in request_fields(problem.claims, problem.contested):
        if field not in PARTS:
            yield [with_reasoning(bare, field, thinks)]
    yield [message]
    yield [bare]


def _is_of_assistant(unit: Any) -> bool:
    return as_object(unit).get("role") in ("assistant", "model")


def _text(unit: Any) -> str:
    """Return the text of a message, on any wire."""
    shown = as_object(unit)
    content = shown.get("content")
    parts = [part for _, part in objects(shown.get("parts") or content)]
    return "\n".join([each["text"] for each in parts if isinstance(each.get("text"), str)]) or content_text(content)


def _calls(unit: Any) -> Iterator[_MadeCall]:
    """Yield the calls of a unit that sends a reply back."""
    shown = as_object(unit)
    if shown.get("type") == "function_call":
        yield _MadeCall(shown.get("call_id"), shown.get("name"), shown.get("arguments"))
    for _, call in objects(shown.get("tool_calls")):
        function = as_object(call.get("function"))
        yield _MadeCall(call.get("id"), function.get("name"), function.get("arguments"))
    for _, block in objects(shown.get("content")):
        if block.get("type") == "tool_use":
            yield _MadeCall(block.get("id"), block.get("name"), block.get("input"))
    for _, part in objects(shown.get("parts")):
        if "functionCall" in part:
            made = as_object(part["functionCall"])
            yield _MadeCall(made.get("id"), made.get("name"), made.get("args"))


def _results(
    units: Sequence[Any], at: int, calls: Sequence[_MadeCall], protocol: str
) -> Iterator[tuple[list[Any], int]]:
    """Yield the units that hold the results of calls, and the position after those that they replace."""
    if not calls:
        return
    if at < len(units) and result_ids(units[at]):
        yield [], at
        return
    text = _text(units[at]) if at < len(units) and as_object(units[at]).get("role") == "user" else ""
    heading = _HEADING.match(text)
    if heading is None and not _TAG.match(text) and not _names_a_call(text, calls):
        return
    # The heading is the client's, not the tool's.
    said = text[heading.end() :].strip() if heading is not None else text
    for texts in filter(None, (_lines(said, calls), [said] * len(calls), [text] * len(calls))):
        yield _result_units(calls, texts, protocol), at + 1


def _names_a_call(text: str, calls: Sequence[_MadeCall]) -> bool:
    words = [word for call in calls for word in (call.identity, call.name) if isinstance(word, str)]
    return any(len(word) > 3 and word in text for word in words)


def _lines(text: str, calls: Sequence[_MadeCall]) -> list[str] | None:
    """Return the line of each call, if each line names what only its own call was given."""
    lines = [line for line in text.splitlines() if line.strip()]
    given = [set(_words(call.arguments)) for call in calls]
    own = [words - set().union(*(given[:at] + given[at + 1 :])) for at, words in enumerate(given)]
    if len(lines) != len(calls) > 0 or not all(own):
        return None
    chosen = [[line for line in lines if any(word in line for word in words)] for words in own]
    found = [each[0] for each in chosen if len(each) == 1]
    return found if sorted(found) == sorted(lines) else None


def _words(arguments: Any) -> Iterator[str]:
    """Yield the texts and numbers in the arguments of a call."""
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return
    for each in arguments.values() if isinstance(arguments, Mapping) else ():
        if isinstance(each, (str, int, float)) and str(each):
            yield str(each)


def _result_units(calls: Sequence[_MadeCall], texts: Sequence[str], protocol: str) -> list[Any]:
    """Return the units of a wire that hold the results of calls."""
    pairs = list(zip(calls, texts, strict=True))
    if protocol == CHAT:
        return [{"role": "tool", "tool_call_id": call.identity, "content": text} for call, text in pairs]
    if protocol == "responses":
        return [{"type": "function_call_output", "call_id": call.identity, "output": text} for call, text in pairs]
    if protocol == "messages":
        blocks = [{"type": "tool_result", "tool_use_id": call.identity, "content": text} for call, text in pairs]
        return [{"role": "user", "content": blocks}]
    return [{"role": "user", "parts": [_response_part(call, text) for call, text in pairs]}]


def _response_part(call: _MadeCall, text: str) -> dict[str, Any]:
    about = {"id": call.identity} if call.identity else {}
    return {"functionResponse": {**about, "name": call.name, "response": {"output": text}}}


def _retells_only(text: str, sent: Sequence[Any]) -> bool:
    """Return whether a text says no more than a reply, apart from the words around its calls."""
    left = text
    for each in sorted({*_leaves(sent)}, key=len, reverse=True):
        left = left.replace(each, " ")
    return len(plain(_SCAFFOLD.sub(" ", left))) <= _MOST_WORDS


def _leaves(value: Any) -> Iterator[str]:
    """Yield the texts in a value and its keys, and those in JSON in it."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, str) and value.strip():
        yield value.strip()
        yield from _words_of_json(value)
    elif isinstance(value, (int, float)):
        yield str(value)


def _words_of_json(text: str) -> Iterator[str]:
    if text[:1] in "[{":
        try:
            yield from _leaves(orjson.loads(text))
        except orjson.JSONDecodeError:
            return
