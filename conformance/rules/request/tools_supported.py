from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {
    "tools.supported": False,
    "tools.unsupported": {"status": 404, "message": "tools is not supported in this model."},
}


@rule(
    Level.SHOULD,
    on=requests,
    when=lambda claimed: claimed.claim("tools.supported") is False,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="A list of tools the model may call",
    ),
    bad=[
        example("tool-call", claims=_REFUSED),
        example("tool-call", claims={"tools.supported": False}),
    ],
    good=[example("plain", claims=_REFUSED)],
    needs=("tools.supported",),
    claim="tools.unsupported",
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request declares no tools if the model does not support them.

    To fix it, omit `tools`, or use a model that supports them.
    """
    if not request.value.get("tools"):
        return []
    return [
        Fault("expected no tools for this model, got tools", at=("tools",), values={"model": request.exchange.model})
    ]
