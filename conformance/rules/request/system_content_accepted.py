from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.rules.faults import parts_instead_of_text
from conformance.wire.elements import Body
from conformance.wire.views import requests

_PARTS = {"/0/request/messages/0/content": [{"type": "text", "text": "You are a weather bot."}]}
_REFUSED = {"content.parts-on-system": {"status": 400, "message": "messages[{index}].content: expected a string"}}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages("content.parts-on-system"),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion_system_message_param.py",
        quote="The contents of the system message",
    ),
    bad=[example("plain", _PARTS, _REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("content.parts-on-system",),
    claim="content.parts-on-system",
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """The content of system messages is a string if the provider rejects parts.

    To fix it, join the parts into one text.
    """
    return parts_instead_of_text(context, "system", "developer")
