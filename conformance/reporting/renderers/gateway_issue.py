"""A bug report about a gateway, as Markdown: the four bodies of a loss, and how to repeat it without this package."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from conformance import fidelity
from conformance.fidelity import GATEWAY_RULES
from conformance.gateways.loss import GatewayLoss, title
from conformance.reporting.text import code, fenced, plural, prose
from conformance.rules import advice
from conformance.wires import by_name

_BODIES: Final = (
    ("front/request", "What the client sends to the gateway"),
    ("back/request", "What the gateway sends to the provider"),
    ("back/response", "What the provider answers"),
    ("front/response", "What the gateway answers"),
)
_MAX_LINES: Final = 120
_UPSTREAM: Final = """\
# The provider: python3 upstream.py; it prints what the gateway sends, and answers what the report shows.
import http.server, pathlib, sys

REPLY = pathlib.Path("reply.txt").read_bytes()


class Provider(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers.get("content-length") or 0)
        print(self.path, self.rfile.read(size).decode(), flush=True)
        self.send_response({status})
        self.send_header("content-type", "{kind}")
        self.send_header("content-length", str(len(REPLY)))
        self.end_headers()
        self.wfile.write(REPLY)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()"""


def render(loss: GatewayLoss) -> str:
    """Return the report; what came over the wire stands in code spans and blocks only."""
    return "\n".join(_lines(loss)) + "\n"


def _lines(loss: GatewayLoss) -> Iterator[str]:
    results, finding = loss.results, loss.finding
    name, _, front = results.subject.partition(":")
    wire, fact = by_name(front), loss.outcome.rule
    text, _, became = finding.message.rpartition("; after it: ")
    ends = f"{prose(name)}, {prose(wire.title)} before {prose(results.provider)}"
    yield f"# {ends}: not met: {prose(title(fact).rstrip('.'))}"
    yield ""
    yield f"{code(text)}, at {code(finding.at)} before the gateway and {code(became)} after it."
    yield ""
    shown = ", ".join([code(each) for each in loss.cases[:8]])
    yield f"It shows in {plural(len(loss.cases), 'case')}, such as {shown}."
    for key, words in _BODIES:
        if key in loss.bodies:
            yield from ("", f"## {words}", "", _body(loss.bodies[key]))
    yield from ("", "## To repeat it", "", *_repeat(loss))
    if fact not in GATEWAY_RULES:
        why, fix = advice(fidelity.by_id()[fact].doc)
        yield from ("", "## Why it matters", "", prose(why))
        if fix:
            yield from ("", f"A fix: {prose(fix)}")


def _body(body: Any) -> str:
    if isinstance(body, str):
        return fenced("\n".join(body.splitlines()[:_MAX_LINES]), "text")
    lines = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode().splitlines()
    return fenced("\n".join(lines[:_MAX_LINES]), "json")


def _repeat(loss: GatewayLoss) -> Iterator[str]:
    reply = loss.bodies.get("back/response")
    kind = "text/event-stream" if isinstance(reply, str) else "application/json"
    yield "Save the provider's answer as `reply.txt` and the client's request as `request.json`, start this provider,"
    yield "point the gateway at it, and send the request:"
    yield from ("", fenced(_UPSTREAM.replace("{status}", str(loss.status)).replace("{kind}", kind), "python"), "")
    wire = by_name(loss.results.run.protocol)
    request = loss.bodies.get("front/request")
    body = {"model": loss.results.model, "stream": isinstance(loss.bodies.get("front/response"), str)}
    path = wire.path(body | (request if isinstance(request, dict) else {}))
    command = (
        "python3 upstream.py 9100 &\n"
        f"curl -N http://127.0.0.1:PORT/v1{path} -H 'content-type: application/json' -d @request.json"
    )
    yield fenced(command, "sh")
