"""What of a recorded reply a provider would lose: what its clients do not read, and what cannot be sent back to it."""

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from conformance import convert, wires
from conformance.errors import ConformanceError
from conformance.files.prepared_requests import as_prepared, spoken
from conformance.fixes.content import content_of, loss
from conformance.judge import judge_by_models
from conformance.profiles import Profile
from conformance.results import Harm, Level
from conformance.rules import Rule, load
from conformance.wire.exchange import Exchange
from conformance.wire.reasoning import ALL_KEYS
from conformance.wire.values import as_object
from conformance.wire.views import FIRST_ERROR, Side

_BETWEEN: Final = "; "


class LostReply(NamedTuple):
    """What of a reply would be lost, in words; `rule` and `at` are empty if it is lost on its way back."""

    words: str
    rule: str = ""
    at: str = ""


def following(exchange: Exchange) -> Exchange | None:
    """Return a request that sends the recorded reply back, and results of its calls; None if there is no reply.

    Reasoning without calls may go: most hosts read none of an answer that is over.
    """
    is_failed = exchange.status is not None and exchange.status >= FIRST_ERROR
    if is_failed or exchange.response is None or exchange.request is None:
        return None
    try:
        message = convert.parse_reply(exchange)
    except (ConformanceError, TypeError):
        return None
    calls = [call["id"] for call in message.get("tool_calls", ())]
    if not calls:
        message = {key: value for key, value in message.items() if key not in ALL_KEYS}
    ends = [{"role": "tool", "tool_call_id": each, "content": "."} for each in calls]
    asked = {"role": "user", "content": "."}
    body = {"model": exchange.model, "messages": [asked, message, *(ends or [asked])]}
    tools = as_object(exchange.request).get("tools")
    return Exchange.of_plain(
        request=body | ({"tools": tools} if tools else {}), model=exchange.model, date=exchange.date
    )


def misread(exchange: Exchange, profile: Profile, model: str, as_of: str) -> Iterator[LostReply]:
    """Yield what clients of a provider would not read of the reply of an exchange, if that provider sent it."""
    if exchange.protocol == spoken(profile, exchange.protocol).wire and exchange.response is not None:
        (judgement,) = judge_by_models((exchange,), [(profile, model)], _reply_rules(), as_of)
        for outcome in judgement.found():
            for finding in outcome.findings:
                if finding.level is Level.MUST and finding.harm is Harm.CONTENT:
                    words = f"its clients would lose the reply: {finding.message}"
                    yield LostReply(words, outcome.rule, finding.at)


def unsendable(reply: Exchange, profile: Profile, model: str, as_of: str) -> Iterator[LostReply]:
    """Yield what of a recorded reply a provider does not get back; `reply`: the request that `following` returns."""
    if words := _words_of_loss(reply, spoken(profile, reply.protocol), model, as_of):
        yield LostReply(words)


def _words_of_loss(reply: Exchange, profile: Profile, model: str, as_of: str) -> str:
    """Return what of a recorded reply a provider does not get back as `prepare` sends it; empty if it gets all."""
    try:
        sent, notes = as_prepared(reply, profile, model, as_of)
    except ConformanceError as error:
        return f"the reply cannot be sent back: {error}"
    lost = loss(content_of(reply), content_of(wires.translate((sent,))[0]), "")
    return f"the reply cannot be sent back whole: {_BETWEEN.join([lost, *notes])}" if lost else ""


@cache
def _reply_rules() -> tuple[Rule, ...]:
    """Return the rules about replies that depend on claims."""
    return tuple([rule for rule in load() if rule.reads and rule.on.side == Side.PROVIDER])
