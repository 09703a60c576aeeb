"""Rule: one message of a request."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Message
from conformance.wire.views import messages


@rule(
    Level.MUST,
    on=messages,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("plain", {"/0/request/messages/1/role": "human"}),
        example("tool-result", {"/0/request/messages/2/content": {"celsius": 18}}),
    ],
    by_schema=True,
    handed=(
        "results.without-id",
        "results.content-null",
        "results.content-object",
        "results.image-parts",
        "request.unknown-role",
        "request.unknown-part-type",
        "request.empty-tool-calls",
        "request.null-tool-calls",
        "request.wrong-type",
        "request.image-url-string",
        "request.null-message-fields",
        "request.known-part-types",
        "request.missing-field",
    ),
)
def judge(part: Message, context: Context) -> list[Fault]:
    """A message of a request has its role's shape.

    Roles are system, user, assistant and tool; each has its own keys and types. To fix it, send what
    `schemas/canonical/message.json` demands of the role.
    """
    return context.shape_faults(part.place)
