"""The turns of a scenario, played by its user: what the client sends next, and when the conversation is over."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from conformance import profiles
from conformance.convert import egress, ingress
from conformance.errors import Unusable
from conformance.markup.reading import ReadCall
from conformance.observations.replies import reasoning_fields, whole_message
from conformance.profiles import UNKNOWN, Profile
from conformance.results import ENDED_BY_MODEL, INCONCLUSIVE, Evidence
from conformance.scenarios import Scenario, ScriptTurn, tool_definitions
from conformance.suite.echoes import forced
from conformance.suite.endings import Cause, cause_of_end
from conformance.suite.nonces import filled
from conformance.suite.sent_back import OwnTurn, with_own_turns
from conformance.transport.client import Inconclusive
from conformance.wire.arguments import encode
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

Send: TypeAlias = Callable[[Mapping[str, Any]], Exchange]

NO_RESULT = "There is nothing to say about that."
"""The tool message for a call that has no result in the script."""

MAX_TOKENS: Final = 2048
"""The smallest token limit of a reply: enough for reasoning and some calls."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The model of a provider under test, and how to send it requests.

    `send_probe` sends that of a probe, by its name; None: as any other request.
    """

    profile: Profile
    model: str
    send: Send
    evidence: Evidence
    send_probe: Callable[[str, Mapping[str, Any]], Exchange] | None = None

    def sender(self, probe: str) -> Send:
        """Return what sends the request of a probe."""
        return self.send if self.send_probe is None else partial(self.send_probe, probe)

    @property
    def claims(self) -> Mapping[str, Any]:
        """Return what the profile claims about this model."""
        return self.profile.at(self.model, "")


@dataclass(slots=True)
class Progress:
    """A scenario while it is played: the canonical transcript and the exchanges so far.

    `bodies` are the requests as they were given to the sender, and `sources` are, for each of them, the messages of the
    transcript that its messages were made from, one for one. `own`: what the replies said, by their position in the
    transcript. `changes` say in words what of a reply was not sent back as it came. `silent` are the turns whose calls
    came without reasoning, asked twice, though the model thinks.
    """

    transcript: list[dict[str, Any]]
    exchanges: list[Exchange] = field(default_factory=list)
    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    sources: list[list[dict[str, Any]]] = field(default_factory=list)
    own: dict[int, OwnTurn] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    note: str = ""
    silent: list[int] = field(default_factory=list)

    @property
    def is_inconclusive(self) -> bool:
        """Return True if the endpoint was busy or failed before the scenario ended."""
        return self.note.startswith(INCONCLUSIVE)

    @property
    def called(self) -> Sequence[Mapping[str, Any]]:
        """Return the calls that the last message of the transcript makes."""
        return self.transcript[-1].get("tool_calls", ()) if self.transcript else ()


def converse(scenario: Scenario, variant: str, subject: Subject) -> Progress:
    """Play the turns of a scenario, without its probes and without checking the replies."""
    scenario = filled(scenario, variant)
    system = [{"role": "system", "content": scenario.system}] if scenario.system else []
    progress = Progress([*system, *map(dict, scenario.history)])
    leaked = ""
    for number, turn in enumerate(scenario.turns, 1):
        cause = _early_end(turn, progress, subject)
        if cause is not None and cause.calls:
            # What follows is judged, too, but the turn stays failed: the calls were no calls.
            leaked = leaked or f"ended at turn {number - 1}: {cause.words}"
            _read_calls(number, cause.calls, progress)
        elif cause is not None:
            progress.note = _note(number, cause)
            break
        progress.transcript += _client_messages(turn, progress.called)
        body = _body(scenario, variant, _messages(progress, subject), subject)
        body |= forced(turn, body, subject.profile)
        try:
            exchange = _with_reasoning(subject.send(body), body, number, turn, progress, subject)
        except Inconclusive as error:
            progress.note = f"{INCONCLUSIVE}: {error}"
            break
        progress.exchanges.append(exchange)
        progress.bodies.append(body)
        index = Index((exchange,))
        if not index.replies:
            progress.note = f"ended at turn {number}: HTTP {exchange.status}: {exchange.response!r:.400}"
            break
        if (reported := next((stream.value.error for stream in index.streams), None)) is not None:
            progress.note = f"ended at turn {number}: an error came inside the stream: {reported!r:.400}"
            break
        message = whole_message(index.replies[0], subject.claims)
        progress.own[len(progress.transcript)] = OwnTurn.of(exchange, message)
        progress.transcript.append(ingress.read(message, subject.claims))
    progress.note = leaked or progress.note
    return progress


def _messages(progress: Progress, subject: Subject) -> list[dict[str, Any]]:
    """Return the messages of the next request, with the replies as they came."""
    prepared = egress.prepare(progress.transcript, subject.claims)
    messages, changes = with_own_turns(prepared, progress.transcript, progress.own, subject.profile.wire)
    progress.sources.append([progress.transcript[origin] for origin in prepared.origins])
    progress.changes += [change for change in changes if change not in progress.changes]
    return messages


def _early_end(turn: ScriptTurn, progress: Progress, subject: Subject) -> Cause | None:
    """Return why a scenario ends before a turn; None if it goes on."""
    if not progress.exchanges:
        return None
    exchange = progress.exchanges[-1]
    reply = Index((exchange,)).replies[0]
    if not reply.complete and subject.claims.get("finish.missing-in-stream") is True:
        reply = reply._replace(complete=True)
    return cause_of_end(exchange, reply, calls_expected=bool(turn.results))


def _note(number: int, cause: Cause) -> str:
    before = f"{ENDED_BY_MODEL} {number}" if cause.by_model else f"ended at turn {number - 1}"
    return f"{before}: {cause.words}"


def _read_calls(number: int, calls: Sequence[ReadCall], progress: Progress) -> None:
    """Put the calls that stand in the text of the last reply where calls belong, so that results can be sent."""
    # Nine letters and digits, which every provider takes.
    made = [
        {
            "id": f"call{number:03d}{position:02d}",
            "type": "function",
            "function": {"name": call.name, "arguments": encode(call.arguments)},
        }
        for position, call in enumerate(calls)
    ]
    progress.transcript[-1] = {**progress.transcript[-1], "tool_calls": made}
    progress.own.pop(len(progress.transcript) - 1, None)
    progress.changes.append(f"turn {number - 1}: the calls were read from the text, and the rest was played with them")


def _with_reasoning(
    exchange: Exchange,
    body: Mapping[str, Any],
    number: int,
    turn: ScriptTurn,
    progress: Progress,
    subject: Subject,
) -> Exchange:
    """Return the exchange of a turn, asked again if a thinking model called without reasoning where the script thinks.

    A model may leave reasoning out by chance. If it does so twice, the turn is noted: nothing that depends on its
    reasoning is tested. A replay cannot ask again, unless the recording did.
    """
    if not turn.calls or not turn.thinks or not _must_reason(exchange, subject.claims):
        return exchange
    try:
        again = subject.send(body)
    except (Inconclusive, Unusable):
        again = exchange
    if _must_reason(again, subject.claims):
        progress.silent.append(number)
    return again if Index((again,)).replies else exchange


def _must_reason(exchange: Exchange, claims: Mapping[str, Any]) -> bool:
    """Return True if a reply calls without reasoning, though the claims say that the model thinks and shows it."""
    if not _is_shown(exchange, claims) or profiles.thinks(claims, exchange.request) is not True:
        return False
    return any(reply.calls and not reasoning_fields(reply.message, claims) for reply in Index((exchange,)).replies)


def _is_shown(exchange: Exchange, claims: Mapping[str, Any]) -> bool:
    """Return True if the claims say that a reply to this request shows reasoning, wherever that is."""
    field: Any = claims.get("reasoning.response-field", UNKNOWN)
    switches = claims.get("reasoning.response-field-switches", ())
    for switch in switches if isinstance(switches, list) else ():
        if profiles.matches(switch, exchange.request):
            field = switch["field"]
    return field != UNKNOWN and "none" not in (field if isinstance(field, list) else [field])


def _client_messages(turn: ScriptTurn, called: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the client adds in a turn: the user message, or one result per call in their order."""
    if turn.user is not None:
        yield {"role": "user", "content": turn.user}
    for position, call in enumerate(called):
        text = turn.results[position] if position < len(turn.results) else NO_RESULT
        yield {"role": "tool", "tool_call_id": call["id"], "content": text}


def _body(scenario: Scenario, variant: str, messages: Sequence[Mapping[str, Any]], subject: Subject) -> dict[str, Any]:
    claims = subject.claims
    body: dict[str, Any] = {"model": subject.model, "messages": messages}
    if scenario.tools:
        body["tools"] = [tool_definitions()[name] for name in scenario.tools]
    if variant == "stream":
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    elif claims.get("stream.default") is True:
        body["stream"] = False
    names = claims.get("request.max-tokens-fields")
    if names != []:
        body[names[0] if isinstance(names, list) else "max_tokens"] = max_reply_tokens(subject.profile)
    switch = claims.get("thinking.on") if "thinking.mode" in scenario.needs else None
    return body | switch if isinstance(switch, dict) else body


def max_reply_tokens(profile: Profile) -> int:
    """Return the token limit of a reply."""
    return max(MAX_TOKENS, profile.max_tokens or 0)
