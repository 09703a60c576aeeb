"""Explains a failed exchange: what its error means, and the place in its request that caused it.

The rules that the cause of the error names judge that request.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, NamedTuple

from conformance import profiles
from conformance.documents.pointer import Place, render
from conformance.error_texts import CauseSide, ErrorCause, Explanation, explain, generic_error, said
from conformance.results import Level
from conformance.rules import Context, Fault, Rule, load
from conformance.wire.elements import FailedExchange
from conformance.wire.native import CHAT
from conformance.wire.views import FIRST_ERROR, Side

_MOST_HOSTS: Final = 4
_SIDES: Final = {CauseSide.CLIENT: "client", CauseSide.ACCOUNT: "client"}
"""Who can act: a key and its quota are the client's, and what the model wrote came from the provider."""

_NUMBER: Final = re.compile(r"\d{1,6}")


class FailureOrigin(NamedTuple):
    """A place in a request that caused an error, the rule that found it and what it found there.

    `is_native`: the place is in the native body, because the rule judges that.
    """

    rule: str
    place: Place
    message: str
    is_native: bool


@cache
def limited(rule: Rule, globs: tuple[str, ...]) -> Rule:
    """Return the rule that explains failures, naming places only by the rules for which an input holds enough.

    A log that holds messages instead of bodies lacks what the client did send, such as reasoning: a rule that misses it
    would blame the wrong place.
    """

    def judge(failure: FailedExchange, context: Context) -> list[Fault]:
        return [explained_fault(failure, context, globs)]

    return replace(rule, judge=judge)


def explained_fault(failure: FailedExchange, context: Context, globs: tuple[str, ...] = ("*",)) -> Fault:
    """Return what is known of a failure: its cause, side, place and fix; or that no rule explains it.

    `globs`: of the rules that may name its place.
    """
    exchange = failure.exchange
    explained = explain(failure.value, exchange.status, context.provider, exchange.protocol)
    if explained is None:
        return _unexplained_fault(failure, context, globs)
    place = origin(explained, context, globs)
    side = explained.cause.side
    return Fault(
        _message(failure, explained, place),
        place=None if place is None or place.is_native else place.place,
        level=Level.MUST if side is CauseSide.CLIENT and (place is not None or not explained.is_likely) else None,
        side=_SIDES.get(side, ""),
    )


def _unexplained_fault(failure: FailedExchange, context: Context, globs: tuple[str, ...]) -> Fault:
    """Return that nothing explains a failure, and what to look for if its text is one that hosts send for many causes.

    A rule that finds one of the causes that the text was seen for shows that it is this one.
    """
    exchange = failure.exchange
    words = f"the provider refused this and no rule explains it: {_described(failure)}"
    unclear = generic_error(failure.value, exchange.status, context.provider, exchange.protocol)
    if unclear is None or not unclear.sayings:
        return Fault(words)
    place = origin(Explanation(unclear.text, unclear.causes, unclear.sayings, exchange.status), context, globs)
    hosts = ", ".join(unclear.hosts[:_MOST_HOSTS])
    if place is None:
        seen = "; ".join([f"{cause.id} ({cause.meaning.rstrip('.')})" for cause in unclear.causes[:_MOST_HOSTS]])
        return Fault(f"{words}. At {hosts}, this text has several causes, such as {seen}")
    at = f"at {render(place.place)}" if place.is_native else "here"
    found = f"{place.rule} finds a cause {at}: {place.message}"
    return Fault(
        f"the provider refused this: {_described(failure)}, a text with several causes at {hosts}; {found}",
        place=None if place.is_native else place.place,
        side="client",
    )


def _described(failure: FailedExchange) -> str:
    status = failure.exchange.status or 0
    text = f"“{said(failure.value)}”" if failure.value else "no body"
    return f"status {status}, {text}" if status >= FIRST_ERROR else text


def _message(failure: FailedExchange, explained: Explanation, place: FailureOrigin | None) -> str:
    """Return what the host says and means, the place, who can fix it, and how."""
    cause = explained.cause
    sentences = [f"the provider refused this: {_described(failure)}.", explained.meaning]
    if place is not None:
        # Places in native bodies need no translation, which that of a fault of this rule gets.
        at = f"at {render(place.place)}" if place.is_native else "here"
        sentences.append(f"{place.rule} finds it {at}: {place.message}.")
    others = " or ".join([each.id for each in explained.causes[1:]])
    likely = " by its words, no known text" if explained.is_likely else ""
    sentences.append(f"Cause: {cause.id}{f', or {others}' if others else ''}{likely}; side: {cause.side}.")
    if explained.hosts:
        sentences.append(f"Known of {', '.join(explained.hosts[:_MOST_HOSTS])}.")
    if explained.since:
        sentences.append(f"So since {explained.since}.")
    return " ".join([*sentences, f"To fix it: {explained.fix}"])


def origin(explained: Explanation, context: Context, globs: tuple[str, ...] = ("*",)) -> FailureOrigin | None:
    """Return the place in the request of this exchange that caused its error; None if no rule finds one.

    With the claims of the exchange, and then with those of the hosts that are known to say so: what they refuse is
    wrong here although nobody named a provider. Of several places, the one whose position the error mentions is taken.
    """
    # Errors count messages or characters, so a number only decides between places that rules find.
    numbers = set(map(int, _NUMBER.findall(explained.text)))
    for each in (context, *_of_hosts(explained, context)):
        for cause in explained.causes:
            found = list(_origins(cause, each, globs))
            if found:
                return next((one for one in found if numbers.intersection(_positions(one))), found[0])
    return None


def _positions(found: FailureOrigin) -> set[int]:
    return {token for token in found.place[2:] if type(token) is int}


def _of_hosts(explained: Explanation, context: Context) -> Iterator[Context]:
    """Yield the context with the claims of each host that has a profile and is known to say so."""
    exchange = context.exchange
    for host in explained.hosts:
        if host in profiles.names() and host != context.provider:
            claims = profiles.load_profile(host).on(exchange.protocol).at(exchange.model, exchange.date)
            yield context.with_claims(claims)


def _origins(cause: ErrorCause, context: Context, globs: tuple[str, ...]) -> Iterator[FailureOrigin]:
    """Yield what the rules about a cause find in the request of this exchange."""
    for rule in rules_about(cause):
        if not any(fnmatchcase(rule.id, glob) for glob in globs):
            continue
        is_judged = context.exchange.protocol in rule.wires and context.knows(*rule.needs)
        if is_judged and (rule.when is None or rule.when(context)):
            is_own = rule.claim in cause.claims or _is_named(rule.id, cause)
            for element, fault in _faults(rule, context):
                if is_own or fault.claim in cause.claims:
                    place = fault.place or (*element.place, *fault.at)
                    yield FailureOrigin(rule.id, place, fault.message, CHAT not in rule.wires)


def _faults(rule: Rule, context: Context) -> Iterator[tuple[Any, Fault]]:
    for element in rule.on.of(context.index, context.number):
        if rule.concerns(element, context):
            for fault in rule.judge(element, context) or ():
                yield element, fault


@cache
def rules_about(cause: ErrorCause) -> Sequence[Rule]:
    """Return the rules about requests that can find a cause: those about its claims, those it names, then others."""
    own, named, reading = [], [], []
    for rule in load():
        if rule.on.side is Side.CLIENT:
            if rule.claim in cause.claims:
                own.append(rule)
            elif _is_named(rule.id, cause):
                named.append(rule)
            elif not set(rule.reads).isdisjoint(cause.claims):
                reading.append(rule)
    return (*own, *named, *reading)


def _is_named(name: str, cause: ErrorCause) -> bool:
    return any(fnmatchcase(name, glob) for glob in cause.rules)
