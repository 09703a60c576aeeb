"""What a discovery on a wire knows beforehand, and which claims it can make there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from conformance import profiles
from conformance.judge import check
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.suite.turns import MAX_TOKENS
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.native import CHAT

_READ: Final = "reasoning.request-field"
_PLACES: Final = "reasoning.input."
_TRANSLATED: Final = "reasoning_details"
"""The field that a translation has for the reasoning of every other wire."""


def profile_of(claims: Claims, wire: str) -> Profile:
    """Return a profile of one wire with these claims, and what a discovery assumes until it knows more."""
    # Servers of chat completions read reasoning from different fields; each other wire has one place for it.
    made = profiles.of({_READ: UNKNOWN if wire == CHAT else _TRANSLATED, **claims}, "discovered")
    return replace(made, wire=wire, protocols={}, max_tokens=max_tokens(wire))


def max_tokens(wire: str) -> int:
    """Return the token limit of a reply; except on chat completions, it may have to be above a budget for thinking."""
    return MAX_TOKENS if wire == CHAT else 2 * MAX_TOKENS


def has_counterpart(claim: str, wire: str) -> bool:
    """Return False for a claim about where reasoning may stand in a request; only chat completions leave a choice."""
    return wire == CHAT or not claim.startswith(_PLACES)


def bodies(exchange: Exchange) -> tuple[Any, Any]:
    """Return the request and the reply of an exchange as they were on its wire."""
    held = exchange if exchange.native is None else exchange.native
    return held.request, held.response


def is_sent(rule: str, body: Mapping[str, Any], history: Conversation, exchange: Exchange) -> bool:
    """Return False if a request deviates from the last one of its history in chat completions, and not on its wire.

    A wire has no counterpart for some deviations, so that an answer to such a request shows nothing of them.
    """
    *before, origin = history
    if exchange.native is None or origin.native is None:
        return True
    if exchange.native.request == origin.native.request:
        return False
    untranslated = (*map(_as_chat, before), Exchange.of_plain(request=dict(body), model=exchange.model))
    return not _breaks(rule, untranslated) or _breaks(rule, (*before, exchange))


def _as_chat(exchange: Exchange) -> Exchange:
    return replace(exchange, url="", native=None)


def _breaks(rule: str, conversation: Conversation) -> bool:
    here = f"/{len(conversation) - 1}/request"
    outcomes = check(conversation, None, [rule])
    return any(finding.at.startswith(here) for outcome in outcomes for finding in outcome.findings)
