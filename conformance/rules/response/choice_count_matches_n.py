from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import responses


def _has_choices(body: Body, _context: Context) -> bool:
    choices = body.value.get("choices")
    return type(choices) is list and bool(choices) and type(body.exchange.request) is dict and "error" not in body.value


@rule(
    Level.SHOULD,
    on=responses,
    harm=Harm.FORM,
    where=_has_choices,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="How many chat completion choices to generate for each input message",
    ),
    bad=[example("plain", {"/0/request/n": 2})],
    good=[example("plain"), example("plain", {"/0/request/n": 1})],
)
def judge(body: Body, _context: Context) -> list[Fault]:
    """A reply has as many choices as `n` requests, or one by default.

    A provider that ignores `n` silently breaks a client that votes over samples. To fix it, return all of them, or
    reject an unsupported `n`.
    """
    asked, got = body.exchange.request.get("n"), len(body.value["choices"])
    expected = asked if type(asked) is int else 1
    if got == expected:
        return []
    return [Fault(f"expected as many choices as asked for ({expected}), got {got}", at=("choices",))]
