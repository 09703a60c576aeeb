from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.schema_claims import OF_MESSAGES
from conformance.wire.elements import Message
from conformance.wire.views import messages


@rule(
    Level.MUST,
    on=messages,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="A list of messages comprising the conversation so far",
    ),
    bad=[
        example("plain", {"/0/request/messages/1/role": "human"}),
        example("tool-result", {"/0/request/messages/2/content": {"celsius": 18}}),
    ],
    reads=OF_MESSAGES,
    by_schema=True,
)
def judge(message: Message, context: Context) -> list[Fault]:
    """A message of a request has the shape of its role.

    Each role has its own keys and types. To fix it, send what `schemas/canonical/message.json` requires of the role.
    """
    return context.shape_faults(message.place)
