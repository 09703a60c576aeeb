from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wires.gemini.views import Step, steps

_SIGNATURE = "/0/request/contents/1/parts/0/thoughtSignature"
_CLAIM = "signature.omitted"
_REFUSED = {_CLAIM: {"status": 400, "message": "Function call is missing a thought_signature in functionCall parts."}}


@rule(
    Level.MUST,
    on=steps,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    needs=(_CLAIM,),
    source=Source(
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        "Function call is missing a thought_signature in functionCall parts.",
    ),
    bad=[example("gemini-result", {_SIGNATURE: REMOVE}, _REFUSED)],
    good=[
        example("gemini-result", claims=_REFUSED),
        example("gemini-result", {_SIGNATURE: "skip_thought_signature_validator"}, _REFUSED),
    ],
    claim=_CLAIM,
    wires=("gemini",),
)
def judge(step: Step, _context: Context) -> list[Fault]:
    """The first call of each step of the current turn has its thought signature.

    The signature stands for the reasoning behind the step. Of parallel calls only the first has one, and each step has
    its own. To fix it, store the parts of a reply as they came, and send them back whole.
    """
    if step.value.get("thoughtSignature", step.value.get("thought_signature")):
        return []
    values = {"name": step.name, "index": step.number}
    return [Fault("expected a thoughtSignature beside this functionCall, got none", values=values)]
