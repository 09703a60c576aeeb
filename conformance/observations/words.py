"""What exchanges show, in words: of the core facts, in a reply, and by the members of its JSON."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import orjson

from conformance.convert import ingress
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.observations import replies
from conformance.observations.counts import prompt_tokens
from conformance.observations.sights import Sight
from conformance.profiles import Claims
from conformance.wire import sse
from conformance.wire.elements import Reply
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

NONE: Final = "none"
"""What stands for something that a reply does not have."""

_NO_CLAIMS: Final[Claims] = MappingProxyType({})
_PREFIX: Final = re.compile(r"[A-Za-z]+[_-]")


def core_facts(conversation: Conversation, claims: Claims = _NO_CLAIMS) -> Mapping[str, tuple[str, ...]]:
    """Return what a session shows of the core facts, by the names that `conformance.core_facts` has for it.

    `claims` name the key of reasoning that no other provider has. A name without an observation is left out.
    """
    index = Index(conversation)
    every = [sight for reply in index.replies for sight in replies.reasoning(reply, claims)]
    fields = [sight.values[0] for sight in every if not sight.partial]
    calling = [reply for reply in index.replies if reply.calls]
    calls = [sight for reply in calling for sight in replies.calls(reply, index)]
    found = {
        "reasoning-fields": tuple(dict.fromkeys(fields)),
        "reasoning-on-tool-turns": tuple(_on_tool_turns(calling, claims)),
        "ids": tuple(_ids(calls)),
        "parallel-calls": tuple(_parallel(calling)),
    }
    return {name: values for name, values in found.items() if values}


def _on_tool_turns(calling: Sequence[Reply], claims: Claims) -> Iterator[str]:
    if calling:
        given = sum(bool(replies.reasoning_fields(reply.message, claims)) for reply in calling)
        yield "on every tool turn" if given == len(calling) else f"on {given} of {len(calling)} tool turns"


def _ids(calls: Sequence[Sight]) -> Iterator[str]:
    """Yield whether ids repeat, and the shape of one; ids themselves change from run to run."""
    ids = [sight.values[0] for sight in calls if sight.claim in ("ids.format", "ids.format-in-stream")]
    if not any(ids):
        yield from ("empty" for _ in ids[:1])
        return
    repeated = {sight.claim for sight in calls if sight.values == (False,)}
    if "ids.unique-in-reply" in repeated:
        yield "repeated within a reply"
    elif "ids.unique-in-conversation" in repeated:
        yield "repeated across replies"
    else:
        yield "unique"
    yield f"as {_shape(next(filter(None, ids)))}"


def _shape(identifier: str) -> str:
    prefix = _PREFIX.match(identifier)
    rest = identifier[prefix.end() :] if prefix else identifier
    return f"{prefix[0] if prefix else ''}<{len(rest)} characters>"


def _parallel(calling: Sequence[Reply]) -> Iterator[str]:
    most = max((len(reply.calls) for reply in calling), default=0)
    if most > 1:
        yield f"{most} calls in one reply"


def reply(exchange: Exchange) -> dict[str, str]:
    """Return what a reply says, in the words of the canonical message, and the tokens of what the model read."""
    index = Index((exchange,))
    found = index.replies
    message: Mapping[str, Any] = ingress.read(found[0].message, {}) if found else {}
    calls = [each["function"] for each in message.get("tool_calls", ())]
    return {
        "status": str(exchange.status),
        "text": _text(message.get("content")),
        "reasoning": _text(message.get("reasoning_content")),
        "calls": "; ".join([f"{call['name']} {_arguments(call['arguments'])}" for call in calls]) or NONE,
        "finish": str(found[0].finish_reason) if found else NONE,
        "prompt tokens": NONE if (count := prompt_tokens(index)) is None else str(count),
    }


def _text(value: Any) -> str:
    """Return a text without the white space around it; servers differ in it from reply to reply."""
    return str(value or "").strip() or NONE


def _arguments(text: str) -> str:
    """Return arguments in one way of writing: wires where they are an object have no white space to compare."""
    try:
        return orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONDecodeError:
        return text


def members(exchange: Exchange) -> Iterator[str]:
    """Yield the path and type of each member of a reply or of its chunks; positions in lists are written as `*`."""
    bodies = [exchange.response]
    if exchange.streamed and isinstance(exchange.response, str):
        bodies = []
        for event in sse.read(exchange.response).events:
            try:
                bodies.append(parse_json(event.data))
            except InvalidDocument:
                continue
    for body in bodies:
        if isinstance(body, dict):
            yield from _leaves("", body)


def _leaves(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(f"{path}/{key}", member)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(f"{path}/*", member)
    else:
        yield f"{path} {'null' if value is None else type(value).__name__}"
