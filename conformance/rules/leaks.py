"""Leaked markup as rules report it: none of it was asked for, and the fault names the layer that should remove it."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from conformance.markup import CALL, REASONING, REMAINS, Leak, end_of_value, family_of, find_leaks, part_of_name
from conformance.results import Level
from conformance.rules.context import Context
from conformance.wire.elements import Reply
from conformance.wire.text import content_text

_MOST: Final = 60

_GOT: Final = {
    CALL: "a tool call in the markup of {family}",
    REMAINS: "what is left of a tool call in the markup of {family}",
    REASONING: "reasoning in the markup of {family}",
}


def leaks_in(text: str, reply: Reply, context: Context, kinds: Collection[str]) -> list[Leak]:
    """Return the leaks of some kinds in a text of a reply; what messages of users and tools quote was asked for."""
    names = tuple([name for name in context.declared.names if type(name) is str]) if reply.request else ()
    found = [leak for leak in _leaks(text, names) if leak.kind in kinds]
    if not found:
        return []
    asked = _asked_text(reply.request)
    return [leak for leak in found if leak.is_certain or leak.marker not in asked]


@lru_cache(maxsize=8)
def _leaks(text: str, names: tuple[str, ...]) -> tuple[Leak, ...]:
    # Two rules look at each content, one after the other.
    return find_leaks(text, names)


def _asked_text(request: Any) -> str:
    """Return the text of all messages but the model's own."""
    messages = request.get("messages") if type(request) is dict else None
    given = [each for each in (messages if type(messages) is list else ()) if type(each) is dict]
    return "\n".join([content_text(each.get("content")) for each in given if each.get("role") != "assistant"])


def name_leak(name: Any, context: Context) -> Leak | None:
    """Return the markup in the name of a called function; None if there is none, or the function is declared so."""
    names = context.declared.names
    if type(name) is not str or name in names:
        return None
    return part_of_name(name, [each for each in names if type(each) is str])


def argument_leak(arguments: Any) -> Leak | None:
    """Return the markup at an end of a value in the text of a call's arguments, or after it; None if there is none."""
    return end_of_value(arguments) if type(arguments) is str else None


def level_of(reply: Reply) -> Level:
    """Return how severe leaked markup in the content is: it stops a loop only if there are tools."""
    return Level.MUST if reply.request and reply.request.get("tools") else Level.SHOULD


def described(leak: Leak, context: Context) -> str:
    """Return what leaked, with its family and marker, and which layer has to take it out."""
    family = family_of(leak.families, context.exchange.model)
    marker = leak.marker if len(leak.marker) <= _MOST else f"{leak.marker[:_MOST]}…"
    if family is None:
        return f"the special token {marker!r}: the server's detokenizer did not skip it"
    is_unsure = len(leak.families) > 1 and not family.fit(context.exchange.model)
    title = f"{family.title} and others" if is_unsure else family.title
    if leak.kind not in _GOT:
        return f"the special token {marker!r} of {title}: the server's detokenizer or parser did not take it out"
    what = _GOT[leak.kind].format(family=title)
    is_reasoning = leak.kind == REASONING
    parsers = family.reasoning_parsers if is_reasoning else family.call_parsers
    option = "--reasoning-parser" if is_reasoning else "--tool-call-parser"
    flags = ", ".join([f"{_ENGINES[engine]} with `{option} {name}`" for engine, name in parsers.items()])
    start = f"; start {flags}" if flags else ""
    layer = "reasoning parser" if is_reasoning else "tool-call parser"
    return f"{what} ({marker!r}): the server's {layer} did not take it out{start}"


_ENGINES: Final = {"vllm": "vLLM", "sglang": "SGLang"}
