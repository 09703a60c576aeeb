from conformance import profiles
from conformance.documents.pointer import parse
from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import body_as_sent
from conformance.wire.elements import Body
from conformance.wire.views import requests

_SWITCHES = [
    {"at": "/thinking/type", "equals": "enabled", "thinks": True},
    {"at": "/thinking/type", "equals": "disabled", "thinks": False},
]
_NEVER = {"thinking.mode": "never", "thinking.switches": _SWITCHES, "thinking.unsupported": {"status": 400}}
_ALWAYS = {"thinking.mode": "always", "thinking.switches": _SWITCHES, "thinking.off-unsupported": {"status": 400}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.claim("thinking.mode") in ("never", "always"),
    source=Source("https://api-docs.deepseek.com/guides/thinking_mode", '{"thinking": {"type": "enabled/disabled"}}'),
    bad=[
        example("plain", {"/0/request/thinking": {"type": "enabled"}}, _NEVER),
        example("plain", {"/0/request/thinking": {"type": "disabled"}}, _ALWAYS),
        example("messages-plain", {"/0/request/thinking": {"type": "disabled"}}, _ALWAYS),
    ],
    good=[
        example("plain", {"/0/request/thinking": {"type": "enabled"}}, _ALWAYS),
        example("plain", claims=_NEVER),
    ],
    needs=("thinking.mode", "thinking.switches"),
    reads=("thinking.unsupported", "thinking.off-unsupported"),
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request turns thinking on or off only if the model supports it.

    The rule reports nothing if the effect is unknown. To fix it, omit the switch for such a model.
    """
    never = context.claim("thinking.mode") == "never"
    claim = "thinking.unsupported" if never else "thinking.off-unsupported"
    if not context.knows(claim) or context.claim(claim) == "accepted":
        return []
    body = body_as_sent(request, context)
    switch = next((each for each in context.claim("thinking.switches") if profiles.matches(each, body)), None)
    if switch is None or switch["thinks"] is not never:
        return []
    words = "no parameter that turns thinking on" if never else "no parameter that turns thinking off"
    values = {"model": request.exchange.model, "field": parse(switch["at"])[0]}
    return [Fault(f"expected {words}, got one at {switch['at']}", values=values, claim=claim)]
