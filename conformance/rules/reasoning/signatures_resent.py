from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import Resent
from conformance.wire.native import CHAT
from conformance.wire.text import quoted
from conformance.wire.views import resent

_KEY = "extra_content"


@rule(
    Level.MUST,
    on=resent,
    reach=TURN,
    where=lambda returned, _context: any(_signature(call.value) is not None for call in returned.reply.calls),
    source=Source(
        "https://github.com/openai/openai-python/issues/2758",
        "Function call is missing a thought_signature in functionCall parts.",
    ),
    bad=[
        example("reasoning-signature-session", {"/1/request/messages/1/tool_calls/0/extra_content": REMOVE}),
        example(
            "reasoning-signature-session",
            {"/1/request/messages/1/tool_calls/0/extra_content/google/thought_signature": "c2lnbg=="},
        ),
        example(
            "reasoning-signature-session",
            {"/1/request/messages/1/tool_calls/0/extra_content/google/thought_signature": "skip_check"},
            {"signature.bypass": "skip_check"},
        ),
    ],
    good=[example("reasoning-signature-session")],
    reads=("signature.omitted", "signature.altered", "signature.bypass"),
    wires=(CHAT, "gemini"),
)
def judge(returned: Resent, context: Context) -> list[Fault]:
    """The thought signature of a tool call is sent back unchanged in the call.

    The signature stands for the reasoning behind the call, which the host does not show; newer models reject the call
    without it. What skips that check is for the history of other models: in place of a signature that was given, it is
    a SHOULD, since the model goes on without its reasoning. So it is without a signature before the last user message,
    where the host checks none. To fix it, store what comes with each
    call, `extra_content` or on Gemini `thoughtSignature`, and send it back.
    """
    sent = returned.value.get("tool_calls")
    faults = []
    for call, back in zip(returned.reply.calls, sent if type(sent) is list else (), strict=False):
        expected, got = _signature(call.value), _signature(back)
        if expected is None or expected == got:
            continue
        message = f"expected thought_signature {quoted(expected)} as in the reply, got {quoted(got)}"
        at = ("tool_calls", call.position)
        if got is not None and got == context.claim("signature.bypass"):
            faults.append(Fault(f"{message}, which skips the check", at=at, level=Level.SHOULD))
        elif got is None and not returned.current:
            faults.append(Fault(f"{message}, in a turn that is over", at=at, level=Level.SHOULD))
        else:
            claim = "signature.omitted" if got is None else "signature.altered"
            faults.append(Fault(message, at=at, values={"name": call.name}, claim=claim, is_loss=True))
    return faults


def _signature(call: Any) -> Any:
    extra = call.get(_KEY) if type(call) is dict else None
    google = extra.get("google") if type(extra) is dict else None
    return google.get("thought_signature") if type(google) is dict else None
