"""What a persona answers over HTTP: a turn of the script as a body or a stream, or a refusal in its own words.

What is about to be sent is judged first. A finding there is a fault of this project, and answered 500, unless the
scenario says that its replies break that rule.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson

from conformance import profiles
from conformance.engine import check
from conformance.profiles import Profile
from conformance.results import Level, Refusal, Status
from conformance.rules import load
from conformance.scenarios import Turn
from conformance.simulator import chunks, errors, raw, replies
from conformance.simulator.reply_context import Likeness
from conformance.transport.client import FAULT, SIMULATOR
from conformance.transport.server import Answered
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
TEXT_TYPE = "text/plain"
_EVENT = re.compile(r"(?<=\n\n)|(?<=\r\n\r\n)")


@dataclass(frozen=True, slots=True)
class Actor:
    """A provider as its profile claims it to be; `excused` are the rules that its replies break on purpose."""

    profile: Profile
    excused: Set[str] = frozenset()

    def likeness(self, body: Mapping[str, Any], history: Sequence[Mapping[str, Any]] | None = None) -> Likeness:
        """Return what a reply to a request goes by; `history` stands in for its messages where the script knows it.

        A reply of a script is whole, since it goes to clients that read it with SDKs of the provider's own.
        """
        claims = self.profile.at(str(body.get("model", "")), "")
        asked = body if history is None else {**body, "messages": history}
        return Likeness(claims, asked, thinks=profiles.thinks(claims, body) is True, whole=history is not None)

    def play(self, body: Mapping[str, Any], turn: Turn, likeness: Likeness) -> Answered:
        """Return the reply to a request that is a turn of the script."""
        said = replies.message(likeness, turn)
        model = str(body.get("model", ""))
        if not likeness.streams:
            reply = replies.body(likeness, said)
            blank = b"\n\n" if likeness.claims_that("reply.leading-whitespace") else b""
            answered = Answered(200, blank + orjson.dumps(reply), headers(JSON_TYPE))
            return self._judged(Exchange.of_plain(body, reply, 200, headers=answered.headers, model=model), answered)
        kind = str(likeness.one("stream.content-type", STREAM_TYPE))
        if turn.raw:
            pieces = raw.pieces(turn.raw, chunks.events(likeness, said))
            text = b"".join(pieces).decode()
        else:
            text = chunks.text(likeness, said)
            pieces = tuple([piece.encode() for piece in _EVENT.split(text) if piece])
        answered = Answered(200, pieces, headers(kind))
        return self._judged(
            Exchange.of_plain(body, text, 200, streamed=True, headers=answered.headers, model=model), answered
        )

    def invalid(self, body: Mapping[str, Any], words: str) -> Answered:
        """Refuse what no rule speaks of, with the status that the provider has for it."""
        status = int(self.likeness(body).one("http.invalid-status", 400))
        return self.refuse(body, Refusal(status if status >= 400 else 400, words))

    def refuse(self, body: Mapping[str, Any], refusal: Refusal) -> Answered:
        """Return a refusal as the provider writes it."""
        likeness = self.likeness(body)
        error = errors.error(likeness, refusal)
        kind = str(likeness.one("error.content-type", TEXT_TYPE if isinstance(error, str) else JSON_TYPE))
        content = error.encode() if isinstance(error, str) else orjson.dumps(error)
        if body.get("stream") is True and likeness.claims_that("error.data-prefix"):
            content = b"data: " + content + b"\n\n"
        return Answered(refusal.status, content, headers(kind))

    def models(self) -> Answered:
        """Return the list of models that the profile knows."""
        models = [{"id": model.name, "object": "model"} for model in self.profile.models]
        return as_json(200, {"object": "list", "data": models})

    def _judged(self, sent: Exchange, answered: Answered) -> Answered:
        broken = [
            f"{outcome.rule}: {outcome.reason or outcome.findings[0].message}"
            for outcome in check((sent,), self.profile)
            if outcome.status in (Status.FAILED, Status.ERRORED)
            and outcome.level is Level.MUST
            and _sides()[outcome.rule] is Side.PROVIDER
            and outcome.rule not in self.excused
        ]
        if broken:
            text = f"the simulator was about to break its own rules, which is a fault of this project: {broken}"
            return as_json(500, {"error": {"message": text, "type": FAULT}})
        return answered


def exchanged(body: Any, answered: Answered, model: str = "", url: str = "") -> Exchange:
    """Return the exchange of a request and its reply, as a client would keep it that asks over HTTP."""
    content = answered.body if isinstance(answered.body, bytes) else b"".join(answered.body)
    kind = answered.headers["content-type"]
    streamed = kind == STREAM_TYPE or content[:5] == b"data:" or not isinstance(answered.body, bytes)
    response = content.decode() if streamed or kind == TEXT_TYPE else orjson.loads(content)
    return Exchange.of_plain(body, response, answered.status, streamed, answered.headers, url=url, model=model)


def not_found(words: str) -> Answered:
    """Return the reply to a path that leads nowhere."""
    return as_json(404, {"error": {"message": words, "type": "not_found_error"}})


def as_json(status: int, body: Any) -> Answered:
    """Return a reply that is JSON."""
    return Answered(status, orjson.dumps(body), headers(JSON_TYPE))


def headers(content_type: str) -> dict[str, str]:
    """Return the headers of a simulated reply, which says that it is one."""
    return {"content-type": content_type, "server": SIMULATOR}


@cache
def _sides() -> Mapping[str, Side]:
    return {rule.id: rule.on.side for rule in load()}
