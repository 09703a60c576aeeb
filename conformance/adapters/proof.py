"""What proves that an adapter breaks a rule: the smallest case in which it does, and the whole request in that case."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import orjson

from conformance import scenarios
from conformance.adapters.normalize import client_ids, normalize_text
from conformance.documents.pointer import parse
from conformance.errors import UnknownName
from conformance.results import Finding, Level, Outcome, Status
from conformance.results.runs import Case, SentRequest
from conformance.wire.exchange import Conversation

MAX_REQUEST: Final = 24_000
"""How many bytes of JSON a request may have to be kept in results; of a longer one, only excerpts are."""

MAX_DEPTH: Final = 100
"""How deep a request may be nested to be kept: files of results, which nest it deeper, must stay readable."""

_SESSION: Final = "/s/"
"""What follows the number of a session in the path of its URL; its name comes next."""


class BrokenCase(NamedTuple):
    """The case that shows best that an adapter breaks a rule, and the worst finding in it."""

    case: Case
    finding: Finding

    @property
    def exchange(self) -> int | None:
        """Return the index of the exchange that shows it; None if the finding is about the whole session."""
        return exchange_of(self.finding)

    @property
    def request(self) -> SentRequest | None:
        """Return the whole request, if the results hold it."""
        return next((each for each in self.case.requests if each.exchange == self.exchange), None)


def proofs(cases: Sequence[Case]) -> Mapping[str, BrokenCase]:
    """Return the proof for each rule that is broken, by the rule's id: a MUST before a SHOULD, then the smallest."""
    found: dict[str, BrokenCase] = {}
    for case in cases:
        for outcome in broken(case):
            proof = BrokenCase(case, _worst(outcome))
            found[outcome.rule] = min(proof, found.get(outcome.rule, proof), key=strength)
    return dict(sorted(found.items()))


def strength(proof: BrokenCase) -> tuple[int, bool, int, bool, str]:
    """Return what orders proofs, the strongest first: its level, that the provider rejects it, and its size."""
    return -proof.finding.level.severity, proof.finding.refusal is None, *size(proof.case)


def broken(case: Case) -> Iterator[Outcome]:
    """Yield the outcomes that break a MUST or a SHOULD, with findings to show."""
    for outcome in case.outcomes:
        if outcome.status is Status.FAILED and outcome.findings and outcome.level is not Level.MAY:
            yield outcome


def size(case: Case) -> tuple[int, bool, str]:
    """Return what orders cases: the exchanges of the scenario, then plain before streamed, then the name."""
    try:
        turns = len(scenarios.load(case.scenario).turns)
    except UnknownName:
        # Traffic of a client has no scenario, and results of another version may have another one.
        turns = 0
    return turns, case.variant != "plain", case.name


def exchange_of(finding: Finding) -> int | None:
    """Return the index of the exchange that a finding points into; None if it is about the whole session."""
    first = parse(finding.at)[:1]
    return int(first[0]) if first and first[0].isdecimal() else None


def with_requests(cases: Sequence[Case], conversations: Mapping[str, Conversation]) -> tuple[Case, ...]:
    """Return cases with the requests that prove what is broken; `conversations` are theirs, by name.

    Each rule has one request, that of its proof, so that results stay small.
    """
    wanted: dict[str, set[int]] = {}
    for each in proofs(cases).values():
        if each.exchange is not None:
            wanted.setdefault(each.case.name, set()).add(each.exchange)
    return tuple([_with_requests(case, conversations, sorted(wanted.get(case.name, ()))) for case in cases])


def _with_requests(case: Case, conversations: Mapping[str, Conversation], numbers: Sequence[int]) -> Case:
    conversation = conversations.get(case.name, ())
    known = [number for number in numbers if number < len(conversation)]
    kept = [_sent(conversation, number) for number in known]
    fitting = [each for each in kept if _depth(each.body) <= MAX_DEPTH and len(orjson.dumps(each.body)) <= MAX_REQUEST]
    return replace(case, requests=tuple(fitting)) if fitting else case


def _sent(conversation: Conversation, number: int) -> SentRequest:
    """Return a request without what changes from run to run, so that the same behaviour gives the same results."""
    exchange = conversation[number].as_received
    path = urlsplit(exchange.url).path
    _, is_session, rest = path.partition(_SESSION)
    path = f"/{rest.partition('/')[2]}" if is_session else path
    return SentRequest(number, path, _normalized(exchange.request, client_ids(conversation)))


def _depth(value: Any) -> int:
    """Return how many levels of objects and lists are in each other; 0 for a text, a number or null."""
    # A loop, because a request may be nested deeper than Python recurses.
    depth, level = 0, [value]
    while True:
        holders = [
            each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))
        ]
        if not holders:
            return depth
        depth, level = depth + 1, [each for holder in holders for each in holder]


def _normalized(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return normalize_text(value, ids)
    if isinstance(value, list):
        return [_normalized(each, ids) for each in value]
    if isinstance(value, dict):
        return {normalize_text(key, ids): _normalized(each, ids) for key, each in value.items()}
    return value


def _worst(outcome: Outcome) -> Finding:
    return max(outcome.findings, key=lambda each: (each.level.severity, each.refusal is not None))
