from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests

_CLAIM = "responses.previous-response-id"
_REFUSAL = {"status": 400, "message": "llama.cpp does not support 'previous_response_id'."}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/ggml-org/llama.cpp", "does not support 'previous_response_id'."),
    bad=[example("responses-held-session", claims={_CLAIM: _REFUSAL})],
    good=[example("responses-request", claims={_CLAIM: _REFUSAL})],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("responses",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """A request refers to earlier responses only where the provider keeps them.

    Most hosts of this wire keep nothing. To fix it, send the whole history as items.
    """
    keys = [key for key in ("previous_response_id", "conversation") if request.value.get(key) is not None]
    return [
        Fault(f"expected the whole history in input, got {key}", at=(key,), values={"id": request.value[key]})
        for key in keys
    ]
