"""Two providers side by side: what a client of one has to change for the other, the harmful first, with the request.

`provider diff` prints it, and the page shows it. Both have it from `conformance.profiles.difference`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from conformance import broken_clients, rules
from conformance.core_facts import DEFINITIONS
from conformance.documents import read_yaml
from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.profiles.difference import ClaimDifference, Consequence

ORDER: Final = (Consequence.SEND, Consequence.READ, Consequence.FREE, Consequence.ASK)
"""The order in which differences are shown: what is refused first, what is unknown last."""

_FILE: Final = Path(__file__).with_name("requests.yaml")


class ClaimHarm(NamedTuple):
    """What a claim costs clients that do not expect it: how many real SDKs broke, of how many, by the worst rule."""

    broken: int
    measured: int
    rule: str

    @property
    def text(self) -> str:
        """Return it in words; empty if nothing was measured or nothing broke."""
        return f"broke {self.broken} of {self.measured} SDKs" if self.broken else ""


class RequestChange(NamedTuple):
    """The part of a request that has to change, and what has to stand there instead; empty if none has to."""

    instead_of: str
    send: str


class RankedDifference(NamedTuple):
    """A difference, with what it costs clients and the request that has to change."""

    difference: ClaimDifference
    harm: ClaimHarm
    change: RequestChange


def ranked(found: Iterable[ClaimDifference]) -> tuple[RankedDifference, ...]:
    """Return differences as they are shown: by what they mean, core facts first, then by measured harm."""
    made = [RankedDifference(each, harm_of(each.claim), change_of(each.claim, each.after)) for each in found]
    return tuple(sorted(made, key=lambda each: (ORDER.index(each.difference.kind), *rank(each.difference.claim))))


def rank(claim: str) -> tuple[bool, int, float, str]:
    """Return the place of a claim among those that mean the same: core facts, then the share of broken clients.

    What no request can change, such as an overloaded server, comes last.
    """
    core = [name for definition in DEFINITIONS for name in definition.claims]
    harm = harm_of(claim)
    place = core.index(claim) if claim in core else len(core)
    return claim in unchanged(), place, -(harm.broken / (harm.measured or 1)), claim


@cache
def harm_of(claim: str) -> ClaimHarm:
    """Return the worst that was measured of the rules that read a claim."""
    found = [ClaimHarm(0, 0, "")]
    for rule in rules.of_traffic():
        measured = broken_clients.of_rule(rule.id) if claim in rule.reads else None
        if measured and measured.measured:
            found.append(ClaimHarm(len(measured.broken), measured.measured, rule.id))
    return max(found, key=lambda each: (each.broken / (each.measured or 1), each.rule))


def change_of(claim: str, value: Any) -> RequestChange:
    """Return the request that has to change for a value of a claim."""
    shown = _changes().get(claim)
    if shown is not None:
        return RequestChange(shown["not"], shown["but"])
    return RequestChange("", _asked(claim, value)) if value not in (None, UNKNOWN, UPSTREAM) else RequestChange("", "")


@cache
def _changes() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = read_yaml(_FILE).value["changes"]
    return found


@cache
def unchanged() -> frozenset[str]:
    """Return the claims about deviations for which no request has to change."""
    return frozenset(read_yaml(_FILE).value["none"])


def _asked(claim: str, value: Any) -> str:
    """Return the part of a request that has what a claim about parameters says; empty if it names none."""
    first = value[0] if isinstance(value, list) and value else value
    if claim == "reasoning.request-field" and isinstance(first, str):
        return "" if first == "none" else f'{{"role": "assistant", "{first}": "…", "tool_calls": […]}}'
    if claim in ("thinking.on", "thinking.off") and isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False) if value else "no parameter"
    if claim == "request.max-tokens-fields":
        return f'"{first}": 1024'
    if claim in ("tools.choices", "thinking.efforts"):
        name = "tool_choice" if claim == "tools.choices" else "reasoning_effort"
        return f"one of {', '.join([json.dumps(each) for each in value])} as {name}" if isinstance(value, list) else ""
    return ""


def lines(found: Sequence[RankedDifference], providers: tuple[str, str]) -> Iterator[str]:
    """Yield the differences as text, under a heading for each kind."""
    for kind in ORDER:
        of_kind = [each for each in found if each.difference.kind is kind]
        if of_kind:
            yield f"A client of {providers[0]} {kind.value} for {providers[1]}:"
            for each in of_kind:
                harm = f" ({each.harm.text})" if each.harm.text else ""
                yield f"  {each.difference.claim}: {each.difference.sentence}{harm}"
                yield from _change_lines(each)
            yield ""
    if not found:
        yield f"Nothing that is known of {providers[1]} asks a client of {providers[0]} for a change."


def _change_lines(each: RankedDifference) -> Iterator[str]:
    if each.difference.kind in (Consequence.SEND, Consequence.ASK):
        if each.change.instead_of:
            yield f"    instead of  {each.change.instead_of}"
        if each.change.send:
            yield f"    send        {each.change.send}"


def fragment(first: str, second: str) -> str:
    """Return the address of a comparison within the page of the matrix."""
    return f"#/compare?pin={quote(first, safe='')}&pin={quote(second, safe='')}"
