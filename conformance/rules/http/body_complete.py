from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import has_headers
from conformance.wire.elements import Body
from conformance.wire.exchange import CUT
from conformance.wire.views import answers


@rule(
    Level.MUST,
    on=answers,
    among=has_headers,
    source=Source(
        "https://www.rfc-editor.org/rfc/rfc9112#section-8",
        "A client that receives an incomplete response message, which can occur when a connection is closed "
        "prematurely or when decoding a supposedly chunked transfer coding fails, MUST record the message as "
        "incomplete.",
    ),
    bad=[example("plain", {f"/0/headers/{CUT}": "one that ended after 120 of 500 bytes"})],
    good=[example("plain"), example("error"), example("stream-plain")],
    wires=EVERY,
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """The body of a reply arrives whole, as its `Content-Length` or its last chunk says.

    A lost connection, a proxy's limit or a wrong length cuts it. Many clients then raise, even if what arrived can be
    read. Only this project's client and its recordings say whether a body was cut. To fix it, send as many
    bytes as the headers announce, close the connection after the last one, and compress no data that is incomplete.
    """
    cut = answer.exchange.headers.get(CUT)
    return [Fault(f"expected a whole body, got {cut}")] if cut else []
