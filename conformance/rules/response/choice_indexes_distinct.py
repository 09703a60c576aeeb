from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import responses

_SECOND = {"index": 1, "message": {"role": "assistant", "content": "Seldom."}, "finish_reason": "stop"}


def _has_several(body: Body, _context: Context) -> bool:
    choices = body.value.get("choices")
    return type(choices) is list and len(choices) > 1


@rule(
    Level.MUST,
    on=responses,
    where=_has_several,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object",
        "The index of the choice in the list of choices.",
    ),
    bad=[example("plain", {"/0/request/n": 2, "/0/response/choices/-": {**_SECOND, "index": 0}})],
    good=[example("plain", {"/0/request/n": 2, "/0/response/choices/-": _SECOND})],
)
def judge(body: Body, _context: Context) -> list[Fault]:
    """The choices of a reply have distinct indexes.

    Clients collect choices by index, so the later of two with one index overwrites the earlier. To fix it, number them
    from 0.
    """
    seen: set[int] = set()
    faults = []
    for position, choice in enumerate(body.value["choices"]):
        index = choice.get("index") if type(choice) is dict else None
        if type(index) is not int:
            continue
        if index in seen:
            faults.append(Fault(f"expected a new index, got {index} again", at=("choices", position, "index")))
        seen.add(index)
    return faults
