from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import errors

_PRESENT = {"http.retry-after": "present"}
_ABSENT = {"http.retry-after": "absent"}
_AFTER = "/0/headers/retry-after"


@rule(
    Level.SHOULD,
    on=errors,
    harm=Harm.FORM,
    where=lambda answer, context: (
        answer.exchange.status == 429
        and bool(answer.exchange.headers)
        and context.claim("http.retry-after") != "sometimes"
    ),
    source=Source(
        "https://www.rfc-editor.org/rfc/rfc9110#field.retry-after",
        "to indicate how long the user agent ought to wait before making a follow-up request",
    ),
    bad=[
        example("error-rate-limit", {_AFTER: REMOVE}, _PRESENT),
        example("error-rate-limit", claims=_ABSENT),
    ],
    good=[
        example("error-rate-limit", claims=_PRESENT),
        example("error-rate-limit", {_AFTER: REMOVE}, _ABSENT),
    ],
    needs=("http.retry-after",),
    wires=EVERY,
)
def judge(answer: Body, context: Context) -> list[Fault]:
    """A rate-limited reply has a `Retry-After` header exactly if the provider documents one.

    A client that relies on it waits for a time that it never receives. To fix it, send `Retry-After` with every 429. If
    the provider has changed this for good, the profile needs a new claim with its date.
    """
    has = "retry-after" in answer.exchange.headers
    if has is (context.claim("http.retry-after") == "present"):
        return []
    expected, got = ("no Retry-After", "one") if has else ("Retry-After", "none")
    return [Fault(f"expected {expected}, got {got}", place=(answer.place[0], "headers"))]
