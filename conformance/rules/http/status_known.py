"""Rule: the status is one of success or failure."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import answers


@rule(
    Level.MUST,
    on=answers,
    where=lambda answer, _context: answer.exchange.status is not None,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("plain", {"/0/status": 302})],
    good=[example("plain"), example("error"), example("error-rate-limit")],
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """A reply's HTTP status is 2xx, 4xx or 5xx.

    Clients follow no redirection of a POST and wait for no further answer. To fix it, answer at the address that was
    asked, with 200 or an error.
    """
    status = answer.exchange.status or 0
    if 200 <= status < 300 or 400 <= status < 600:
        return []
    return [Fault(f"expected a status of 2xx, 4xx or 5xx, got {status}", place=(answer.place[0], "status"))]
