"""HTTP replies of a simulated provider: a turn of the script as a body or a stream, or a refusal in its own words.

Every reply is checked before it is sent. A finding is a bug of this project and becomes status 500, unless the
scenario says that its replies break that rule.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final

import orjson

from conformance import profiles, rules
from conformance.documents.json_scan import syntax_error_position
from conformance.errors import InvalidDocument
from conformance.faults import event_bytes
from conformance.judge import judge_last
from conformance.profiles import Profile
from conformance.results import Level, Refusal, Status
from conformance.scenarios import ScriptTurn
from conformance.simulator import chunks, faulty, members, refusals, replies
from conformance.simulator.http import JSON_TYPE, STREAM_TYPE, TEXT_TYPE, as_json, headers
from conformance.simulator.outlines import ReplyMemory, key_of, outline
from conformance.simulator.parameters import NO_PARAMETERS, Parameters
from conformance.simulator.reply_context import ReplyContext
from conformance.simulator.strictness import RuleViolation, worded
from conformance.transport.client import SIMULATOR_ERROR
from conformance.transport.http import HttpReply
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.native import CHAT, NativeEvent
from conformance.wire.views import Side
from conformance.wires.chat import PATH

GENERIC_HEADER: Final = {"x-conformance": "generic-refusal"}
"""The header that marks a refusal in the simulator's own words."""

STATE_HEADER: Final = {"x-conformance-state": "not-stored"}
"""The header of a refusal that no request shows by itself: it refers to what this simulator does not hold."""

LIMIT_HEADER: Final = {"x-conformance-limit": "not-honoured"}
"""The header of a refusal of a value that the simulator cannot honour, whatever the provider would do."""

BROKEN_BY_SCRIPT: Final = frozenset(
    {"tool-calls/required-choice-obeyed", "tool-calls/named-choice-obeyed", "tool-calls/no-parallel-when-disabled"}
)
"""Rules that a reply breaks if the request demands what the script does not contain; the script wins."""

_GLOB = re.compile(r"[*?]")
_EVENT = re.compile(r"(?<=\n\n)|(?<=\r\n\r\n)")


@cache
def _of_providers() -> tuple[rules.Rule, ...]:
    """Return the rules about what providers send."""
    return tuple([rule for rule in rules.load() if rule.on.side is Side.PROVIDER])


@dataclass(frozen=True, slots=True)
class Responder:
    """A provider as its profile describes it; `broken` are the rules that its replies break on purpose.

    `memory` holds its last replies, so that those that differ in ids alone are checked once; None for no memory.
    """

    profile: Profile
    broken: Set[str] = frozenset()
    memory: ReplyMemory | None = None

    def context(
        self,
        body: Mapping[str, Any],
        history: Sequence[Mapping[str, Any]] | None = None,
        parameters: Parameters = NO_PARAMETERS,
    ) -> ReplyContext:
        """Return what a reply depends on; `history` replaces the messages of the request if the script knows better."""
        claims = self.profile.at(model_of(dict(body)), "")
        request = body if history is None else {**body, "messages": history}
        thinks = profiles.thinks(claims, body) is True
        return ReplyContext(claims, request, thinks=thinks, parameters=parameters)

    def reply(
        self, body: Mapping[str, Any], turn: ScriptTurn, context: ReplyContext, *, is_clean: bool = False
    ) -> HttpReply:
        """Return the reply to a request that is a turn of the script; `is_clean` is that of `outline`."""

        def derive(context: ReplyContext) -> HttpReply:
            return derived(context, turn)

        if self.memory is not None and not turn.raw:
            try:
                drawn = outline(context.request, is_clean=is_clean)
                key = key_of(self.profile, turn, context, drawn, self.broken)
            except TypeError:
                return self._checked(body, derive(context))
            return self.memory.reply(key, self.profile, context, drawn, derive, partial(self._checked, drawn))
        return self._checked(body, derive(context))

    def invalid(self, body: Mapping[str, Any], message: str) -> HttpReply:
        """Refuse a request for which no claim gives a refusal, with the status that the provider uses.

        The message and a header say that the wording is not the provider's.
        """
        status = int(self.context(body).claim("http.invalid-status", 400))
        return self.generic(body, status if status >= 400 else 400, message)

    def unable(self, body: Mapping[str, Any], message: str) -> HttpReply:
        """Refuse a request for a reply that the simulator cannot make."""
        reply = self.invalid(body, message)
        return replace(reply, headers={**reply.headers, **LIMIT_HEADER})

    def generic(self, body: Mapping[str, Any], status: int, message: str) -> HttpReply:
        """Refuse a request in the provider's shape and in the simulator's words, marked as such."""
        return self._marked(self.refuse(body, Refusal(status, f"{message} {refusals.GENERIC}")))

    def _marked(self, reply: HttpReply) -> HttpReply:
        return replace(reply, headers={**reply.headers, **GENERIC_HEADER})

    def refuse(self, body: Mapping[str, Any], refusal: Refusal) -> HttpReply:
        """Return a refusal in the provider's error shape."""
        context = self.context(body)
        error = refusals.error_body(context, refusal)
        fitting = TEXT_TYPE if isinstance(error, str) else JSON_TYPE
        claimed = context.claim_values("error.content-type")
        kind = str(fitting if fitting in claimed else next(iter(claimed), fitting))
        content = error.encode() if isinstance(error, str) else orjson.dumps(error)
        if body.get("stream") is True and context.is_true("error.data-prefix"):
            content = b"data: " + content + b"\n\n"
        return HttpReply(refusal.status, content, headers(kind))

    def reject(self, body: Mapping[str, Any], violation: RuleViolation, raw: bytes | None = None) -> HttpReply:
        """Refuse a request because of a fault: as claimed, or in the simulator's words; `raw` is the request's text."""
        finding, refusal = violation.finding, violation.refusal
        text = f"{finding.message} at {finding.at.partition('/request')[2] or '(root)'}"
        if refusal is None:
            return self.invalid(body, text)
        if refusal.message is None and refusal.body is None:
            return self._marked(self.refuse(body, replace(refusal, message=f"{text} {refusals.GENERIC}")))
        return self.refuse(body, worded(refusal, finding, body, raw))

    def models(self) -> HttpReply:
        """Return the list of the models that the profile names and that are still served."""
        return as_json(200, {"object": "list", "data": [self._model(name) for name in self.model_names()]})

    def model(self, name: str) -> HttpReply:
        """Return one model of the list, or the provider's answer to an unknown one."""
        return as_json(200, self._model(name)) if name in self.model_names() else self.unknown_model({"model": name})

    def unknown_model(self, body: Mapping[str, Any]) -> HttpReply:
        """Refuse a model that does not exist, as claimed; with status 404 if nothing is claimed."""
        context = self.context(body)
        claimed = context.claims.get("request.unknown-model")
        if isinstance(claimed, Mapping):
            return self.refuse(body, refusals.of_claim(claimed, {"model": body["model"]}))
        status = int(context.claim("http.unknown-model-status", 404))
        return self.generic(body, status if status >= 400 else 404, f"the model {body['model']!r} does not exist")

    def malformed(self, error: InvalidDocument, raw: bytes) -> HttpReply:
        """Refuse a body that is not JSON, as claimed."""
        claimed = self.context({}).claims.get("request.malformed-json")
        if not isinstance(claimed, Mapping):
            return self.invalid({}, f"the request body is not JSON: {error.message} (line {error.line or 1})")
        line, column = syntax_error_position(raw)
        return self.refuse({}, refusals.of_claim(claimed, {"reason": error.message, "line": line, "column": column}))

    def model_names(self) -> tuple[str, ...]:
        """Return the names of the models that the profile lists and that are still served."""
        profile = self.profile
        named = {*(model.name for model in profile.models if not _GLOB.search(model.name)), profile.model}
        return tuple(sorted([name for name in named if name and profile.is_served(name)]))

    def _model(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": members.CREATED, "owned_by": self.profile.name}

    def _checked(self, body: Mapping[str, Any], reply: HttpReply) -> HttpReply:
        """Return a reply to a request, or an error if it breaks a rule."""
        content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
        streamed = not isinstance(reply.body, bytes)
        said = content.decode() if streamed else orjson.loads(content)
        sent = Exchange.of_plain(body, said, 200, streamed, reply.headers, url=PATH, model=model_of(dict(body)))
        broken = [
            f"{outcome.rule}: {outcome.reason or outcome.findings[0].message}"
            for outcome in judge_last((sent,), self.profile, _of_providers()).found()
            if outcome.status in (Status.FAILED, Status.ERRORED)
            and outcome.level is Level.MUST
            and outcome.rule not in self.broken
        ]
        if broken:
            text = f"the simulator was about to break its own rules, which is a bug of this project: {broken}"
            return as_json(500, {"error": {"message": text, "type": SIMULATOR_ERROR}})
        return reply


def derived(context: ReplyContext, turn: ScriptTurn) -> HttpReply:
    """Return the reply that is a turn of the script, which is not checked."""
    choices = replies.choices(context, turn)
    if not context.streams:
        blank = b"\n\n" if context.is_true("reply.leading-whitespace") else b""
        return HttpReply(200, blank + orjson.dumps(replies.body(context, choices)), headers(JSON_TYPE))
    kind = str(context.claim("stream.content-type", STREAM_TYPE))
    if turn.raw:
        made = [NativeEvent("", each) for each in chunks.events(context, choices)]
        events = tuple(map(event_bytes, faulty.with_named(turn.raw, CHAT, made)))
    else:
        text = chunks.text(context, choices)
        events = tuple([event.encode() for event in _EVENT.split(text) if event])
    return HttpReply(200, events, headers(kind))
