"""The client before a gateway: it sends a request of chat completions on the wire of the front, and repeats replies.

What a reply said goes back as it came, in the form of its own wire, so that only the gateway can lose something.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.errors import Unusable
from conformance.gateways.nonces import Nonces, described
from conformance.scenarios import Scenario, ScriptTurn, tool_definitions
from conformance.transport.client import Client, Endpoint, UnusableReply
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT, OWN
from conformance.wires import by_name

LIMIT: Final = 4096
"""The token limit of requests: more than the budget of thinking."""

FLAGGING: Final = ("messages",)
"""The wires whose results have a flag that says that the tool failed."""

_NUMBER: Final = "index"
_BLOCKS: Final = "thinking_blocks"
"""The member in which LiteLLM has the signed thinking of Anthropic on chat completions."""

_THINKING: Final[Mapping[str, Mapping[str, Any]]] = {
    "chat": {"reasoning_effort": "medium"},
    "messages": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
    "responses": {"reasoning": {"effort": "medium", "summary": "auto"}},
    "gemini": {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2048}}},
}
"""How a client of each wire asks a model to think."""

Alter = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
"""Changes the messages of a request before they are sent, as a broken client would."""


@dataclass(frozen=True, slots=True)
class Front:
    """Where a gateway is addressed: its base URL, the wire, the model to ask for, and headers that it needs."""

    base_url: str
    wire: str
    model: str
    key: str = field(default="conformance-no-secret", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    seconds: float = 30.0

    @property
    def endpoint(self) -> Endpoint:
        """Return the endpoint that requests go to."""
        return Endpoint(self.base_url, self.key, self.seconds, exclusive=True, wire=self.wire, headers=self.headers)


@dataclass(slots=True)
class PlayedFront:
    """What a client sent and got in a case; `note` says why it ended before the script."""

    exchanges: list[Exchange] = field(default_factory=list)
    note: str = ""


def thinking(wire: str) -> Mapping[str, Any]:
    """Return what makes a model think, as a client of a wire asks for it."""
    return _THINKING[wire]


def converse(
    scenario: Scenario, variant: str, front: Front, nonces: Nonces, alter: Alter = list, more: Mapping[str, Any] = {}
) -> PlayedFront:
    """Play the user of a scenario at the front of a gateway; `more` are further members of each request."""
    played = PlayedFront()
    messages: list[dict[str, Any]] = [{"role": "system", "content": scenario.system}] if scenario.system else []
    messages += [dict(each) for each in scenario.history]
    tools = [described(tool_definitions()[name], nonces) for name in scenario.tools]
    with Client(front.endpoint) as client:
        for turn in scenario.turns:
            messages += _said(turn, messages, front.wire)
            body = request(front, alter(messages), variant, {**({"tools": tools} if tools else {}), **more})
            exchange = send(client, body, played)
            found = Index((exchange,)).replies if exchange is not None else ()
            if exchange is None or not found:
                played.note = played.note or f"ended at turn {len(played.exchanges)}: {_why(exchange)}"
                break
            messages.append(returned(exchange, found[0].message))
    return played


def request(
    front: Front, messages: Sequence[Mapping[str, Any]], variant: str, more: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a request of chat completions with the limit of tokens, and a stream where the variant wants one."""
    body: dict[str, Any] = {"model": front.model, "messages": list(messages), "max_tokens": LIMIT, **more}
    if variant == "stream":
        body |= {"stream": True} | ({"stream_options": {"include_usage": True}} if front.wire == CHAT else {})
    return body


def send(client: Client, body: Mapping[str, Any], played: PlayedFront) -> Exchange | None:
    """Return the exchange of a request and keep it; None, with a note, if nothing was received."""
    try:
        exchange = client.send_once(body)
    except UnusableReply as error:
        played.note = f"ended: {error}"
        if error.exchange is None:
            return None
        exchange = error.exchange
    except Unusable as error:
        played.note = f"ended: {error}"
        return None
    played.exchanges.append(exchange)
    return exchange


def _said(turn: ScriptTurn, messages: Sequence[Mapping[str, Any]], wire: str) -> Iterator[dict[str, Any]]:
    """Yield what the client adds in a turn: one result for each call of the last reply, and the user's text."""
    calls = messages[-1].get("tool_calls") if messages and messages[-1].get("role") == "assistant" else None
    for position, call in enumerate(calls or ()):
        text = turn.results[position] if position < len(turn.results) else "There is no result."
        failed = {"is_error": True} if position in turn.fails and wire in FLAGGING else {}
        yield {"role": "tool", "tool_call_id": call.get("id"), "content": text} | failed
    if turn.user is not None:
        yield {"role": "user", "content": turn.user}


def returned(exchange: Exchange, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message of a reply as a client sends it back: as it came."""
    made = {key: value for key, value in message.items() if value is not None or key == "content"}
    calls = [{key: value for key, value in call.items() if key != _NUMBER} for call in made.get("tool_calls") or ()]
    made |= {"role": "assistant", **({"tool_calls": calls} if calls else {})}
    if not calls:
        made.pop("tool_calls", None)
    if exchange.streamed and isinstance(made.get(_BLOCKS), list):
        made[_BLOCKS] = list(_joined(made[_BLOCKS]))
    native = exchange.native
    if native is not None:
        made[OWN] = by_name(native.protocol).writing.own(native)
    return made


def _joined(fragments: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield the blocks that the fragments of a stream add up to, as LiteLLM's `stream_chunk_builder` has them.

    A block ends with its signature: https://docs.litellm.ai/docs/reasoning_content.
    """
    text = ""
    for each in fragments:
        if not isinstance(each, dict) or each.get("type") != "thinking":
            yield each
        elif each.get("signature"):
            yield {**each, "thinking": text + (each.get("thinking") or "")}
            text = ""
        else:
            text += each.get("thinking") or ""
    if text:
        yield {"type": "thinking", "thinking": text}


def _why(exchange: Exchange | None) -> str:
    return "nothing was received" if exchange is None else f"HTTP {exchange.status}: {exchange.response!r:.300}"
