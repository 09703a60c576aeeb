"""Keys of native requests that their wire does not have, the claims about them, and how vendors name their places."""

from functools import partial
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.rules.context import Context, Fault
from conformance.schemas import validator
from conformance.wire.index import Index
from conformance.wire.native_views import NativeBody, native_messages
from conformance.wires.gemini.names import snake_case

TOP: Final = "request.unknown-top-field"
MESSAGE: Final = "request.unknown-message-field"
PART: Final = "request.unknown-part-field"
NESTED: Final = "request.unknown-nested-field"
CLAIMS: Final = (TOP, MESSAGE, PART, NESTED)

_MOST_MESSAGES: Final = 100_000
"""The schemas allow no more messages."""

_TURNS: Final = ("messages", "input", "contents")


def fault(request: NativeBody, holder: Place, key: str) -> Fault:
    """Return the fault of an unknown key in the object at a place; the claim about it depends on the place."""
    numbers = [token for token in holder if type(token) is int]
    values: dict[str, Any] = dict(zip(("index", "position"), numbers, strict=False))
    values |= {"field": key, "path": vendor_path(request.native.protocol, holder, request.value)}
    return Fault(f"expected a known name, got {key[:40]!r}", (*holder, key), values=values, claim=_claim(holder))


class _Valid:
    """Whether requests are valid by a schema, one exchange after the other, by what is new."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: list[bool] = []

    def add(self, index: Index, number: int) -> bool:
        native, part = index.conversation[number].native, index.parts[number]
        value: Any = None if native is None else native.request
        if native is not None and type(value) is dict:
            listed, earlier, common = native_messages(index, number)
            # All else is as in the earlier request, and the schemas ask nothing of messages but what each one is.
            if common and part.start and self._found[earlier] and common < len(listed) <= _MOST_MESSAGES:
                value = {key: each[common:] if each is listed else each for key, each in value.items()}
            is_valid = validator(f"wires/{native.protocol}/{self._name}").is_valid(value)
        else:
            is_valid = True
        self._found.append(is_valid)
        return is_valid


_IS_VALID: Final = {name: partial(_Valid, name) for name in ("names", "request")}


def is_valid(request: NativeBody, context: Context, name: str) -> bool:
    """Return whether a request of another wire is valid by one of its schemas, `request` or `names`."""
    return context.index.grown(_IS_VALID[name], int(request.place[0]))


def bracketed(place: Place) -> str:
    """Return a place as most refusals name it: `tools[0].name`."""
    return "".join([f"[{token}]" if type(token) is int else f".{token}" for token in place]).removeprefix(".")


def _claim(holder: Place) -> str:
    if not holder:
        return TOP
    if holder[0] not in _TURNS:
        return NESTED
    # A turn is at its list and its position.
    return MESSAGE if len(holder) <= len(("contents", 0)) else PART


def vendor_path(wire: str, place: Place, body: Any) -> str:
    """Return how the vendor's refusals name a place: `messages.0.content.1.text`, `input[0].content[1]`."""
    if wire == "messages":
        return _dotted(place, body)
    if wire == "gemini":
        place = tuple([snake_case(token) if type(token) is str else token for token in place])
    return bracketed(place)


def _dotted(place: Place, body: Any) -> str:
    """Return a place as Anthropic does: with the type of each block and tool behind its position."""
    path: list[str] = []
    value = body
    for before, token in zip(("", *place), place, strict=False):
        value = value[token]
        path.append(str(token))
        if before in ("content", "tools"):
            path.append(str(value.get("type") or "custom"))
    return ".".join(path)
