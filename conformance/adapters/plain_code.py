"""Plain code of an SDK that repeats a bug without this project: a program of fifteen lines, and a server of thirty.

`sdks/NAME/plain.py.txt` (or `.mjs.txt`) is the program, with `$base`, `$server`, `$model`, `$prompt`, `$result` and
`$prefix` for what depends on the case. A line that ends with the comment `only stream` or `only plain` is for such
replies. The server answers with the replies of the scenario in their order, whoever asks.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Final

import orjson

from conformance.adapters.definition import opened
from conformance.adapters.issue import Issue
from conformance.results import Evidence
from conformance.scenarios import Scenario
from conformance.simulator.sessions import serving_sessions
from conformance.suite.turns import Subject, converse
from conformance.transport.client import Client, Endpoint
from conformance.wire.exchange import Exchange

PORT: Final = 8321
TOOL: Final = "get_weather"
"""The tool that the programs declare: they fit scenarios that have no other."""

SERVER: Final = Path(__file__).with_name("plain_server.py.txt")
_KINDS: Final = {"python": "py", "node": "mjs"}
_ONLY: Final = re.compile(r"  (?:#|//) only (?P<variant>plain|stream)$")
_PREFIXES: Final = {"vllm": "hosted_vllm", "gemini_openai_compat": "openai"}


@dataclass(frozen=True, slots=True)
class PlainCode:
    """A program, the name of its file, and the server that it talks to."""

    name: str
    program: str
    server: str

    @property
    def language(self) -> str:
        """Return the language of the program as code blocks name it."""
        return "python" if self.name.endswith(".py") else "js"


def of_issue(issue: Issue) -> PlainCode | None:
    """Return the plain code that repeats an issue; None if the adapter has none, or its case takes more than that."""
    name = issue.results.subject.partition("@")[0]
    programs = {kind: opened() / name / f"plain.{kind}.txt" for kind in _KINDS.values()}
    kinds = [kind for kind, path in programs.items() if path.is_file()]
    if not kinds or not _fits(issue.scenario):
        return None
    (kind,) = kinds
    served = f"http://127.0.0.1:{PORT}"
    prefix = _PREFIXES.get(issue.profile.service, issue.profile.service)
    values = {
        "base": json.dumps(f"{served}/v1"),
        "server": json.dumps(served),
        "model": json.dumps(issue.results.model),
        "prompt": json.dumps(issue.scenario.asked[0]),
        "result": json.dumps(issue.scenario.turns[1].results[0] if len(issue.scenario.turns) > 1 else ""),
        "prefix": prefix,
    }
    text = "\n".join(_lines(programs[kind].read_text("utf-8"), issue.case.variant))
    return PlainCode(f"plain.{kind}", Template(text).substitute(values), _server(issue))


def _lines(text: str, variant: str) -> Iterator[str]:
    """Yield the lines of a program for plain or streamed replies."""
    for line in text.splitlines():
        only = _ONLY.search(line)
        if only is None or only["variant"] == variant:
            yield _ONLY.sub("", line)


def _fits(scenario: Scenario) -> bool:
    """Return whether a program with one prompt and one tool, whose results are all the same, can play a scenario."""
    results = {text for turn in scenario.turns for text in turn.results}
    plain = not (scenario.system or scenario.history or scenario.for_agents)
    return plain and len(scenario.asked) == 1 and set(scenario.tools) <= {TOOL} and len(results) < 2


def _server(issue: Issue) -> str:
    listed = "\n".join([f"    {reply!r}," for reply in replies(issue)])
    kind = "text/event-stream" if issue.case.variant == "stream" else "application/json"
    template = Template(SERVER.read_text("utf-8"))
    return template.substitute({"replies": listed, "port": PORT, "type": kind}).strip()


def replies(issue: Issue) -> tuple[str, ...]:
    """Return the replies that a client gets in the case if it does everything right."""
    with serving_sessions() as server:
        session = server.open(issue.scenario, issue.profile, issue.case.variant, issue.results.model)
        with Client(Endpoint(session.base_url, "none", wire=issue.profile.wire)) as client:
            subject = Subject(issue.profile, issue.results.model, client.send, Evidence.SIMULATED)
            return tuple([_reply(each) for each in converse(issue.scenario, issue.case.variant, subject).exchanges])


def _reply(exchange: Exchange) -> str:
    value = exchange.as_received.response
    return value if isinstance(value, str) else orjson.dumps(value).decode()
