"""Rule: the body of a request."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
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
    by_schema=True,
    handed=(
        "request.no-messages",
        "tools.empty-list",
        "request.model-omitted",
        "request.missing-field",
        "request.wrong-type",
        "request.null-parameters",
        "tools.choice-type-absent",
    ),
)
def judge(part: Body, context: Context) -> list[Fault]:
    """A request has a model, messages and parameters of the canonical types.

    The top of a request is open: parameters differ by provider, so an unknown one is no fault. A known one of the
    wrong type is. To fix it, send the type that `schemas/canonical/request.json` names.
    """
    return context.shape_faults(part.place)
