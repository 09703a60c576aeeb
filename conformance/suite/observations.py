"""What the replies of a conversation show of the core facts, in words: fields of reasoning, ids, parallel calls."""

import re
from collections.abc import Iterator, Mapping, Sequence

from conformance.wire.elements import Reply
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index
from conformance.wire.reasoning import TAGS, carried_fields, has_field

_PREFIX = re.compile(r"[A-Za-z]+[_-]")


def observe(conversation: Conversation) -> Mapping[str, tuple[str, ...]]:
    """Return what was observed, by the names that `core_facts` shows; a name without an observation is left out."""
    replies = Index(conversation).replies
    calling = [reply for reply in replies if reply.calls]
    found = {
        "reasoning-fields": tuple(dict.fromkeys(name for reply in replies for name in reasoning_fields(reply))),
        "reasoning-on-tool-turns": tuple(_on_tool_turns(calling)),
        "ids": tuple(_ids(calling)),
        "parallel-calls": tuple(_parallel(calling)),
    }
    return {name: values for name, values in found.items() if values}


def prompt_tokens(index: Index) -> int | None:
    """Return how many tokens a server counts in the prompt of an exchange; None if it does not say."""
    usages = [each.value for each in index.usages] + [each.value.usage or {} for each in index.streams]
    counts = [each["prompt_tokens"] for each in usages if "prompt_tokens" in each]
    return counts[-1] if counts and type(counts[-1]) is int else None


def reasoning_fields(reply: Reply) -> tuple[str, ...]:
    """Return the fields under which a reply carries reasoning, tags in its content included."""
    message = reply.message
    others = [name for name in (*TAGS, "extra_content") if has_field(message, name)]
    return (*carried_fields(message), *others)


def _on_tool_turns(calling: Sequence[Reply]) -> Iterator[str]:
    if calling:
        given = sum(bool(reasoning_fields(reply)) for reply in calling)
        yield "on every tool turn" if given == len(calling) else f"on {given} of {len(calling)} tool turns"


def _ids(calling: Sequence[Reply]) -> Iterator[str]:
    """Yield whether ids repeat, and the shape of one; ids themselves change from run to run."""
    ids = [[call.id for call in reply.calls] for reply in calling]
    flat = [each for group in ids for each in group if isinstance(each, str)]
    if not flat:
        return
    if any(len(set(map(str, group))) < len(group) for group in ids):
        yield "repeated within a reply"
    elif len(set(flat)) < len(flat):
        yield "repeated across replies"
    else:
        yield "unique"
    yield f"as {_shape(flat[0])}"


def _shape(identifier: str) -> str:
    prefix = _PREFIX.match(identifier)
    rest = identifier[prefix.end() :] if prefix else identifier
    return f"{prefix[0] if prefix else ''}<{len(rest)} characters>"


def _parallel(calling: Sequence[Reply]) -> Iterator[str]:
    most = max((len(reply.calls) for reply in calling), default=0)
    if most > 1:
        yield f"{most} calls in one reply"
