from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import objects

_CLAIM = "request.unknown-role"
_REFUSED = {_CLAIM: {"status": 400, "message": "Please use a valid role: user, model."}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source(
        package="pypi/any-llm-sdk@1.40.2:any_llm/providers/gemini/utils.py#L632",
        quote="rejected with 400 INVALID_ARGUMENT by gemini-3.5-flash-lite, 3.7-flash and 3.8-flash",
    ),
    bad=[example("gemini-result", {"/0/request/contents/2/role": "function"}, _REFUSED)],
    good=[example("gemini-result", claims=_REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("gemini",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """Results have the role user where the model does not take the older role function.

    Earlier models take both. To fix it, send the results of all parallel calls in one content with role user.
    """
    return [
        Fault(
            "expected role user, got function",
            ("contents", number, "role"),
            values={"index": number, "role": "function"},
        )
        for number, content in objects(request.value.get("contents"))
        if content.get("role") == "function"
    ]
