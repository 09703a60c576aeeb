"""What a request says, and what of it another form of the request no longer says: a fix must lose nothing.

Content are the texts of all roles, media, tool calls with their arguments, tool results with their calls, reasoning,
and the names of tools. Ids, parameters, and keys that only the client reads are not content.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import orjson

from conformance.convert.egress.content import NO_OUTPUT
from conformance.wire.exchange import Exchange
from conformance.wire.lazy import lazy
from conformance.wire.native import CHAT
from conformance.wire.reasoning import ALL_KEYS, PARTS, find_tagged
from conformance.wire.text import content_text
from conformance.wire.values import as_object, objects

REASONING: Final = "reasoning"
CALLS: Final = "calls"

_NO_CONTENT: Final = frozenset(
    {
        "annotations", "args", "arguments", "cache_control", "call_id", "encrypted_content", "format", "id", "index",
        "item_id", "logprobs", "media_type", "mimeType", "name", "phase", "role", "signature", "status",
        "thoughtSignature", "thought_signature", "tool_call_id", "tool_use_id", "type",
    }
)  # fmt: skip
"""Members of messages whose values are no content, on any wire."""

_DATA_URL: Final = re.compile(r"data:[\w.+/-]{0,99};base64,")
"""How a file in base64 begins on chat completions; what follows is what other wires hold."""

_SHINGLE: Final = 12
"""Of how many characters the pieces are by which a text is looked up in another."""

_MARKS: Final = 20
"""How many characters may be missing of a text that is looked up by pieces: `**Thinking:**` and the like."""

_ALL_KEYS: Final = frozenset(ALL_KEYS)
_NO_REASONING: Final = frozenset({"type", "format", "id", "index"})
"""Members of what stands under a key of reasoning whose values are no content."""

_KNOWN: Final = frozenset({"role", "content", "refusal", "tool_calls", "tool_call_id", "name", *ALL_KEYS})
_LONG: Final = 40
"""How many characters a text under an unknown key has that is content."""


MAX_REMEMBERED: Final = 4096
"""Of how many messages is kept what they say: forms of a request have most of them in common."""


class HeldContent:
    """What a request says; each part is found when it is first asked for.

    `tools`: their names. `silent`: how many messages are neither the assistant's nor results, and have no content.
    """

    def __init__(self, said: Sequence["_Said"], units: Sequence["_Said"], tools: frozenset[str], silent: int) -> None:
        """Take what its messages say, and what the units of native lists do."""
        self._said, self._units = said, units
        self.tools, self.silent = tools, silent

    @lazy
    def texts(self) -> tuple[str, ...]:
        """Return the texts of all roles, and media."""
        return tuple([text for each in (*self._said, *self._units) for text in each.texts])

    @lazy
    def distinct(self) -> frozenset[str]:
        """Return the texts, each once."""
        return frozenset(self.texts)

    @lazy
    def calls(self) -> Sequence[str]:
        """Return the name and the arguments of each call."""
        return [call for each in self._said for call in each.calls]

    @lazy
    def arguments(self) -> frozenset[str]:
        """Return the texts in calls."""
        return frozenset(_decoded(self.calls))

    @lazy
    def results(self) -> Sequence[tuple[str | None, str]]:
        """Return the results, each with the call that it answers; None if it answers none."""
        return _results(self._said)

    @lazy
    def reasoning(self) -> tuple[str, ...]:
        """Return the texts and blobs of reasoning."""
        return tuple([text for each in self._said for text in each.reasoning])

    @lazy
    def all_text(self) -> str:
        """Return everything, without white space, to look a text up in."""
        # White space does not count, so that the parts together are all of it.
        pieces = [each.plain[0] for each in (*self._said, *self._units)]
        return "".join([*pieces, *[each.plain[kind] for kind in (1, 2, 3) for each in self._said]])


class _Said(NamedTuple):
    """What one message says, or one unit of a native list: that has texts alone. `plain`: each kind without blanks."""

    unit: Any
    texts: Sequence[str]
    reasoning: Sequence[str] = ()
    calls: Sequence[str] = ()
    result: str | None = None
    plain: tuple[str, ...] = ("", "", "", "")


class Remembered:
    """What messages say, by their identity; each is held, so that no other object gets it."""

    def __init__(self) -> None:
        """Begin without any."""
        self._messages: dict[int, _Said] = {}
        self._units: dict[int, _Said] = {}

    def message(self, message: Mapping[str, Any]) -> _Said:
        """Return what a canonical message says."""
        return self._messages.get(id(message)) or _kept(_said(message), self._messages)

    def unit(self, unit: Mapping[str, Any]) -> _Said:
        """Return the texts of a message, item or content of another wire."""
        return self._units.get(id(unit)) or _kept(_of_unit(unit), self._units)


def _kept(said: _Said, among: dict[int, _Said]) -> _Said:
    if len(among) >= MAX_REMEMBERED:
        among.clear()
    among[id(said.unit)] = said
    return said


def _said(message: Mapping[str, Any]) -> _Said:
    texts, reasoning = list(_texts(message)), list(_reasoning(message))
    calls = [_call(call) for _, call in objects(message.get("tool_calls"))]
    result = content_text(message.get("content")) if message.get("role") == "tool" else None
    kinds = (texts, reasoning, _decoded(calls), (result or "",))
    return _Said(message, texts, reasoning, calls, result, tuple([plain("".join(each)) for each in kinds]))


def _of_unit(unit: Any) -> _Said:
    texts = _leaves(unit)
    return _Said(unit, texts, plain=(plain("".join(texts)), "", "", ""))


def content_of(exchange: Exchange, remembered: Remembered | None = None) -> HeldContent:
    """Return what the request of a translated exchange says; `remembered` holds what is known of its messages."""
    known = Remembered() if remembered is None else remembered
    body = as_object(exchange.request)
    messages = [message for _, message in objects(body.get("messages"))]
    native = {} if exchange.native is None else as_object(exchange.native.request)
    units = []
    for key in _lists(exchange) if native else ():
        for value in native[key] if type(native.get(key)) is list else [native.get(key)]:
            units.append(known.unit(value) if type(value) is dict else _of_unit(value))
    tools = frozenset(str(as_object(tool.get("function")).get("name")) for _, tool in objects(body.get("tools")))
    silent = sum([not each.get("content") for each in messages if each.get("role") not in ("assistant", "tool")])
    return HeldContent([known.message(message) for message in messages], units, tools, silent)


def _results(said: Sequence[_Said]) -> list[tuple[str | None, str]]:
    """Return the results of messages, each with the call of the last turn before it that it answers."""
    found: list[tuple[str | None, str]] = []
    answered: dict[str, list[str]] = {}
    for each in said:
        if each.result is not None:
            waiting = answered.get(repr(each.unit.get("tool_call_id")), [])
            found.append((waiting.pop(0) if waiting else None, each.result))
        if each.calls:
            answered = {}
            for (_, call), shown in zip(objects(each.unit.get("tool_calls")), each.calls, strict=True):
                answered.setdefault(repr(call.get("id")), []).append(shown)
    return found


def loss(
    before: HeldContent, after: HeldContent, known: str, spared: frozenset[str] = frozenset(), retold: str = ""
) -> str:
    """Return what the second form of a request loses or makes up, in words; empty if nothing.

    `known`: what earlier exchanges say, as `plain` has it, which is not made up. `spared`: what may go: `reasoning`
    where the provider refuses it, or `calls` where the model's own ones are put back. `retold`: a text that a client
    made of a reply, of which nothing but its wording may go.
    """
    restores = CALLS in spared
    # Most texts are still there word for word, which is quicker to see than to look each one up in all of them.
    texts_before, texts_after = before.distinct, after.distinct
    for text in () if texts_before <= texts_after else before.texts:
        if text in texts_after:
            continue
        is_spared = REASONING in spared and text in before.reasoning
        is_spared = is_spared or (bool(retold) and plain(text) in plain(retold))
        # Arguments are compared as calls, though some wires have them among their texts.
        is_spared = is_spared or text in before.arguments
        if not is_spared and not _is_held(text, after.all_text, loosely=restores):
            return f"the text {text!r:.60} would be lost"
    is_unchanged = REASONING in spared or before.reasoning == after.reasoning
    still = frozenset(() if is_unchanged else after.reasoning)
    for text in () if is_unchanged else before.reasoning:
        if text not in still and plain(text) not in after.all_text:
            return f"the reasoning {text!r:.60} would be lost"
    if after.silent > before.silent:
        return "a message would be made up"
    new = texts_after - texts_before
    for text in [each for each in after.texts if each in new] if new else ():
        if not any(_is_held(text, held, loosely=False) for held in (before.all_text, known)):
            return f"the text {text!r:.60} would be made up"
    if not before.tools <= after.tools:
        return "a tool would be lost"
    return _loss_of_calls(before, after, restores=restores) or _loss_of_results(before, after, known)


def _is_held(text: str, held: str, *, loosely: bool) -> bool:
    """Return whether a text is in another one; loosely, if all of it is but some marks, such as a heading."""
    said = plain(text)
    if said in held:
        return True
    if not loosely:
        return False
    start = missing = 0
    while start < len(said):
        end = start + _SHINGLE
        if said[start:end] not in held:
            missing, start = missing + 1, start + 1
            continue
        while end < len(said) and said[start : end + _SHINGLE] in held:
            end += _SHINGLE
        start = end
    return missing <= _MARKS


def _loss_of_calls(before: HeldContent, after: HeldContent, *, restores: bool) -> str:
    if before.calls == after.calls:
        return ""
    counted, others = Counter(before.calls), Counter(after.calls)
    gone, new = counted - others, others - counted
    if gone.total() > new.total():
        return f"the call {next(iter(gone))!r:.60} would be lost"
    texts = () if restores else _decoded(gone)
    lost = next((text for text in texts if plain(text) not in after.all_text), "")
    return f"the arguments {lost!r:.60} would be lost" if lost else ""


def _loss_of_results(before: HeldContent, after: HeldContent, known: str) -> str:
    # Lists are quicker to compare, and seldom differ.
    is_same = before.results == after.results
    if is_same or (given := Counter(before.results)) == (still := Counter(after.results)):
        return ""
    # Of each call and result once: an exact repetition is none.
    texts, left = Counter([text for _, text in given]), Counter([text for _, text in still])
    own, others = _calls_by_result(before), _calls_by_result(after)
    for text in texts:
        if text not in left and plain(text) not in after.all_text:
            return f"the result {text!r:.60} would be lost"
        # An exact repetition may go, but not one of two calls with equal results.
        if left[text] < len(own[text] - {None}):
            return f"the result {text!r:.60} would be lost"
    for text, count in (left - texts).items():
        if count and plain(text) not in known and plain(text) not in before.all_text and text != NO_OUTPUT:
            return f"the result {text!r:.60} would be made up"
    kept = frozenset(after.calls)
    for call, text in given:
        calls = others.get(text, ())
        if call is not None and calls and call not in calls and call in kept:
            return f"the result {text!r:.60} would answer another call"
    return ""


def _calls_by_result(held: HeldContent) -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = {}
    for call, text in held.results:
        found.setdefault(text, set()).add(call)
    return found


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    tagged = find_tagged(content) if message.get("role") == "assistant" else None
    if tagged is not None and tagged.closed:
        yield from filter(None, (tagged.rest.strip(),))
    elif isinstance(content, list):
        for part in content:
            if as_object(part).get("type") not in PARTS.values():
                yield from _leaves(part)
    elif message.get("role") != "tool":
        yield from _leaves(content)
    yield from _leaves(message.get("refusal"))
    for key, value in message.items():
        if key not in _KNOWN:
            # An unknown key may hold what another wire has there, such as images; its short values are marks.
            yield from [text for text in _leaves(value) if len(text) >= _LONG]


def _reasoning(message: Mapping[str, Any]) -> Iterator[str]:
    if not _ALL_KEYS.isdisjoint(message):
        for key in ALL_KEYS:
            # A blob is reasoning, too, under whatever key it stands.
            yield from _leaves(message.get(key), skipped=_NO_REASONING)
    tagged = find_tagged(message.get("content"))
    if tagged is not None and tagged.closed and tagged.reasoning.strip():
        yield tagged.reasoning.strip()
    for _, part in objects(message.get("content")):
        if part.get("type") in PARTS.values():
            yield from _leaves(part)


def _call(call: Mapping[str, Any]) -> str:
    function = as_object(call.get("function")) or as_object(call.get("custom"))
    arguments = function.get("arguments", function.get("input"))
    # What is not JSON is compared as the text that it is.
    with suppress(orjson.JSONDecodeError):
        arguments = orjson.loads(arguments) if isinstance(arguments, str) else arguments
    arguments = {} if arguments in ("", None) else arguments
    return orjson.dumps([function.get("name"), arguments], option=orjson.OPT_SORT_KEYS).decode()


def _decoded(calls: Any) -> Iterator[str]:
    for each in calls:
        yield from _leaves(orjson.loads(each), skipped=frozenset())


def _lists(exchange: Exchange) -> tuple[str, ...]:
    return () if exchange.protocol == CHAT else ("messages", "input", "contents", "system", "instructions")


def _leaves(value: Any, skipped: frozenset[str] = _NO_CONTENT) -> list[str]:
    """Return the texts in a value that are not empty, in their order."""
    found: list[str] = []
    _add_leaves(value, skipped, found)
    return found


def _add_leaves(value: Any, skipped: frozenset[str], found: list[str]) -> None:
    # A list that is passed on, not a generator: this runs for each form of a request, and so for thousands of values.
    kind = type(value)
    if kind is str:
        if value and not value.isspace():
            found.append(_DATA_URL.sub("", value, count=1) if value.startswith("data:") else value)
    elif kind is dict:
        for key, each in value.items():
            if key not in skipped:
                _add_leaves(each, skipped, found)
    elif kind is list:
        for each in value:
            _add_leaves(each, skipped, found)


def plain(text: str) -> str:
    """Return a text without white space, as texts are compared."""
    return "".join(text.split())
