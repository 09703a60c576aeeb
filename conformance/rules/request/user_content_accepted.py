from typing import Any

from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.rules.faults import parts_instead_of_text
from conformance.wire.elements import Body
from conformance.wire.views import requests

_PARTS = {"/0/request/messages/1/content": [{"type": "text", "text": "Is it cold in Paris in May?"}]}
_REFUSED = {"content.parts-on-user": {"status": 400, "message": "messages[{index}].content: expected a string"}}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages("content.parts-on-user"),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion_user_message_param.py",
        quote="The contents of the user message",
    ),
    bad=[example("plain", _PARTS, _REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("content.parts-on-user",),
    claim="content.parts-on-user",
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """The content of text-only user messages is a string if the provider rejects parts.

    To fix it, join the parts into one text.
    """
    return parts_instead_of_text(context, "user", fits=_are_texts)


def _are_texts(parts: list[Any]) -> bool:
    return bool(parts) and all(type(part) is dict and part.get("type") == "text" for part in parts)
