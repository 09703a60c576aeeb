"""Where the rules of Gemini look, beside the views of all native wires."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.native_views import native_view
from conformance.wire.values import as_object, objects
from conformance.wire.views import Side, View
from conformance.wires.gemini.names import of_either, snake_case

_ALPHABETS: Final = str.maketrans("-_", "+/")


class Step(NamedTuple):
    """A content of the model with calls, after the user's last words: its first part with a call is `value`."""

    place: Place
    value: dict[str, Any]
    name: Any
    number: int
    native: Native


def _steps(number: int, native: Native) -> Iterator[Step]:
    """Yield the first call of each step of the current turn, which begins after the last words of the user."""
    contents = list(objects(as_object(native.request).get("contents")))
    said = [at for at, (_, content) in enumerate(contents) if content.get("role") == "user" and _has_words(content)]
    for position, content in contents[said[-1] + 1 if said else 0 :]:
        if content.get("role") != "model":
            continue
        for part_position, part in objects(content.get("parts")):
            call = part.get("functionCall", part.get("function_call"))
            if type(call) is dict:
                place: Place = (number, "request", "contents", position, "parts", part_position)
                yield Step(place, dict(part), call.get("name"), position, native)
                break


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


def _answers(number: int, native: Native) -> Iterator[Answer]:
    """Yield the results of a request that follow calls of the model; what answers none is not here."""
    calls: list[tuple[Any, Any]] = []
    for position, content in objects(as_object(native.request).get("contents")):
        parts = list(objects(content.get("parts")))
        if content.get("role") == "model":
            calls += [(call.get("id"), call.get("name")) for _, _, call in _of_kind(parts, "functionCall")]
            continue
        results = [(at, key, dict(result)) for at, key, result in _of_kind(parts, "functionResponse")]
        for at, key, result in results:
            identity = result.get("id")
            if identity is None:
                expected = tuple([name for other, name in calls])
            else:
                expected = tuple([name for other, name in calls if other == identity])
            place: Place = (number, "request", "contents", position, "parts", at, key)
            if expected:
                yield Answer(
                    place,
                    result,
                    result.get("name"),
                    _distinct(expected),
                    position,
                    native,
                )
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
        for at, text, signature, part in _signed(as_object(native.request).get("contents")):
            if text in self._by_text:
                place: Place = (number, "request", "contents", *at)
                is_known = _spelled(signature) in self._known
                found.append(SignedText(place, part, signature, tuple(self._by_text[text]), is_known))
        for value in (native.reply, *[event.value for event in native.events]):
            contents = [{**as_object(each.get("content")), "role": "model"} for _, each in _candidates(value)]
            for _, text, signature, part in _signed(contents, calls=True):
                self._known.add(_spelled(signature))
                if type(part.get("text")) is str:
                    self._by_text.setdefault(text, {})[signature] = None
        return found


def _signed_texts(index: Index, number: int) -> list[SignedText]:
    return index.grown(_SignedTexts, number)


def _candidates(reply: Any) -> Iterator[tuple[int, Any]]:
    return objects(as_object(reply).get("candidates"))


def _signed(contents: Any, *, calls: bool = False) -> Iterator[tuple[Place, str, str, dict[str, Any]]]:
    """Yield place, text, signature and value of each signed part of the model that is a text, or also a call."""
    for position, content in objects(contents):
        for number, part in objects(content.get("parts")) if content.get("role") == "model" else ():
            signature, text = of_either(part, "thoughtSignature"), part.get("text")
            if type(signature) is str and signature and (calls or type(text) is str):
                yield (position, "parts", number), text if type(text) is str else "", signature, dict(part)


def _spelled(signature: str) -> str:
    """Return a signature in one spelling: bytes may be written in either alphabet of base64."""
    return signature.translate(_ALPHABETS).rstrip("=")


answers: Final = native_view("result of a call", Side.CLIENT, _answers)
steps: Final = native_view("first call of a step", Side.CLIENT, _steps)
signed_texts: Final = View("signed text that is sent back", Side.CLIENT, _signed_texts)


def _distinct(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return each name once; a name on the wire may be any value."""
    return tuple({repr(name): name for name in names}.values())
