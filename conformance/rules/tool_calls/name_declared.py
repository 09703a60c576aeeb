from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.leaks import name_leak
from conformance.wire.elements import Call
from conformance.wire.views import reply_calls

_NAME = "/0/response/choices/0/message/tool_calls/0/function/name"
_BUILTIN = {"type": "builtin_function", "function": {"name": "$web_search"}}


@rule(
    Level.MUST,
    on=reply_calls,
    where=lambda call, context: (
        call.request is not None
        and type(call.name) is str
        and (bool(call.request.get("tools")) or context.claim("tools.unasked-call") is not True)
    ),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create", "A list of tools the model may call."),
    bad=[
        example("tool-call", {_NAME: "get_wether"}),
        example("tool-call", {"/0/request/tools": REMOVE}),
    ],
    good=[
        example("tool-call-parallel"),
        example("tool-call", {"/0/request/tools/-": _BUILTIN, _NAME: "$web_search"}),
    ],
    reads=("tools.unasked-call",),
    wires=EVERY,
)
def judge(call: Call, context: Context) -> list[Fault]:
    """A reply calls only functions that its request declares.

    Models invent names, and engines pass them on; a client has nothing to run for such a call, and must answer it
    anyway. To fix it, constrain the names when decoding, or let the model try again; a client answers with a result
    that says that there is no such tool.
    """
    if context.definition(call) is not None or name_leak(call.name, context) is not None:
        return []
    names = context.declared.names
    if not context.declared.are_named:
        # A schema error reports such a definition; its name is unknown.
        return []
    listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    message = f"expected a declared function ({listed or 'none'}), got {call.name!r:.60}"
    return [Fault(message, at=("function", "name"))]
