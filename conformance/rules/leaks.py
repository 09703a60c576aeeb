"""Leaked markup as rules report it: none of it was asked for, and the fault names the layer that should remove it."""

from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from conformance.markup.signs import CALL, REASONING, REMAINS, closes_a_call, may_end_with_markup, may_leak
from conformance.results import Level
from conformance.rules.context import Context, as_words
from conformance.wire.elements import Reply
from conformance.wire.text import content_text

if TYPE_CHECKING:
    from conformance.markup.detection import Leak

_MOST: Final = 60
_PARSERS: Final = "reply.parsers"
"""The claim that names the engine, so that findings name its option."""

_GOT: Final = {
    CALL: "a tool call in the markup of {family}",
    REMAINS: "what is left of a tool call in the markup of {family}",
    REASONING: "reasoning in the markup of {family}",
}


def leaks_in(text: str, reply: Reply, context: Context, kinds: Collection[str]) -> "list[Leak]":
    """Return the leaks of some kinds in a text of a reply; what messages of users and tools quote was asked for."""
    if not _may_hold(text):
        return []
    names = tuple([name for name in context.declared.names if type(name) is str]) if reply.request else ()
    found = [leak for leak in _leaks(text, names) if leak.kind in kinds]
    if not found:
        return []
    asked = _asked_text(reply.request)
    return [leak for leak in found if leak.is_certain or not _is_asked_for(leak.marker, asked)]


def _is_asked_for(marker: str, asked: str) -> bool:
    """Return whether messages quote a marker; words, such as `analysis`, stand in them by chance."""
    return not marker.isalpha() and len(marker) > 1 and marker in asked


@lru_cache(maxsize=8)
def _may_hold(text: str) -> bool:
    return may_leak(text) or closes_a_call(text)


@lru_cache(maxsize=8)
def _leaks(text: str, names: tuple[str, ...]) -> "tuple[Leak, ...]":
    # Imported here, as all of the families is, because few replies have any sign of markup.
    from conformance.markup.detection import find_leaks

    # Two rules look at each content, one after the other.
    return find_leaks(text, names)


def _asked_text(request: Any) -> str:
    """Return the text of all messages but the model's own."""
    messages = request.get("messages") if type(request) is dict else None
    given = [each for each in (messages if type(messages) is list else ()) if type(each) is dict]
    return "\n".join([content_text(each.get("content")) for each in given if each.get("role") != "assistant"])


def name_leak(name: Any, context: Context) -> "Leak | None":
    """Return the markup in the name of a called function; None if there is none, or the function is declared so."""
    if type(name) is not str:
        return None
    from conformance.markup.calls import may_be_markup, part_of_name

    # Asked first, because there may be many tools.
    if not may_be_markup(name) or name in context.declared.names:
        return None
    return part_of_name(name, [each for each in context.declared.names if type(each) is str])


def argument_leak(arguments: Any) -> "Leak | None":
    """Return the markup at an end of a value in the text of a call's arguments, or after it; None if there is none."""
    if type(arguments) is not str or not may_end_with_markup(arguments):
        return None
    from conformance.markup.calls import end_of_value

    return end_of_value(arguments)


def level_of(leak: "Leak", reply: Reply, model: str) -> Level:
    """Return how severe leaked markup in the content is: it stops a loop only if there are tools.

    Reasoning that a model writes as text breaks no client, and is no fault at all of a model that is known for it.
    """
    from conformance.markup.layers import is_habit, is_text

    if leak.kind == REASONING and is_text(leak, model):
        return Level.MAY if is_habit(leak, model) else Level.SHOULD
    return Level.MUST if reply.request and reply.request.get("tools") else Level.SHOULD


def described(leak: "Leak", context: Context) -> str:
    """Return what leaked, with its family and marker, and which layer has to take it out."""
    model, engines = context.exchange.model, _engines(context)
    marker = leak.marker if len(leak.marker) <= _MOST else f"{leak.marker[:_MOST]}…"
    what = _GOT.get(leak.kind)
    if what is not None:
        from conformance.markup.layers import layer_of

        return f"{what.format(family=title_of(leak, model))} ({marker!r}): {layer_of(leak, model, engines)}"
    of = f" of {title_of(leak, model)}" if leak.families else ""
    return f"the special token {marker!r}{of}: the server's detokenizer or parser did not take it out"


def title_of(leak: "Leak", model: str) -> str:
    """Return the name of the family that writes so; of several, that of the model."""
    from conformance.markup.families import family_of

    family = family_of(leak.families, model)
    if family is None:
        return "an unknown family"
    return family.title if len(leak.families) == 1 or family.fit(model) else f"{family.title} and others"


def _engines(context: Context) -> Collection[str]:
    """Return the engines that may have replied: those that the profile names, or all if there is no profile."""
    from conformance.markup.layers import ENGINES

    return as_words(context.claim(_PARSERS)) if context.claims else tuple(ENGINES)
