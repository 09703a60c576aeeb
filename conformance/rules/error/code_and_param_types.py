from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.wire.elements import Body
from conformance.wire.views import errors

_MEMBERS = {"code": "error.code-type", "param": "error.param-type"}
_TYPES = {str: "string", int: "integer", type(None): "null"}


@rule(
    Level.SHOULD,
    on=errors,
    where=lambda answer, context: type(answer.value) is dict and any(context.claim(name) for name in _MEMBERS.values()),
    source=Source(
        "https://github.com/BerriAI/litellm/pull/39521",
        'stop putting the literal string "None" in error payloads',
    ),
    bad=[
        example("error", claims={"error.code-type": "integer"}),
        example("error", claims={"error.param-type": ["string", "absent"]}),
    ],
    good=[
        example("error", claims={"error.code-type": "string", "error.param-type": "null"}),
        example("error-rate-limit", claims={"error.code-type": ["integer", "string"]}),
    ],
    reads=("error.code-type", "error.param-type"),
)
def judge(answer: Body, context: Context) -> list[Fault]:
    """The `code` and `param` of an error have the documented JSON types.

    One host's code is the word `invalid_api_key`, another's is the number 401; a typed client fails on the type that it
    does not expect. To fix it, always use one type.
    """
    holder = answer.value.get("error")
    at: tuple[str, ...] = ("error",)
    if type(holder) is not dict:
        holder, at = answer.value, ()
    faults = []
    for member, name in _MEMBERS.items():
        claimed = context.claim(name)
        got = _TYPES.get(type(holder[member]), "another type") if member in holder else "absent"
        if claimed and got not in as_words(claimed):
            message = f"expected {member} to be {' or '.join(as_words(claimed))}, got {got}"
            faults.append(Fault(message, at=(*at, member)))
    return faults
