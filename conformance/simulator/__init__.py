"""The simulated strict provider: it refuses what its profile says it refuses, and otherwise replies by a script.

`/s/<scenario>/v1` plays one scenario. `/v1` recognizes a scenario by its user messages, and answers any other request
as well. Refusals come from the rule set, so `check` predicts what a client gets. The simulator keeps no state: it
derives its earlier replies of a scenario again, and so notices what a client changed. Only for the wire of Responses,
where a server stores its replies, it keeps the last ones. `simulator.sessions` records requests instead, and refuses
none unless it is strict.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import orjson

from conformance import scenarios
from conformance.caches import remembered
from conformance.documents import parse_json
from conformance.errors import InvalidDocument, UnknownName, Unusable
from conformance.faults import ServerFault
from conformance.profiles import Claims, Profile
from conformance.scenarios import Scenario, ScriptTurn
from conformance.simulator import replies, script, wire_requests
from conformance.simulator.answers import MAX_TEXT, Accepted, AnswerMemory, RequestForm, form_of, points_into_messages
from conformance.simulator.beside import answer_beside
from conformance.simulator.faulty import with_faults
from conformance.simulator.histories import Histories, RequestHistory
from conformance.simulator.http import divided, not_found, other_method, parts_of, to_exchange, wire_at
from conformance.simulator.outlines import ReplyMemory, outline
from conformance.simulator.parameters import Parameters, read_parameters
from conformance.simulator.reply_context import ReplyContext
from conformance.simulator.responder import BROKEN_BY_SCRIPT, Responder, derived
from conformance.simulator.store import ReplyStore
from conformance.simulator.strictness import first_violation
from conformance.transport.client import SIMULATOR_ERROR
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serve, serving
from conformance.wire.exchange import Conversation, Exchange, model_of
from conformance.wire.native import CHAT
from conformance.wires import Wire, by_name

UNKNOWN_MODEL: Final = "no-such-model"
"""The model that no simulated provider has; every other name is taken for a model that it has."""

_ENDPOINT: Final = "/v1/chat/completions"
_KEEPING: Final = "/responses"
_STORED: Final = re.compile(r"/responses/(?P<id>[^/]+)")
_REMEMBERED_BYTES: Final = 8 * 1024 * 1024
_SMALL_REQUEST: Final = 32 * 1024


@dataclass(frozen=True, slots=True)
class Simulator:
    """A provider that behaves as its profile claims.

    `store`: what it keeps for wires whose requests refer to it. `memory`: its last replies, to derive and check each
    once. `answers`: what replies to requests of one form have in common; None to judge each. `histories`:
    what is known of requests that others go on with. `find`: returns the scenario of a request, if it has one.
    """

    profile: Profile
    store: ReplyStore = field(default_factory=ReplyStore, compare=False, repr=False)
    memory: ReplyMemory | None = field(default_factory=ReplyMemory, compare=False, repr=False)
    answers: AnswerMemory | None = field(default_factory=AnswerMemory, compare=False, repr=False)
    histories: Histories | None = field(default_factory=Histories, compare=False, repr=False)
    find: Callable[[Mapping[str, Any]], Scenario | None] = field(
        default=script.find_scenario, compare=False, repr=False
    )

    def answer(self, request: HttpRequest) -> HttpReply:
        """Return the reply to any HTTP request; never raises, whatever a client sends."""
        path = request.path.partition("?")[0]
        if path == "*":
            return other_method(request.method, "GET, HEAD, POST")
        name, served = divided(path)
        try:
            scenario = None if name is None else scenarios.load(unquote(name))
        except UnknownName as error:
            return not_found(str(error))
        return self._at(served, request, scenario)

    def _at(self, path: str, request: HttpRequest, scenario: Scenario | None) -> HttpReply:
        """Return the reply at a path without scenario and version."""
        wire = wire_at(path)
        if wire is None or "upgrade" in request.headers:
            beside = answer_beside(path, request, Responder(self.profile))
            if beside is not None:
                return beside
        if found := _STORED.fullmatch(path):
            return wire_requests.answer_stored(
                request.method, unquote(found["id"]), self.store, Responder(self.profile)
            )
        if wire is None:
            text = f"this is a simulated chat completions endpoint; POST to {_ENDPOINT} or /s/<scenario>{_ENDPOINT}"
            return not_found(text)
        if request.method != "POST":
            return other_method(request.method, "POST")
        return self._completion(request, scenario, wire)

    def _completion(self, request: HttpRequest, scenario: Scenario | None, wire: Wire) -> HttpReply:
        profile = self.profile.on(wire.name)
        on_wire = self
        if profile is not self.profile:
            on_wire = Simulator(profile, self.store, self.memory, self.answers, self.histories, self.find)
        if self.histories is None:
            return on_wire._completed(request, scenario, wire, None)
        with self.histories.of(wire, profile, request.body) as history:
            return on_wire._completed(request, scenario, wire, history)

    def _completed(
        self, request: HttpRequest, scenario: Scenario | None, wire: Wire, history: RequestHistory | None
    ) -> HttpReply:
        body = _read(request, Responder(self.profile), parse_json if history is None else history.parse)
        if isinstance(body, HttpReply):
            return wire_requests.refused(wire, request.path, body)
        has_form = self.answers is not None and scenario is None and len(request.body) <= MAX_TEXT
        form = form_of(request.path, body) if has_form else None
        if form is not None and (known := self._known(form, wire, request.path, body)) is not None:
            return known
        planned: list[_Planned] = []

        def given(translated: dict[str, Any], asked: wire_requests.Asked | None) -> HttpReply:
            found = self._planned(translated, scenario, request.body, asked, history)
            if isinstance(found, HttpReply):
                return found
            planned.append(found)
            return found.reply(is_clean=history is not None and history.is_clean)

        reply = wire_requests.answer(wire, request.path, body, given, self._kept(wire, body), history=history)
        if form is not None and planned and reply.status == 200:
            self._learn(form, wire, request.path, planned[0], reply)
        return reply

    def _kept(self, wire: Wire, body: dict[str, Any]) -> tuple[ReplyStore, Claims] | None:
        """Return what the server keeps on a wire, and the claims that say whether requests may refer to it."""
        return (self.store, self.profile.at(model_of(body), "")) if wire.keeps_replies else None

    def _known(self, form: RequestForm, wire: Wire, path: str, body: dict[str, Any]) -> HttpReply | None:
        """Return the reply to a request if it can be made of one to a request of the same form; else None."""
        memory = self.answers
        accepted = None if memory is None else memory.find(form, self.profile)
        if memory is None or accepted is None:
            return None
        if wire.name == CHAT:
            found = self.find(body)
            return None if found is not None else memory.reply(form, self.profile, accepted.context(body))
        kept = self._kept(wire, body)
        if kept is not None and wire_requests.parent_of(body, *kept):
            return None
        if accepted.messages is not None and self.find is script.find_scenario:
            asked: dict[str, Any] = {"messages": accepted.said(form.words), "stream": False}
        else:
            translated, _ = wire_requests.translated(wire, path, body, kept)
            asked = {**translated.request, "stream": False}
        if self.find(asked) is not None:
            return None
        context = accepted.context(asked, lambda given: wire.writing.named(given, body))
        reply = memory.reply(form, self.profile, context)
        return reply if reply is None or kept is None else _stored(reply, self.store, path, body)

    def _learn(self, form: RequestForm, wire: Wire, path: str, planned: "_Planned", reply: HttpReply) -> None:
        """Remember how a request was answered, unless that depends on more than its form and some values."""
        context, asked = planned.context, planned.asked
        if self.answers is None or planned.is_special or points_into_messages(context.claims):
            return
        accepted = Accepted(self.profile, context.claims, planned.body["model"], context.thinks, context.parameters)
        drawn = outline(planned.body)
        if asked is None:
            self.answers.learn(form, accepted, context, drawn, planned.derive, reply.__eq__)
            return
        body: Any = asked.native.request
        claims = None if asked.store is None else context.claims

        def derive(context: ReplyContext) -> HttpReply:
            made = wire_requests.as_native(wire, path, body, planned.derive(context), claims, streams=asked.streams)
            if asked.store is None or not asked.streams:
                return made.reply
            # What the server keeps is the whole reply, of which the events are made.
            return replace(made.reply, body=(orjson.dumps(made.made), *parts_of(made.reply)))

        def is_right(made: HttpReply) -> bool:
            is_whole = asked.store is None or not asked.streams
            return reply == (made if is_whole else replace(made, body=tuple(parts_of(made)[1:])))

        named = replace(context, named=lambda given: wire.writing.named(given, body))
        self.answers.learn(form, accepted, named, drawn, derive, is_right)

    def send(self, body: Mapping[str, Any]) -> Exchange:
        """Return the exchange of one request of chat completions, as a client that uses HTTP would record it.

        It is sent on the wire of the profile. Raises Unusable if the simulator itself is at fault.
        """
        sent = self._sent(body)
        if sent.status == 500 and SIMULATOR_ERROR in str(sent.response):
            raise Unusable(str(sent.response))
        return sent

    def _sent(self, body: Mapping[str, Any]) -> Exchange:
        if self.profile.wire == CHAT:
            return to_exchange(dict(body), self.reply(body), model_of(dict(body)))
        wire = by_name(self.profile.wire)
        native, path = wire.writing.request(body), wire.path(body)
        request = HttpRequest("POST", path, {}, orjson.dumps(native))
        return wire.translate_one(to_exchange(native, self.answer(request), model_of(dict(body)), path))

    def reply(
        self,
        body: Mapping[str, Any],
        scenario: Scenario | None = None,
        raw: bytes | None = None,
        asked: wire_requests.Asked | None = None,
    ) -> HttpReply:
        """Return the reply to a request body: a refusal, or the next turn of the script; `raw` is its JSON text.

        `asked` is what the request was on its own wire, if the body is a translation.
        """
        found = self._planned(body, scenario, raw, asked)
        return found if isinstance(found, HttpReply) else found.reply()

    def _planned(
        self,
        body: Mapping[str, Any],
        scenario: Scenario | None,
        raw: bytes | None,
        asked: wire_requests.Asked | None,
        history: RequestHistory | None = None,
    ) -> "HttpReply | _Planned":
        """Return a refusal, or what the reply to a request will be; `history` is what is known of its session.

        The other arguments are those of `reply`.
        """
        native = None if asked is None else asked.native
        exchange = Exchange.of_plain(request=body, url=_ENDPOINT, model=model_of(dict(body)), native=native)
        played = (scenario or self.find(body)) if isinstance(body.get("messages"), list) else None
        responder = Responder(self.profile, memory=self.memory)
        if played is not None and played.for_clients:
            responder = Responder(self.profile.with_claims(played.claims), frozenset(played.breaks))
        claims = responder.profile.at(exchange.model, "")
        parameters = read_parameters(body, claims)
        if asked is None or asked.before is None:
            before = _earlier_exchanges(responder, exchange, played, parameters)
        else:
            before = asked.before
        violation = None
        if history is None or before or played is not None or not history.accepts(exchange):
            before = before if asked is None or asked.led is None else asked.led()
            violation = first_violation((*before, exchange), responder.profile)
        if violation is not None:
            return responder.reject(body if native is None else native.request, violation, raw)
        if exchange.model == UNKNOWN_MODEL:
            return responder.unknown_model(body)
        missing = None if asked is None else wire_requests.missing(asked, claims)
        if missing is not None:
            return wire_requests.refuse(missing, body, responder)
        if isinstance(parameters, str):
            return responder.unable(body, parameters)
        turn = _turn(body, played, claims, parameters)
        if isinstance(turn, str):
            return responder.unable(body, turn)
        named = {**body, "model": exchange.model or self.profile.model or "simulated"}
        if not script.is_demand_met(body, claims):
            # No claim refuses the demand, and no reply can meet it.
            responder = replace(responder, broken=responder.broken | BROKEN_BY_SCRIPT)
        is_special = played is not None or bool(before) or body.get("response_format") is not None
        return _Planned(responder, named, turn, responder.context(named, parameters=parameters), asked, is_special)


class _Planned(NamedTuple):
    """A reply that is not derived yet: to a request that was accepted, with the model that it names.

    `is_special`: it may depend on the words of the user.
    """

    responder: Responder
    body: Mapping[str, Any]
    turn: ScriptTurn
    context: ReplyContext
    asked: wire_requests.Asked | None
    is_special: bool

    def reply(self, *, is_clean: bool = False) -> HttpReply:
        """Return the reply, checked; `is_clean`: the request is known to hold no replacement character."""
        return self.responder.reply(self.body, self.turn, self.context, is_clean=is_clean)

    def derive(self, context: ReplyContext) -> HttpReply:
        """Return the reply in a context, which is not checked."""
        return derived(context, self.turn)


def _stored(reply: HttpReply, store: ReplyStore, path: str, body: Mapping[str, Any]) -> HttpReply:
    """Return a reply as it is sent; a stream begins with what the server keeps, which is the whole reply."""
    whole, *events = parts_of(reply)
    store.add(path, body, whole, b"".join(events), "")
    return replace(reply, body=tuple(events)) if events else reply


def _read(
    request: HttpRequest, responder: Responder, parse: Callable[[bytes, str], Any] = parse_json
) -> dict[str, Any] | HttpReply:
    """Return the body of a request, or the refusal of one that is not a JSON object."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if not (kind == "application/json" or kind.endswith("+json")):
        return responder.generic({}, 415, f"expected content-type application/json, got {kind!r:.80}")
    try:
        body = parse(request.body, "request body")
    except InvalidDocument as error:
        return responder.malformed(error, request.body)
    return body if isinstance(body, dict) else responder.invalid({}, "expected a JSON object as the request body")


def _turn(body: Mapping[str, Any], played: Scenario | None, claims: Claims, parameters: Parameters) -> ScriptTurn | str:
    """Return the turn that a request gets, or why it gets none."""
    turn = script.formatted(script.next_turn(body, played, claims), parameters)
    if turn is None:
        return "no value that obeys the schema in response_format was found"
    if script.length(turn, parameters) > script.MAX_CHARACTERS:
        return f"the simulator's replies have at most {script.MAX_CHARACTERS} characters in all choices"
    return turn


def _earlier_exchanges(
    responder: Responder, exchange: Exchange, played: Scenario | None, parameters: Parameters | str
) -> Conversation:
    """Return the exchanges that must have led to a request of a scenario; none if they cannot be known."""
    if played is None or isinstance(parameters, str):
        return ()
    exchanges = []
    for request in script.earlier_requests(exchange.request):
        context = responder.context(request, parameters=parameters)
        turn = script.next_turn(request, played, context.claims)
        reply = replies.body(context, replies.choices(context, turn))
        earlier = Exchange.of_plain(request, reply, 200, model=exchange.model)
        exchanges.append(earlier if exchange.native is None else wire_requests.earlier(exchange.native, earlier))
    return tuple(exchanges)


@contextmanager
def simulated(
    profile: Profile, host: str = "127.0.0.1", port: int = 0, faults: Sequence[ServerFault] = ()
) -> Iterator[str]:
    """Serve the simulator of a provider in the background and yield its URL, without `/v1`; its replies have faults."""
    with serving(with_faults(remembering(Simulator(profile)), faults), host, port) as url:
        yield url


def serve_simulator(
    profile: Profile, host: str, port: int, announce: Callable[[str], None], faults: Sequence[ServerFault] = ()
) -> None:
    """Serve the simulator of a provider in the foreground until interrupted; `announce` gets its URL, without `/v1`.

    Its replies have the faults.
    """
    serve(with_faults(remembering(Simulator(profile)), faults), host, port, announce)


def remembering(simulator: Simulator) -> Callable[[HttpRequest], HttpReply]:
    """Return the answers of a simulator, with those to the last small requests remembered.

    Load tests, retries and repeated test runs send the same bytes again and again, and checking costs most of a reply.
    What depends on the replies that the simulator keeps is never remembered.
    """

    @remembered(_REMEMBERED_BYTES, _size)
    def answer(method: str, path: str, content_type: str | None, body: bytes) -> HttpReply:
        headers = {} if content_type is None else {"content-type": content_type}
        return simulator.answer(HttpRequest(method, path, headers, body))

    def remembered_answer(request: HttpRequest) -> HttpReply:
        if len(request.body) > _SMALL_REQUEST or request.method != "POST" or _KEEPING in request.path:
            # Headers tell the wire of a request without a body.
            return simulator.answer(request)
        return answer(request.method, request.path, request.headers.get("content-type"), request.body)

    return remembered_answer


def _size(reply: HttpReply) -> int:
    """Return about how many bytes a reply takes; each chunk of a stream is an object of its own."""
    return len(reply.body) if isinstance(reply.body, bytes) else sum([len(each) + 64 for each in reply.body])
