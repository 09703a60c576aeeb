"""Parts of messages: what one part holds twice, in parts of its own, and media types by their right names."""

from collections.abc import Iterator
from typing import Final

from conformance.documents.pointer import value_at
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.rules.gemini.parts_hold_one_thing import DATA
from conformance.wires.gemini.names import camel_case

ORDER: Final = 36
RULES: Final = ("gemini/parts-hold-one-thing", "messages/image-media-types-known")


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield the request with the part at the place of the finding split, or with the media type of JPEG."""
    request = problem.editable()
    *holder, last = problem.place
    around = value_at(request, holder)
    if last == "media_type" and isinstance(around, dict):
        around["media_type"] = "image/jpeg"
        yield Candidate(request, "send the media type of JPEG", whole=True)
    elif isinstance(around, list) and isinstance(last, int):
        part = around[last]
        held = [key for key in part if camel_case(key) in DATA and part[key] is not None]
        rest = {key: value for key, value in part.items() if key not in held}
        # What stands beside the content, such as a signature, belongs to a call if there is one.
        owner = next((key for key in held if camel_case(key) == "functionCall"), held[-1] if held else "")
        around[last : last + 1] = [{key: part[key], **(rest if key == owner else {})} for key in held]
        yield Candidate(request, "send each in a part of its own", whole=True)
