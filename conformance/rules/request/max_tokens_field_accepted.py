from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {"request.max-tokens-fields": ["max_tokens"]}
_NAMES = ("max_tokens", "max_completion_tokens")


@rule(
    Level.SHOULD,
    on=requests,
    where=lambda request, _context: any(request.value.get(name) is not None for name in _NAMES),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="This value is now deprecated in favor of `max_completion_tokens`",
    ),
    bad=[example("plain", {"/0/request/max_completion_tokens": 9}, _CLAIM)],
    good=[example("plain", {"/0/request/max_tokens": 9}, _CLAIM)],
    needs=("request.max-tokens-fields",),
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The token limit is in a parameter that the provider reads.

    The other parameter is rejected or has no effect. To fix it, send the parameter that the profile names.
    """
    read = context.claim("request.max-tokens-fields")
    return [
        Fault(f"expected {' or '.join(read)}, got {name}", at=(name,), values={"field": name})
        for name in _NAMES
        if request.value.get(name) is not None and name not in read
    ]
