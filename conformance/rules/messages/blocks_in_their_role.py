from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, messages
from conformance.wire.values import as_word, objects

_ROLE = {"tool_result": "user", "tool_use": "assistant", "thinking": "assistant", "redacted_thinking": "assistant"}


@rule(
    Level.MUST,
    on=messages,
    where=lambda message, _context: not _ROLE.keys().isdisjoint(message.kinds),
    source=Source(
        "https://github.com/anthropics/anthropic-sdk-typescript/issues/653",
        "sending a new message with the `role` of `user`, and a `content` block containing the `tool_result` type",
    ),
    bad=[
        example(
            "messages-plain",
            {
                "/0/request/messages/4/content": [
                    {"type": "thinking", "thinking": "", "signature": "c2ln"},
                    {"type": "text", "text": "Thanks."},
                ]
            },
        )
    ],
    good=[example("messages-plain")],
    claim="messages.block-in-other-role",
    wires=("messages",),
    reach=ELEMENT,
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """Tool results stand in user messages; calls and thinking stand in assistant messages.

    To fix it, put each block into a message of the role that wrote it.
    """
    role = message.value.get("role")
    if all([_ROLE.get(kind, role) == role for kind in message.kinds]):
        return []
    return [
        Fault(
            f"expected a block of type {kind!r} in a message of role {_ROLE[kind]}, got it in {role!r}",
            at=("content", at),
        )
        for at, block in objects(message.value.get("content"))
        if (kind := as_word(block.get("type"))) in _ROLE and _ROLE[kind] != role
    ]
