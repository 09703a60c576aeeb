"""Rule: code and param have the claimed types."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import errors

_MEMBERS = {"code": "error.code-type", "param": "error.param-type"}
_TYPES = {str: "string", int: "integer", type(None): "null"}


@rule(
    Level.MUST,
    on=errors,
    where=lambda answer, context: type(answer.value) is dict and any(context.claim(name) for name in _MEMBERS.values()),
    source=Source("https://github.com/BerriAI/litellm/pull/38842"),
    bad=[
        example("error", claims={"error.code-type": "integer"}),
        example("error", claims={"error.param-type": ["string", "absent"]}),
    ],
    good=[
        example("error", claims={"error.code-type": "string", "error.param-type": "null"}),
        example("error-rate-limit", claims={"error.code-type": ["integer", "string"]}),
    ],
)
def judge(answer: Body, context: Context) -> list[Fault]:
    """The code and the param of an error have the JSON types that the profile claims.

    One host's code is the word `invalid_api_key`, another's the number 401, and a typed client fails on the one that
    it does not expect. To fix it, keep to one type.
    """
    holder = answer.value.get("error")
    at: tuple[str, ...] = ("error",)
    if type(holder) is not dict:
        holder, at = answer.value, ()
    faults = []
    for member, name in _MEMBERS.items():
        claimed = context.claim(name)
        got = _TYPES.get(type(holder[member]), "another type") if member in holder else "absent"
        if claimed and got not in _listed(claimed):
            message = f"expected {member} to be {' or '.join(_listed(claimed))}, as claimed, got {got}"
            faults.append(Fault(message, at=(*at, member)))
    return faults


def _listed(claimed: Any) -> list[str]:
    return claimed if type(claimed) is list else [claimed]
