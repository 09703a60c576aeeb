import re

from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import errors

_AFTER = "/0/headers/retry-after"
_SECONDS = "[0-9]+"
_DAY = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4}"
_READABLE = f"{_SECONDS}|{_DAY} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} GMT"


@rule(
    Level.MUST,
    on=errors,
    harm=Harm.FORM,
    where=lambda answer, _context: "retry-after" in answer.exchange.headers,
    source=Source(
        "https://www.rfc-editor.org/rfc/rfc9110#field.retry-after", "Retry-After = HTTP-date / delay-seconds"
    ),
    bad=[
        example("error-rate-limit", {_AFTER: "soon"}),
        example("error-rate-limit", {_AFTER: "1.5"}),
        example("error-rate-limit", {_AFTER: "-1"}),
    ],
    good=[
        example("error-rate-limit"),
        example("error-rate-limit", {_AFTER: "Fri, 20 Nov 2026 10:00:00 GMT"}),
    ],
    wires=EVERY,
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """`Retry-After` is a whole number of seconds or an HTTP date.

    A client that cannot parse it retries at once and is rejected again. To fix it, round the seconds up.
    """
    value = answer.exchange.headers["retry-after"]
    if re.fullmatch(_READABLE, value.strip()):
        return []
    message = f"expected whole seconds or an HTTP date, got {value!r:.60}"
    return [Fault(message, place=(answer.place[0], "headers", "retry-after"))]
