"""A bug report about a gateway, as Markdown: the four bodies of a loss, and how to repeat it without this package."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any, Final

import orjson

from conformance import fidelity
from conformance.definitions import filled
from conformance.fidelity import GATEWAY_RULES
from conformance.gateways.definition import GatewayDefinition, profile_of
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
_PORT: Final = 4000
_UPSTREAM_PORT: Final = 9100
_TIMED: Final = ("gateway/deltas-in-time", "gateway/disconnects-passed-on")
"""The facts that no body shows."""

_UPSTREAM: Final = """\
# The provider: python3 upstream.py 9100; it prints what the gateway sends, and answers what the report shows.
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


def render(loss: GatewayLoss, definition: GatewayDefinition | None = None) -> str:
    """Return the report; what came over the wire stands in code spans and blocks only.

    `definition`: how to install and start the gateway, if it is one of this project.
    """
    return "\n".join(_lines(loss, definition)) + "\n"


def _lines(loss: GatewayLoss, definition: GatewayDefinition | None) -> Iterator[str]:
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
    yield from ("", "## To repeat it", "", *_repeat(loss, definition))
    if fact not in GATEWAY_RULES:
        why, fix = advice(fidelity.by_id()[fact].doc)
        given = [each for each in (why, f"A fix: {fix}" if fix else "") if each]
        yield from ("", "## Why it matters")
        for each in given:
            yield from ("", prose(each))


def _body(body: Any) -> str:
    if isinstance(body, str):
        return fenced("\n".join(body.splitlines()[:_MAX_LINES]), "text")
    lines = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode().splitlines()
    return fenced("\n".join(lines[:_MAX_LINES]), "json")


def _repeat(loss: GatewayLoss, definition: GatewayDefinition | None) -> Iterator[str]:
    if "front/request" not in loss.bodies:
        yield "The results hold no bodies of this loss; run the gateway again with `--results`."
        return
    reply = loss.bodies.get("back/response", "")
    kind = "text/event-stream" if isinstance(reply, str) else "application/json"
    yield "Save this provider as `upstream.py`:"
    yield from ("", fenced(_UPSTREAM.replace("{status}", str(loss.status)).replace("{kind}", kind), "python"), "")
    yield "Then write what the client sends and what the provider answers, start both, and send the request. The"
    yield "provider prints what it gets, and curl what the client gets:"
    yield from ("", fenced("\n".join(_script(loss, reply, definition)), "sh"))
    if loss.outcome.rule in _TIMED:
        yield from ("", "This provider answers at once; in the report it waits in the middle of its stream.")


def _script(loss: GatewayLoss, reply: Any, definition: GatewayDefinition | None) -> Iterator[str]:
    request = loss.bodies["front/request"]
    yield from _file("request.json", orjson.dumps(request).decode())
    yield from _file("reply.txt", reply if isinstance(reply, str) else orjson.dumps(reply).decode())
    yield "trap 'kill $(jobs -p)' EXIT"
    yield f"python3 upstream.py {_UPSTREAM_PORT} &"
    wire, known = by_name(loss.results.run.protocol), _known(loss, definition)
    front = definition.fronts.get(wire.name) if definition is not None else None
    if definition is None or front is None:
        yield f"# Start the gateway at port {_PORT} with http://127.0.0.1:{_UPSTREAM_PORT} as its provider."
        base, headers = "/v1", {}
    else:
        yield from _started(definition, known)
        base, headers = front.path, {name: filled(text, known) for name, text in front.headers.items()}
    is_stream = isinstance(loss.bodies.get("front/response"), str)
    path = wire.path({"model": loss.results.model, "stream": is_stream, **request})
    given = {"content-type": "application/json", **wire.headers("none"), **headers}
    options = " ".join([f"-H {quote(f'{name}: {value}')}" for name, value in given.items()])
    yield f"curl -sN {quote(f'http://127.0.0.1:{_PORT}{base}{path}')} {options} -d @request.json"


def _file(name: str, text: str) -> Iterator[str]:
    yield from (f"cat > {quote(name)} <<'END-OF-FILE'", text.removesuffix("\n"), "END-OF-FILE")


def _known(loss: GatewayLoss, definition: GatewayDefinition | None) -> Mapping[str, str]:
    """Return the words in braces of a definition, for a gateway in the current folder."""
    upstream = f"http://127.0.0.1:{_UPSTREAM_PORT}"
    back = loss.results.provider
    model = profile_of(back).model
    known = {"python": "gateway/bin/python", "modules": "node_modules", "work": ".", "port": str(_PORT), "model": model}
    known |= {"upstream": upstream, "upstream-port": str(_UPSTREAM_PORT)}
    for name, values in definition.backs.items() if definition is not None else ():
        if profile_of(name).name == profile_of(back).name:
            return known | {key: filled(text, known) for key, text in values.items()}
    return known


def _started(definition: GatewayDefinition, known: Mapping[str, str]) -> Iterator[str]:
    packages = " ".join(map(quote, definition.packages))
    if definition.language == "node":
        yield f"npm install {packages}"
    else:
        yield f"python3 -m venv gateway && gateway/bin/pip install {packages}"
    for name, text in definition.files.items():
        if "/" in name:
            yield f"mkdir -p {quote(name.rpartition('/')[0])}"
        yield from _file(name, filled(text, known))
    variables = {"HOME": '"$PWD"', **{key: quote(filled(text, known)) for key, text in definition.environment.items()}}
    words = [each for each in definition.command if "{package}" not in each and each != "--require"]
    settings = " ".join([f"{name}={value}" for name, value in variables.items()])
    yield f"{settings} {' '.join([quote(filled(each, known)) for each in words])} &"
    yield f"until curl -s http://127.0.0.1:{_PORT}{definition.health} > /dev/null; do sleep 1; done"
