from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import responses


@rule(
    Level.MUST,
    on=responses,
    source=Source("https://platform.openai.com/docs/api-reference/chat/object"),
    bad=[
        example("plain", {"/0/response/choices": REMOVE}),
        example("plain", {"/0/response/usage/total_tokens": "30"}),
    ],
    reads=("reply.object",),
    by_schema=True,
)
def judge(body: Body, context: Context) -> list[Fault]:
    """The body of a reply has the shape of a chat completion.

    Unknown keys are allowed. Only the keys that clients read are checked: `object`, `choices`, `usage`. If the provider
    is known to omit `object`, its absence is only a SHOULD. To fix it, reply with the types in
    `schemas/canonical/response.json`.
    """
    return [
        Fault(
            error.message,
            place=error.place,
            level=Level.SHOULD if error.missing == "object" and context.claim("reply.object") == "absent" else None,
        )
        for error in context.shape_errors(body.place)
    ]
