"""What a profile claims about reasoning: its fields, and whether it must be sent back."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance import profiles
from conformance.rules.context import Claimed, Context, as_words
from conformance.wire.reasoning import CANONICAL, KEYS, PARTS

INPUTS: Final = tuple([f"reasoning.input.{field}" for field in (*KEYS, *PARTS)])
"""The claims about the fields that `carried_fields` finds."""

THINKS: Final = ("thinking.mode", "thinking.switches")
"""The claims that `Context.thinks` reads."""

OMISSIONS: Final = ("reasoning.omitted-on-tool-turn", "reasoning.omitted-on-earlier-tool-turn")
"""The claims that `omission` chooses from."""

REQUIRED: Final = (*OMISSIONS, *THINKS)
"""The claims that `is_required` reads."""


def reply_fields(context: Context) -> tuple[str, ...]:
    """Return the fields of this reply that may hold reasoning: those that the request selects, else the usual ones."""
    if not context.claims:
        return ()
    usual, switches = context.derived(_reply_fields)
    body = context.exchange.request
    for switch in switches if type(body) is dict else ():
        if profiles.matches(switch, body):
            return as_words(switch["field"])
    return usual


def _reply_fields(claimed: Claimed) -> tuple[tuple[str, ...], Sequence[Mapping[str, Any]]]:
    usual = as_words(claimed.claim("reasoning.response-field"))
    return usual, claimed.claim("reasoning.response-field-switches", ())


def request_fields(context: Context) -> tuple[str, ...]:
    """Return the fields that the provider reads; the canonical ones if it reads none or nothing is claimed."""
    return context.derived(_request_fields)


def _request_fields(claimed: Claimed) -> tuple[str, ...]:
    fields = as_words(claimed.claim("reasoning.request-field"))
    return (tuple([field for field in fields if field != "none"]) if "none" in fields else fields) or CANONICAL


def is_preserved(context: Context) -> bool:
    """Return whether the request asks the provider to read the reasoning of every turn."""
    for keeper in context.claim("thinking.preserve", ()):
        if profiles.matches(keeper, context.exchange.request):
            return bool(keeper["keeps"])
    return False


def omission(*, current: bool) -> str:
    """Return the name of the claim about a tool turn without reasoning, of the current or an earlier user message."""
    return "reasoning.omitted-on-tool-turn" if current else "reasoning.omitted-on-earlier-tool-turn"


def is_required(context: Context, *, current: bool) -> bool:
    """Return whether the provider is known to require the reasoning of a tool turn in this request."""
    return context.derived(_required)[current] and context.thinks is True


def _required(claimed: Claimed) -> dict[bool, bool]:
    """Return by `current` whether the provider is known to require the reasoning of a tool turn."""
    return {
        current: profiles.rejects_or_damages(claimed.claims.get(omission(current=current))) for current in (True, False)
    }


def is_lost(context: Context, *, current: bool) -> bool:
    """Return whether a tool turn without its reasoning is the worse for it, whatever the provider answers.

    The model continues an open turn from its reasoning. That of a closed turn is only lost where nothing says that it
    may be left out: neither the profile, nor the documentation of the vendor whose wire it is.
    """
    if current:
        return True
    verdict = context.claims.get(omission(current=False))
    return context.exchange.native is None if verdict is None else profiles.rejects_or_damages(verdict)
