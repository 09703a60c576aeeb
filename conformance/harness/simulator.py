"""The strict provider: it refuses what its profile claims to be refused, and replies by the scenarios' scripts.

`/s/<scenario>/v1` plays one scenario; plain `/v1` knows a scenario by its user messages and answers any other request
too. Refusals come from the rule set, so that what `check` predicts and what a client is answered are one thing. It
keeps nothing between requests: what it must have replied to a scenario's earlier requests it can say again, and so it
sees what a client changed. What is about to be sent is judged first: a finding there is a fault of this project, and
answered 500, unless the turn is written to misbehave.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson

from conformance import profiles, scenarios
from conformance.documents import parse_json
from conformance.engine import check
from conformance.errors import InvalidDocument, UnknownName, Unusable
from conformance.harness import chunks, failures, persona, raw, script
from conformance.harness.likeness import Likeness
from conformance.harness.refusals import first_refusal
from conformance.profiles import Profile
from conformance.results import Level, Refusal, Status
from conformance.rules import load
from conformance.scenarios import Scenario, Turn
from conformance.transport.client import FAULT, SIMULATOR
from conformance.transport.server import Answered, Asked, serving
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
TEXT_TYPE = "text/plain"
_ENDPOINT = "/v1/chat/completions"
_EVENT = re.compile(r"(?<=\n\n)|(?<=\r\n\r\n)")


@dataclass(frozen=True, slots=True)
class Simulator:
    """A provider played by its profile."""

    profile: Profile

    def answer(self, asked: Asked) -> Answered:
        """Return the reply to any HTTP request; never raises for what a client sends."""
        path = asked.path.partition("?")[0]
        if asked.method == "GET" and path.endswith("/models"):
            models = [{"id": model.name, "object": "model"} for model in self.profile.models]
            return _json(200, {"object": "list", "data": models})
        scenario = None
        if path.startswith("/s/"):
            name, _, rest = path.removeprefix("/s/").partition("/")
            path = f"/{rest}"
            try:
                scenario = scenarios.load(name)
            except UnknownName as error:
                return _json(404, {"error": {"message": str(error), "type": "not_found_error"}})
        if asked.method != "POST" or path not in (_ENDPOINT, "/chat/completions"):
            text = f"this is a simulated chat completions endpoint; POST to {_ENDPOINT} or /s/<scenario>{_ENDPOINT}"
            return _json(404, {"error": {"message": text, "type": "not_found_error"}})
        try:
            body = parse_json(asked.body, "request body")
        except InvalidDocument as error:
            return self._invalid({}, str(error))
        if not isinstance(body, dict):
            return self._invalid({}, "expected a JSON object as the request body")
        return self.reply(body, scenario)

    def send(self, body: Mapping[str, Any]) -> Exchange:
        """Return the exchange of one request, as a client would keep it that asks over HTTP.

        Raises Unusable where the simulator is at fault.
        """
        answered = self.reply(body)
        content = answered.body if isinstance(answered.body, bytes) else b"".join(answered.body)
        kind = answered.headers["content-type"]
        streamed = kind == STREAM_TYPE or content[:5] == b"data:" or not isinstance(answered.body, bytes)
        response = content.decode() if streamed or kind == TEXT_TYPE else orjson.loads(content)
        model = str(body.get("model", ""))
        if answered.status == 500 and FAULT in str(response):
            raise Unusable(str(response))
        return Exchange(dict(body), response, answered.status, streamed, answered.headers, model=model)

    def reply(self, body: Mapping[str, Any], scenario: Scenario | None = None) -> Answered:
        """Return the reply to a request body: the claimed refusal, or the next turn of the script."""
        asked = Exchange(request=body, model=str(body.get("model", "")))
        is_list = isinstance(body.get("messages"), list)
        played = (scenario or script.scenario_of(body)) if is_list else None
        before = self._before(body, played)
        refusal = first_refusal(check((*before, asked), self.profile), len(before))
        if refusal is not None:
            return self._refuse(body, refusal)
        if not is_list or not body["messages"]:
            return self._invalid(body, "expected messages: a list with at least one message")
        claims = self.profile.at(asked.model, "")
        if not script.is_met(body, claims):
            return self._invalid(body, "tool_choice demands a call that no declared tool allows")
        return self._reply(body, script.due(body, played, claims))

    def _reply(self, body: Mapping[str, Any], turn: Turn) -> Answered:
        likeness = self._likeness(body)
        said = persona.message(likeness, turn)
        model = str(body.get("model", ""))
        if not likeness.streams:
            reply = persona.body(likeness, said)
            blank = b"\n\n" if likeness.claims_that("reply.leading-whitespace") else b""
            answered = Answered(200, blank + orjson.dumps(reply), _headers(JSON_TYPE))
            return self._judged(Exchange(body, reply, 200, headers=answered.headers, model=model), answered)
        kind = str(likeness.one("stream.content-type", STREAM_TYPE))
        if turn.raw:
            return Answered(200, raw.pieces(turn.raw, chunks.events(likeness, said)), _headers(kind))
        text = chunks.text(likeness, said)
        answered = Answered(200, tuple([piece.encode() for piece in _EVENT.split(text) if piece]), _headers(kind))
        return self._judged(Exchange(body, text, 200, streamed=True, headers=answered.headers, model=model), answered)

    def _before(self, body: Mapping[str, Any], played: Scenario | None) -> Conversation:
        """Return the exchanges that must have led to a request of a scenario; none where they cannot be known."""
        if played is None:
            return ()
        exchanges = []
        for asked in script.earlier(body):
            likeness = self._likeness(asked)
            reply = persona.body(likeness, persona.message(likeness, script.due(asked, played, likeness.claims)))
            exchanges.append(Exchange(asked, reply, 200, model=str(body.get("model", ""))))
        return tuple(exchanges)

    def _likeness(self, body: Mapping[str, Any]) -> Likeness:
        claims = self.profile.at(str(body.get("model", "")), "")
        return Likeness(claims, body, thinks=profiles.thinks(claims, body) is True)

    def _judged(self, sent: Exchange, answered: Answered) -> Answered:
        broken = [
            f"{outcome.rule}: {outcome.reason or outcome.findings[0].message}"
            for outcome in check((sent,), self.profile)
            if outcome.status in (Status.FAILED, Status.ERRORED)
            and outcome.level is Level.MUST
            and _sides()[outcome.rule] is Side.PROVIDER
        ]
        if broken:
            text = f"the simulator was about to break its own rules, which is a fault of this project: {broken}"
            return _json(500, {"error": {"message": text, "type": FAULT}})
        return answered

    def _invalid(self, body: Mapping[str, Any], words: str) -> Answered:
        """Refuse what no rule speaks of, with the status that the provider has for it."""
        status = int(self._likeness(body).one("http.invalid-status", 400))
        return self._refuse(body, Refusal(status if status >= 400 else 400, words))

    def _refuse(self, body: Mapping[str, Any], refusal: Refusal) -> Answered:
        likeness = self._likeness(body)
        error = failures.error(likeness, refusal)
        kind = str(likeness.one("error.content-type", TEXT_TYPE if isinstance(error, str) else JSON_TYPE))
        content = error.encode() if isinstance(error, str) else orjson.dumps(error)
        if body.get("stream") is True and likeness.claims_that("error.data-prefix"):
            content = b"data: " + content + b"\n\n"
        return Answered(refusal.status, content, _headers(kind))


@contextmanager
def simulated(profile: Profile, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve a provider's simulator in the background and yield its URL, without `/v1`."""
    with serving(Simulator(profile).answer, host, port) as url:
        yield url


@cache
def _sides() -> Mapping[str, Side]:
    return {rule.id: rule.on.side for rule in load()}


def _headers(content_type: str) -> dict[str, str]:
    return {"content-type": content_type, "server": SIMULATOR}


def _json(status: int, body: Any) -> Answered:
    return Answered(status, orjson.dumps(body), _headers(JSON_TYPE))
