from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = "request.model-on-other-wire"
_TEXT = "This model is only supported in v1/responses and not in v1/chat/completions."
_REFUSED = {_CLAIM: {"status": 404, "message": _TEXT}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/alvinunreal/tmuxai/issues/82", _TEXT),
    bad=[example("plain", claims=_REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """The provider serves the model on the wire of the request.

    Some models are served on Responses alone, although the list of models names them beside the others. To fix it, send
    the request on that wire, or choose another model.
    """
    model = request.exchange.model
    return [Fault(f"expected a model of this wire, got {model[:60]!r}", ("model",), values={"model": model})]
