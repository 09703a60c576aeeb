"""Every rule has a broken peer that it catches: its bad examples, played over real HTTP on loopback.

A rule of the provider's side meets a server that answers as the example does; a rule of the client's side meets a
client that sends what the example sends, and is judged by what arrived.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import orjson
import pytest

from conformance import rules
from conformance.judge import check
from conformance.profiles import of
from conformance.results import Status
from conformance.rules import Example, Rule
from conformance.transport.client import Client, Endpoint
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.native import CHAT
from conformance.wire.views import Side
from conformance.wires import is_native
from tests.loops import every

PLAIN = 4
"""A plain run plays the first bad example of one rule in so many."""


class Peers:
    """A server that answers each request with the next scripted exchange, and keeps what arrived."""

    def __init__(self) -> None:
        self.script: list[Exchange] = []
        self.arrived: list[Exchange] = []

    def answer(self, asked: HttpRequest) -> HttpReply:
        scripted = self.script.pop(0)
        body = scripted.response if isinstance(scripted.response, str) else None
        raw = body.encode() if body is not None else orjson.dumps(scripted.response)
        exchange = Exchange(orjson.loads(asked.body), scripted.response, scripted.status, scripted.streamed)
        self.arrived.append(exchange)
        return HttpReply(scripted.status or 200, raw, scripted.headers)


@pytest.fixture(scope="module")
def wire() -> Iterator[tuple[Peers, Client, str]]:
    peers = Peers()
    with ExitStack() as stack:
        url = stack.enter_context(serving(peers.answer))
        yield peers, stack.enter_context(Client(Endpoint(url))), url


def bad_examples() -> Sequence[object]:
    return [
        pytest.param(
            rule, example, id=f"{rule.id}-{number}", marks=[pytest.mark.slow] if number or place % PLAIN else []
        )
        for place, rule in enumerate(rules.load())
        for number, example in enumerate(rule.bad)
    ]


def play_natively(conversation: Conversation, peers: Peers, url: str) -> tuple[Conversation, Conversation]:
    """Return a conversation of another wire as a plain HTTP client saw it, and as the server saw it."""
    peers.script, peers.arrived = list(conversation), []
    seen = []
    for exchange in conversation:
        path = urlsplit(exchange.url).path
        reply = httpx.post(f"{url}{path}", json=exchange.request, trust_env=False)
        seen.append(
            Exchange(exchange.request, reply.content, reply.status_code, headers=reply.headers, url=exchange.url)
        )
    arrived = [replace(each, url=exchange.url) for each, exchange in zip(peers.arrived, conversation, strict=True)]
    return tuple(seen), tuple(arrived)


def play(conversation: Conversation, peers: Peers, client: Client) -> tuple[Conversation, Conversation]:
    """Return the conversation as the client saw it, and as the server saw it."""
    peers.script, peers.arrived = list(conversation), []
    seen = tuple(client.send_once(exchange.request or {}) for exchange in conversation)
    return seen, tuple(peers.arrived)


@every(("rule", "example"), bad_examples())
def test_a_broken_peer_is_caught_by_the_rule_over_http(
    rule: Rule, example: Example, wire: tuple[Peers, Client, str]
) -> None:
    peers, client, url = wire
    conversation = example.conversation()
    # The suite's client sends objects alone, and only on chat completions.
    is_chat = CHAT in rule.wires and not any(map(is_native, conversation))
    if is_chat and all(isinstance(each.request, dict | None) for each in conversation):
        by_client, by_server = play(conversation, peers, client)
    else:
        by_client, by_server = play_natively(conversation, peers, url)
    judged = by_client if rule.on.side is Side.PROVIDER else by_server
    (outcome,) = check(judged, of(example.claims) if example.claims else None, [rule])
    assert Status.FAILED is outcome.status, outcome.reason
