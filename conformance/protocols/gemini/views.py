"""Where the rules of Gemini look, beside the views of all native wires."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.protocols.drafts import as_object, objects
from conformance.protocols.views import native_view
from conformance.wire.native import Native
from conformance.wire.views import Side


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


def _has_words(content: Any) -> bool:
    return any([type(part.get("text")) is str for _, part in objects(content.get("parts"))])


steps: Final = native_view("first call of a step", Side.CLIENT, _steps)
