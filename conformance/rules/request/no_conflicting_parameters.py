from collections.abc import Mapping, Sequence
from typing import Any

from conformance import profiles
from conformance.documents.pointer import parse, value_at
from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import body_as_sent
from conformance.wire.elements import Body
from conformance.wire.views import requests

_BOTH = [{"at": "/max_tokens", "present": True}, {"at": "/max_completion_tokens", "present": True}]
_REFUSED = {"status": 400, "message": "Setting 'max_tokens' and 'max_completion_tokens' at the same time is wrong."}
_ADAPTIVE = {"when": [{"at": "/thinking/type", "equals": "adaptive"}], "verdict": _REFUSED}
_CLAIM = {"request.conflicts": [{"when": _BOTH, "verdict": _REFUSED}]}


@rule(
    Level.MUST,
    on=requests,
    source=Source(
        package="pypi/fireworks-ai@1.2.30:fireworks/types/chat/completion_create_params.py",
        quote="Cannot be specified together with `reasoning_effort`",
    ),
    bad=[
        example("plain", {"/0/request/max_tokens": 9, "/0/request/max_completion_tokens": 9}, _CLAIM),
        example("messages-plain", {"/0/request/thinking": {"type": "adaptive"}}, {"request.conflicts": [_ADAPTIVE]}),
    ],
    good=[example("plain", {"/0/request/max_tokens": 9}, _CLAIM)],
    needs=("request.conflicts",),
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request has no parameters that the provider rejects in combination.

    Each of them is accepted alone, or with another value. To fix it, send only one of them, or a value that the model
    accepts.
    """
    body = body_as_sent(request, context)
    faults = []
    for conflict in context.claim("request.conflicts"):
        conditions = conflict["when"]
        if conflict["verdict"] != "accepted" and all(profiles.matches(each, body) for each in conditions):
            at = tuple(parse(conditions[0]["at"])) if len(conditions) == 1 else ()
            values = {"model": request.exchange.model, "length": _length(value_at(body, at))}
            faults.append(Fault(_message(conditions), at=at, values=values, verdict=conflict["verdict"]))
    return faults


def _length(value: Any) -> int | None:
    return len(value) if type(value) in (str, list) else None


def _message(conditions: Sequence[Mapping[str, Any]]) -> str:
    """Return what is wrong: one value, or several that do not go together."""
    named = ", ".join([each["at"] for each in conditions])
    if len(conditions) == 1:
        return f"expected another value of {named}, or none"
    return f"expected not all of {named}, got all of them"
