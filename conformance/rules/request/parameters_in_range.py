from collections.abc import Mapping
from typing import Any

from conformance.documents.pointer import parse, value_at
from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import body_as_sent
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = "request.limits"
_REFUSED = {"status": 400, "message": "{field}: range: 0..1"}
_LONG = {"status": 400, "message": "Invalid 'stop': array too long, with length {length} instead of {limit}."}
_LIMITS = {
    _CLAIM: [
        {"at": "/temperature", "min": 0, "max": 1, "refusal": _REFUSED},
        {"at": "/stop", "longest": 4, "refusal": _LONG},
        {"at": "/top_p", "max": 1, "refusal": _REFUSED},
        {"at": "/generationConfig/topP", "max": 1, "refusal": _REFUSED},
    ]
}


@rule(
    Level.MUST,
    on=requests,
    source=Source(
        "https://github.com/odysseus-dev/odysseus/pull/1737", "returns **HTTP 400** for anything above `1.0`"
    ),
    bad=[
        example("plain", {"/0/request/temperature": 1.5}, _LIMITS),
        example("plain", {"/0/request/temperature": -1}, _LIMITS),
        example("plain", {"/0/request/stop": ["a", "b", "c", "d", "e"]}, _LIMITS),
        example("messages-result", {"/0/request/top_p": 1.2}, _LIMITS),
        example("gemini-result", {"/0/request/generationConfig": {"topP": 1.5}}, _LIMITS),
    ],
    good=[
        example("plain", {"/0/request/temperature": 1}, _LIMITS),
        example("plain", {"/0/request/stop": ["a", "b", "c", "d"]}, _LIMITS),
        example("plain", {"/0/request/stop": "a long text"}, _LIMITS),
    ],
    needs=(_CLAIM,),
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """Numbers are in the range that the provider takes, and lists are not too long.

    Ranges differ: a temperature of 1.5 is usual for one host, and refused by another. To fix it, send a value within
    the bounds, or fewer entries.
    """
    body = body_as_sent(request, context)
    faults = []
    for entry in context.claim(_CLAIM):
        at = tuple(parse(entry["at"]))
        value = value_at(body, at)
        bound = None if entry["refusal"] == "accepted" else _bound(value, entry)
        if bound is not None:
            field = ".".join(map(str, at))
            length = len(value) if type(value) is list else None
            got = f"{value!r:.40}" if length is None else f"{length} entries"
            limit = bound.rpartition(" ")[2]
            values = {"field": field, "value": value, "length": length, "limit": limit, "model": request.exchange.model}
            faults.append(
                Fault(f"expected {bound} in {field}, got {got}", at=at, values=values, verdict=entry["refusal"])
            )
    return faults


def _bound(value: Any, entry: Mapping[str, Any]) -> str | None:
    """Return the bound that a value is beyond, in words that end with its number; None if there is none."""
    if type(value) is list:
        longest = entry.get("longest")
        return f"no more entries than {longest}" if longest is not None and len(value) > longest else None
    if type(value) not in (int, float):
        return None
    if value > entry.get("max", value):
        return f"at most {entry['max']}"
    return f"at least {entry['min']}" if value < entry.get("min", value) else None
