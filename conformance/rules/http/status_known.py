from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import answers


@rule(
    Level.MUST,
    on=answers,
    harm=Harm.FORM,
    where=lambda answer, _context: answer.exchange.status is not None,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("plain", {"/0/status": 302})],
    good=[example("plain"), example("error"), example("error-rate-limit")],
    wires=EVERY,
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """The HTTP status of a reply is 2xx, 4xx or 5xx.

    Clients do not follow redirects of a POST and do not wait for another reply. To fix it, answer at the requested
    address, with 200 or an error.
    """
    status = answer.exchange.status or 0
    if 200 <= status < 300 or 400 <= status < 600:
        return []
    return [Fault(f"expected a status of 2xx, 4xx or 5xx, got {status}", place=(answer.place[0], "status"))]
