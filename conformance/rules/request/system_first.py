from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {
    "request.system-position": {"status": 400, "message": "Unexpected role '{role}' after role '{other}'"},
}
_LATE = {"/0/request/messages/-": {"role": "system", "content": "Be brief."}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages("request.system-position"),
    source=Source(
        "https://github.com/crmne/ruby_llm/blob/6d15549852c5f033a4ac9ddba49c11cc76b87ba3/spec/fixtures/vcr_cassettes/"
        "chat_basic_chat_functionality_mistral_mistral-small-latest_replaces_previous_system_messages_when_replace_true.yml",
        "Unexpected role 'system' after role 'assistant'",
    ),
    bad=[
        example("plain", _LATE, _CLAIM),
        example("tool-result", _LATE, {"request.system-position": "damaged"}),
    ],
    good=[example("plain", claims=_CLAIM), example("tool-result-parallel", claims=_CLAIM)],
    needs=("request.system-position",),
    claim="request.system-position",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """System messages come first if the provider rejects them elsewhere.

    Clients that compact a history, or remind the model of something, insert them in the middle. To fix it, move the
    text to the first system message, or send it as a user message.
    """
    listed = request.value.get("messages")
    faults = []
    before: object = "system"
    for position, message in enumerate(listed if type(listed) is list else ()):
        role = message.get("role") if type(message) is dict else None
        if role == "system" and before not in ("system", "developer"):
            values = {"role": role, "other": before}
            text = f"expected system messages first, got one after role {before!r:.60}"
            faults.append(Fault(text, at=("messages", position), values=values))
        before = role
    return faults
