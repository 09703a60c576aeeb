from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_SECOND = {
    "/0/request/messages/-": {"role": "assistant", "content": "Rarely."},
    "/0/request/messages/1": {"role": "assistant", "content": "In May?"},
}
_REFUSED = {"request.several-last-assistant": {"status": 400, "message": "Cannot have 2 or more assistant messages."}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages("request.several-last-assistant"),
    source=Source(
        package="pypi/xllamacpp@2026.10.11549:thirdparty/llama.cpp/tools/server/server-common.cpp#L1375",
        quote="Cannot have 2 or more assistant messages at the end of the list.",
    ),
    bad=[example("plain", _SECOND, _REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("request.several-last-assistant",),
    claim="request.several-last-assistant",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request does not end with several assistant messages if the provider rejects that.

    To fix it, join them into one.
    """
    listed = request.value.get("messages")
    roles = [message.get("role") for message in listed[-2:] if type(message) is dict] if type(listed) is list else []
    if roles != ["assistant", "assistant"]:
        return []
    message = "expected one assistant message at the end, got several"
    return [Fault(message, at=("messages", len(listed or ()) - 1), values={"role": "assistant"})]
