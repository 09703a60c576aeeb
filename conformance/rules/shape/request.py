from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.schema_claims import OF_REQUESTS
from conformance.wire.elements import Body
from conformance.wire.views import requests


@rule(
    Level.MUST,
    on=requests,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("plain", {"/0/request/messages": "Hello"}),
        example("plain", {"/0/request/stream": "yes"}),
    ],
    reads=OF_REQUESTS,
    by_schema=True,
)
def judge(body: Body, context: Context) -> list[Fault]:
    """A request has a model, messages and parameters of the canonical types.

    Parameters differ by provider, so unknown ones are allowed; a known one of the wrong type is not. To fix it, send
    the type in `schemas/canonical/request.json`.
    """
    return context.shape_faults(body.place)
