"""Further odd servers: reasoning under a name that a native wire has not, streams alone, marks of byte order."""

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from conformance import load_profile
from conformance.discovery.discovering import Discovery, discover
from conformance.discovery.interview import Interview
from conformance.discovery.unread import without
from conformance.simulator import Simulator, remembering
from conformance.suite.options import on_wire
from conformance.wire.exchange import Exchange
from conformance.wire.native import OWN
from conformance.wires import by_name
from tests.in_process import InProcess
from tests.loops import every
from tests.sampling import some
from tests.test_discover_odd import CASES, LIMIT, Ask, played_back, rule_of, simulator

THOUGHT = "The user wants one thing and I know what to do."
PROVIDERS = {"messages": "anthropic", "responses": "openai", "gemini": "gemini"}


@dataclass(frozen=True)
class Odd:
    """A server whose replies carry `held` in their native list, plain, and the events of it in streams."""

    wire: str
    held: Mapping[str, Any]
    events: tuple[Mapping[str, Any], ...] = ()
    required: bool = False
    thinks: str = "reasoning"

    @property
    def name(self) -> str:
        return f"{self.wire} {json.dumps(self.held)[:40]} {self.required}"


def _streamed(kind: str, key: str) -> tuple[Mapping[str, Any], ...]:
    return (
        {"type": "content_block_start", "index": 0, "content_block": {"type": kind, key: ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", key: THOUGHT[:20]}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", key: THOUGHT[20:]}},
        {"type": "content_block_stop", "index": 0},
    )


ODD = (
    Odd("messages", {"type": "reasoning", "text": THOUGHT}, _streamed("reasoning", "text")),
    Odd("messages", {"type": "reasoning_content", "reasoning_content": THOUGHT}, required=True),
    Odd("messages", {"type": "notes", "notes": THOUGHT}, required=True),
    Odd("messages", {"type": "notes", "notes": THOUGHT}, thinks="text"),
    Odd("responses", {"type": "thinking", "id": "th_1", "text": THOUGHT}, required=True),
    Odd("gemini", {"reasoning": THOUGHT}, required=True),
    Odd("gemini", {"scratch": THOUGHT}, thinks="text"),
)


def _list_of(wire: str, reply: dict[str, Any]) -> list[Any]:
    """Return the list of what a native reply says."""
    if wire == "gemini":
        reply = reply["candidates"][0]["content"]
    found: list[Any] = reply[{"gemini": "parts", "messages": "content"}.get(wire, "output")]
    return found


def _asked(odd: Odd, body: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a native request without the foreign text, and whether a tool turn lacks it."""
    native = by_name(odd.wire).write(body)
    listed = native["messages" if odd.wire == "messages" else "input" if odd.wire == "responses" else "contents"]
    texts = json.dumps(listed)
    calls = any([word in texts for word in ('"tool_use"', '"function_call"', '"functionCall"')])
    return without(copy.deepcopy(native), THOUGHT), calls and THOUGHT not in texts


def _with(odd: Odd, got: Exchange, native: dict[str, Any]) -> Exchange:
    """Return an exchange whose reply has the foreign text first."""
    received = got.as_received
    response: Any = copy.deepcopy(received.response)
    if received.status == 200 and isinstance(response, dict):
        _list_of(odd.wire, response).insert(0, dict(odd.held))
    elif received.status == 200 and odd.events:
        first, *rest = str(response).split("\n\n")
        added = [f"event: {each['type']}\ndata: {json.dumps(each)}" for each in odd.events]
        rest = [_moved(each) for each in rest]
        response = "\n\n".join([first, *added, *rest])
    made = Exchange.of_plain(
        native, response, received.status, received.streamed, dict(received.headers), received.url, received.model
    )
    return by_name(odd.wire).translate_one(made)


def _moved(event: str) -> str:
    """Return an event whose block is one further."""
    name, _, data = event.partition("data: ")
    value = json.loads(data) if data else {}
    if "index" in value:
        value["index"] += 1
    return f"{name}data: {json.dumps(value)}" if data else event


@contextmanager
def serving(odd: Odd) -> Iterator[tuple[Ask, str]]:
    claims = {"thinking.mode": "never", "reasoning.response-field": "none", "signature.omitted": "accepted"}
    provider = load_profile(PROVIDERS[odd.wire])
    section = on_wire(provider, odd.wire).with_claims(claims)
    words = "the reasoning of a tool turn must come back"
    with InProcess(remembering(Simulator(section)), odd.wire) as client:

        def ask(body: Mapping[str, Any]) -> Exchange:
            native, lacks = _asked(odd, body)
            got = client.send_once({**body, OWN: native})
            if lacks and odd.required and got.status == 200:
                refused = by_name(odd.wire).writing.reply({"error": {"message": words, "type": "invalid_request"}}, {})
                made = Exchange.of_plain(native, refused, 400, url=got.as_received.url, model=got.model)
                return by_name(odd.wire).translate_one(made)
            return _with(odd, got, by_name(odd.wire).write(body))

        yield ask, section.model


def found_of(odd: Odd, ask: Ask, model: str) -> Discovery:
    return discover(Interview(ask, LIMIT, wire=odd.wire, cases=CASES[2:4]), model)


@pytest.mark.slow
@every("odd", some(ODD, 3, name=lambda each: each.name, mark=pytest.mark.exhaustive))
def test_reasoning_under_a_foreign_name_of_a_native_wire_is_tried_and_said(odd: Odd) -> None:
    with serving(odd) as (ask, model):
        found = found_of(odd, ask, model)
        said = found.open["reasoning.response-field"]
        key = next(key for key, value in odd.held.items() if value == THOUGHT)
        kind = f"{odd.held['type']}.{key}" if "type" in odd.held else key
        assert f"replies carry {'text' if odd.thinks == 'text' else 'reasoning'} in {kind}, which" in said
        assert "sent back alone it is answered with HTTP 200" in said
        assert "in a tool turn with HTTP 200" in said
        without_it = "HTTP 400 (the reasoning of a tool turn must come back)" if odd.required else "HTTP 200"
        assert f"a tool turn without it with {without_it}" in said
        assert ("streams carry it in reasoning_delta.text" in said) is bool(odd.events)
        thinks = found.claims.get("thinking.mode")
        assert (thinks is not None and thinks.value == "default-on") is (odd.thinks == "reasoning")
        assert found.broken == []
        assert list(dict.fromkeys(played_back(found.profile(), ask, model))) == []


def _streams_alone() -> Ask:
    return rule_of(simulator({}).send, lambda body: "" if body.get("stream") is True else "set stream to true")


def _marked() -> Ask:
    inner = simulator({}).send

    def send(body: Mapping[str, Any]) -> Exchange:
        got = inner(body)
        text = got.response if isinstance(got.response, str) else json.dumps(got.response)
        return _with_text(got, f"\ufeff{text}")

    return send


def _with_text(got: Exchange, text: str) -> Exchange:
    return Exchange.of_plain(got.request, text, got.status, got.streamed, dict(got.headers), model=got.model)


@pytest.mark.slow
def test_a_server_with_streams_alone_gets_a_profile_that_holds() -> None:
    found = discover(Interview(_streams_alone(), LIMIT, cases=CASES), "m")
    (conflict,) = found.claims["request.conflicts"].value
    assert [{"at": "/stream", "not-in": [True]}] == conflict["when"]
    assert (400, "set stream to true") == (conflict["verdict"]["status"], conflict["verdict"]["message"])
    assert ([], True) == (found.broken, found.claims["tools.supported"].value)
    assert [] == list(played_back(found.profile(), _streams_alone()))


@pytest.mark.slow
def test_a_byte_order_mark_is_said_once_and_the_rest_is_profiled() -> None:
    found = discover(Interview(_marked(), LIMIT, cases=CASES), "m")
    (broken,) = found.broken
    assert "replies begin with a byte order mark" in broken
    assert len(found.claims) > 60
    assert found.claims["tools.supported"].value is True
