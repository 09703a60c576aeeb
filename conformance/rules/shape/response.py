from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, envelope, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import responses


@rule(
    Level.MUST,
    on=responses,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion.py",
        quote="Represents a chat completion response returned by model",
    ),
    bad=[
        example("plain", {"/0/response/choices": REMOVE}),
        example("plain", {"/0/response/usage/total_tokens": "30"}),
    ],
    good=[
        example("plain", {"/0/response/object": REMOVE}, {"reply.object": "absent"}),
        example("plain", {"/0/response/created": None}, {"reply.omitted-fields": ["created"]}),
    ],
    reads=("reply.object", "reply.omitted-fields"),
    by_schema=True,
)
def judge(body: Body, context: Context) -> list[Fault]:
    """The body of a reply has the shape of a chat completion.

    Unknown keys are allowed. Only the keys that clients read are checked: `object`, `choices`, `usage`. Keys
    that a claim says are omitted or empty are known. To fix it, reply with the types in
    `schemas/canonical/response.json`.
    """
    return envelope.faults(body, context, "reply.object")
