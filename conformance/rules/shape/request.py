from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.schema_claims import OF_REQUESTS
from conformance.wire.elements import Body
from conformance.wire.views import requests


@rule(
    Level.MUST,
    on=requests,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="messages: Required[Iterable[ChatCompletionMessageParam]]",
    ),
    bad=[
        example("plain", {"/0/request/messages": "Hello"}),
        example("plain", {"/0/request/stream": "yes"}),
        example("plain", {"/0/request/messages": None}),
        example("plain", {"/0/request/tool_choice": None}),
    ],
    reads=OF_REQUESTS,
    by_schema=True,
)
def judge(body: Body, context: Context) -> list[Fault]:
    """A request has a model, messages and parameters of the canonical types.

    Parameters differ by provider, so unknown ones are allowed; a known one of the wrong type is not. An optional
    parameter that is null is a SHOULD, since many providers take null as its absence; at a provider that is known to
    reject null it is a MUST. To fix it, send the type in `schemas/canonical/request.json`, or omit the key.
    """
    return context.shape_faults(body.place)
