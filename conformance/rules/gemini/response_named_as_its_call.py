from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wires.gemini.views import Answer, answers

_NAME = {"/0/request/contents/2/parts/0/functionResponse/name": "tool_result"}
_CLAIM = "gemini.response-of-another-name"


@rule(
    Level.MUST,
    on=answers,
    source=Source(
        "https://cloud.google.com/vertex-ai/generative-ai/docs/reference/java/latest/com.google.cloud.vertexai.api.FunctionResponseOrBuilder",
        "Matches [FunctionDeclaration.name] and [FunctionCall.name].",
    ),
    bad=[
        example("gemini-result", _NAME),
        example("gemini-result", _NAME, {_CLAIM: {"status": 400, "message": "Request contains an invalid argument."}}),
    ],
    good=[example("gemini-result"), example("gemini-session")],
    claim=_CLAIM,
    wires=("gemini",),
    reach=ELEMENT,
)
def judge(answer: Answer, _context: Context) -> list[Fault]:
    """A functionResponse has the name of the function that was called.

    Without ids, the name says which call it answers. Older models take any name, and often call the function again.
    To fix it, copy the name from the call, not its id or a fixed word.
    """
    if answer.name in answer.expected:
        return []
    wanted = " or ".join([repr(name) for name in answer.expected])
    values = {"name": answer.name, "index": answer.number}
    message = f"expected the name of a call without a result ({wanted}), got {answer.name!r:.60}"
    return [Fault(message, at=("name",), values=values)]
