"""Where the rules of Gemini look, beside the views of all native wires."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.native_views import NativeSpan, in_messages, native_messages
from conformance.wire.values import as_object, objects
from conformance.wire.views import Side, View
from conformance.wires.gemini.names import of_either, snake_case

_FEW: Final = 64
"""Of more open calls, no copy is kept at each content."""

_ALPHABETS: Final = str.maketrans("-_", "+/")


class Step(NamedTuple):
    """A content of the model with calls, after the user's last words: its first part with a call is `value`."""

    place: Place
    value: dict[str, Any]
    name: Any
    number: int
    native: Native


def _steps(index: Index, number: int) -> Sequence[Step]:
    return _steps_between(index, NativeSpan(number, 0, len(native_messages(index, number).listed)))


def _steps_between(index: Index, span: NativeSpan) -> Sequence[Step]:
    """Return the first call of each step of the current turn, which begins after the last words of the user."""
    number, native = span.number, index.conversation[span.number].native
    if native is None or native.protocol != "gemini":
        return []
    calling = in_messages(index, number, _first_call)
    borders = (max(span.begin, _turn_start(index, number)), span.end)
    begin, end = [bisect_left(calling, at, key=itemgetter(0)) for at in borders]
    return [
        Step((number, "request", "contents", position, "parts", at), dict(part), name, position, native)
        for position, ((at, part, name),) in calling[begin:end]
    ]


def _held_steps(index: Index, number: int) -> int:
    """Return how many contents at the beginning have the steps that they had in the request that is continued."""
    _, earlier, common = native_messages(index, number)
    starts = [_turn_start(index, each) for each in (earlier, number)] if common else [0, 0]
    return common if starts[0] == starts[1] else min(common, *starts)


def _turn_start(index: Index, number: int) -> int:
    said = in_messages(index, number, _says)
    return said[-1][0] + 1 if said else 0


def _says(content: Any) -> bool:
    return type(content) is dict and content.get("role") == "user" and _has_words(content)


def _first_call(content: Any) -> list[tuple[int, Mapping[str, Any], Any]]:
    """Return the first part of the model's content that is a call, if one is, with its position and the name."""
    own = as_object(content)
    for at, part in objects(own.get("parts")) if own.get("role") == "model" else ():
        call = part.get("functionCall", part.get("function_call"))
        if type(call) is dict:
            return [(at, part, call.get("name"))]
    return []


class Answer(NamedTuple):
    """A functionResponse that answers a call: its name, and those that it may have.

    With an id, that is the name of the call with this id; without one, those of the calls that have no result yet.
    """

    place: Place
    value: dict[str, Any]
    name: Any
    expected: tuple[Any, ...]
    number: int
    native: Native


class _Answers:
    """Finds the results that follow calls of the model, from where a request goes on; what answers none is not here."""

    def __init__(self) -> None:
        self._found: list[list[tuple[int, tuple[Any, ...]]]] = []
        self._open: list[list[tuple[tuple[Any, Any], ...] | None]] = []

    def add(self, index: Index, number: int) -> list[tuple[int, tuple[Any, ...]]]:
        listed, earlier, common = native_messages(index, number)
        before, left = (self._found[earlier], self._open[earlier][:common]) if common else ([], [])
        while left and left[-1] is None:
            left.pop()
        start = len(left)
        found = before[: bisect_left(before, start, key=itemgetter(0))]
        calls = list(left[-1] or ()) if left else []
        for position in range(start, len(listed)):
            if type(listed[position]) is dict:
                found += [(position, each) for each in _answers_in(listed[position], calls)]
            left.append(tuple(calls) if len(calls) <= _FEW else None)
        self._found.append(found)
        self._open.append(left)
        return found


def _answers_between(index: Index, span: NativeSpan) -> list[Answer]:
    number, native = span.number, index.conversation[span.number].native
    if native is None or native.protocol != "gemini":
        return []
    found = index.grown(_Answers, number)
    begin, end = [bisect_left(found, at, key=itemgetter(0)) for at in (span.begin, span.end)]
    return [
        Answer(
            (number, "request", "contents", at, "parts", part, key), result, result.get("name"), expected, at, native
        )
        for at, (part, key, result, expected) in found[begin:end]
    ]


def _answers(index: Index, number: int) -> list[Answer]:
    return _answers_between(index, NativeSpan(number, 0, len(native_messages(index, number).listed)))


def _answers_in(content: Mapping[str, Any], calls: list[tuple[Any, Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the results in a content that answer any of the open calls, with the names that these have."""
    parts = list(objects(content.get("parts")))
    if content.get("role") == "model":
        calls += [(call.get("id"), call.get("name")) for _, _, call in _of_kind(parts, "functionCall")]
        return
    results = [(at, key, dict(result)) for at, key, result in _of_kind(parts, "functionResponse")]
    for at, key, result in results:
        identity = result.get("id")
        expected = tuple([name for other, name in calls if identity is None or other == identity])
        if expected:
            yield at, key, result, _distinct(expected)
        _take(calls, identity, result.get("name"))
    if not results:
        calls.clear()


def _take(calls: list[tuple[Any, Any]], identity: Any, name: Any) -> None:
    """Let a result take its call: that with its id, else the first with its name, else the first."""
    fitting = [each for each in calls if (each[1] == name if identity is None else each[0] == identity)]
    taken = fitting[:1] or (calls[:1] if identity is None else [])
    for each in taken:
        calls.remove(each)


def _of_kind(parts: Sequence[tuple[int, Any]], kind: str) -> Iterator[tuple[int, str, Any]]:
    """Yield the position, the key and the value of each part of a kind, in either spelling."""
    for at, part in parts:
        for key in (kind, snake_case(kind)):
            if type(part.get(key)) is dict:
                yield at, key, part[key]
                break


def _has_words(content: Any) -> bool:
    return any([type(part.get("text")) is str for _, part in objects(content.get("parts"))])


class SignedText(NamedTuple):
    """A signed text of the model that is sent back, if a reply held a signed text of these words.

    `got`: its signature. `given`: those that came with these words. `is_known`: whether some part of a reply had it.
    """

    place: Place
    value: dict[str, Any]
    got: str
    given: tuple[str, ...]
    is_known: bool


class _SignedTexts:
    """Finds the signed texts that come back, one exchange after the other."""

    def __init__(self) -> None:
        self._by_text: dict[str, dict[str, None]] = {}
        self._known: set[str] = set()

    def add(self, index: Index, number: int) -> list[SignedText]:
        native = index.conversation[number].native
        if native is None or native.protocol != "gemini":
            return []
        found: list[SignedText] = []
        sent = [(position, each) for position, own in in_messages(index, number, _signed_texts_of) for each in own]
        for position, (at, text, signature, part) in sent:
            if text in self._by_text:
                place: Place = (number, "request", "contents", position, *at)
                is_known = _spelled(signature) in self._known
                found.append(SignedText(place, part, signature, tuple(self._by_text[text]), is_known))
        for value in (native.reply, *[event.value for event in native.events]):
            contents = [{**as_object(each.get("content")), "role": "model"} for _, each in _candidates(value)]
            for _, text, signature, part in [each for content in contents for each in _signed(content, calls=True)]:
                self._known.add(_spelled(signature))
                if type(part.get("text")) is str:
                    self._by_text.setdefault(text, {})[signature] = None
        return found


def _signed_texts(index: Index, number: int) -> list[SignedText]:
    return index.grown(_SignedTexts, number)


def _candidates(reply: Any) -> Iterator[tuple[int, Any]]:
    return objects(as_object(reply).get("candidates"))


def _signed_texts_of(content: Any) -> list[tuple[Place, str, str, dict[str, Any]]]:
    return list(_signed(as_object(content)))


def _signed(content: Mapping[str, Any], *, calls: bool = False) -> Iterator[tuple[Place, str, str, dict[str, Any]]]:
    """Yield place, text, signature and value of each signed part of the model that is a text, or also a call."""
    for number, part in objects(content.get("parts")) if content.get("role") == "model" else ():
        signature, text = of_either(part, "thoughtSignature"), part.get("text")
        if type(signature) is str and signature and (calls or type(text) is str):
            yield ("parts", number), text if type(text) is str else "", signature, dict(part)


def _spelled(signature: str) -> str:
    """Return a signature in one spelling: bytes may be written in either alphabet of base64."""
    return signature.translate(_ALPHABETS).rstrip("=")


answers: Final = View("result of a call", Side.CLIENT, _answers, between=_answers_between, native=True)
steps: Final = View("first call of a step", Side.CLIENT, _steps, between=_steps_between, native=True, held=_held_steps)
signed_texts: Final = View("signed text that is sent back", Side.CLIENT, _signed_texts)


def _distinct(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return each name once; a name on the wire may be any value."""
    return tuple({repr(name): name for name in names}.values())
