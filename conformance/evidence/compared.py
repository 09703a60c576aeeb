"""Real exchanges compared with a profile: the predicted answers, and the claims that requests and replies confirm."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

from conformance import observations, profiles
from conformance.evidence.index import FRAMING
from conformance.evidence.provenance import evidence_of, provider_of
from conformance.evidence.reads import Reads, changed, deviations, observed_rules
from conformance.evidence.shown import shown
from conformance.formats import Input, sse
from conformance.judge import check
from conformance.observations.answers import ProviderAnswer, answer_of, cause_of
from conformance.observations.comparing import answered, is_only_answered, matching
from conformance.observations.refusals import is_same, is_wordless, refusals_confirmed
from conformance.observations.sights import digest, kinds
from conformance.profiles import REFUSING, UNKNOWN, Profile
from conformance.results import Evidence, Outcome, Refusal, Status
from conformance.rules import by_id
from conformance.simulator.refusals import first_refusal
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.views import Side
from conformance.wires import translate


class Comparison(StrEnum):
    """How the predicted answer to a recorded request compares with the real one.

    The values are machine-readable: reports and the names of expected failures use them. `FALSE_POSITIVE`: rejected
    here, accepted in reality. `FALSE_NEGATIVE`: the other way round. `OUT_OF_SCOPE`: rejected for a cause other than
    the wire. `INCOMPLETE`: the request or its answer was not recorded.
    """

    ACCEPTED = "accepted"
    REJECTED = "refused"
    FALSE_POSITIVE = "falsely refused"
    FALSE_NEGATIVE = "refusal missed"
    OTHER_WORDS = "refused in other words"
    OUT_OF_SCOPE = "out of scope"
    INCOMPLETE = "incomplete"


WRONG: Final = (Comparison.FALSE_POSITIVE, Comparison.FALSE_NEGATIVE, Comparison.OTHER_WORDS)
"""The comparisons that show a defect of a profile or a rule."""


class Mismatch(NamedTuple):
    """A finding on a real reply: the rule that reported it, and the known claims that the rule read."""

    rule: str
    at: str
    message: str
    claims: tuple[str, ...] = ()


class ComparedExchange(NamedTuple):
    """One recorded exchange compared with a profile; plain data, to cross processes.

    `provider` is the profile's name if there is one, else the name in the recording; `profile` is the text that names
    it. `digest` identifies the exchange wherever it is stored, `ref` is its path and line here. `cause` is why a
    refusal is out of scope. `rule`, `claim`
    and `at` lead to the predicted refusal; `expected` and `got` are it and the real answer in words. `confirmed`: the
    claims whose value the exchange shows; `contradicted`: those that it breaks, by a rule. `answered`: the claims about
    a deviation that was answered without an error, which does not show their value: it is unknown, or `ignored`.
    `otherwise`: the claims of which the exchange shows another value, without breaking a rule. `model` and `date`
    select the claims. `evidence`: what the exchange is evidence of; the simulator's replies confirm nothing.
    """

    provider: str
    profile: str
    digest: str
    ref: str
    comparison: Comparison
    cause: str = ""
    claim: str = ""
    rule: str = ""
    at: str = ""
    expected: str = ""
    got: str = ""
    confirmed: frozenset[str] = frozenset()
    contradicted: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    otherwise: frozenset[str] = frozenset()
    model: str = ""
    date: str = ""
    evidence: Evidence = Evidence.RECORDED
    mismatches: tuple[Mismatch, ...] = ()
    errored: tuple[str, ...] = ()


def observe(given: Input, provider: str = "") -> list[ComparedExchange]:
    """Compare each exchange of an input with a provider's profile; by default, that of the provider in the input.

    The exchanges of each wire are compared with what the profile claims of that wire.
    """
    name = provider or provider_of(given)
    profile = None if name is None else profiles.load_profile(name)
    return [found for wire, part in _wires(given) for found in _observe(part, wire, profile)]


def _observe(given: Input, wire: str, profile: Profile | None) -> list[ComparedExchange]:
    """Compare the exchanges of one wire with a profile, if it has claims about that wire."""
    if profile is not None and wire in (profile.wire, *profile.protocols):
        evidence = evidence_of(given)
        return [each._replace(evidence=evidence) for each in compare(given, profile.on(wire))]
    service = profile.service if profile is not None else given.provider or "unknown"
    named = service if wire == CHAT else f"{service}.{wire}"
    digests = map(digest, given.conversation)
    return [
        ComparedExchange(named, "", each, ref, Comparison.INCOMPLETE)
        for each, ref in zip(digests, _refs(given), strict=True)
    ]


def _wires(given: Input) -> Iterator[tuple[str, Input]]:
    """Yield the exchanges of each wire in an input, translated, as an input of their own."""
    conversation = translate(given.conversation)
    for wire in dict.fromkeys(each.protocol for each in conversation):
        numbers = [number for number, each in enumerate(conversation) if each.protocol == wire]
        # A file without lines, such as one JSON value, has none to choose from.
        lines = [given.lines[number] for number in numbers] if len(given.lines) == len(conversation) else given.lines
        yield wire, given._replace(conversation=tuple([conversation[each] for each in numbers]), lines=tuple(lines))


def compare(given: Input, profile: Profile) -> list[ComparedExchange]:
    """Compare each exchange of an input with a profile, for its own model and day."""
    exchanges = given.conversation
    reads = Reads()
    outcomes = check(exchanges, changed(profile, reads.observed), observed_rules(reads))
    claimed = deviations(exchanges, profile)
    compared_exchanges = []
    for number, (exchange, ref) in enumerate(zip(exchanges, _refs(given), strict=True)):
        claims = profile.at(exchange.model, exchange.date)
        first = ComparedExchange(
            profile.name,
            profile.reference,
            digest(exchange),
            ref,
            Comparison.INCOMPLETE,
            model=exchange.model,
            date=exchange.date,
        )
        recorded = _Recorded(exchange, answer_of(exchange), claims)
        compared = _compare_request(first, outcomes, claimed, number, recorded)
        compared_exchanges.append(_compare_reply(compared, outcomes, reads, number, claims))
    with_values = _with_values(compared_exchanges, exchanges, profile, reads)
    # Where only the chunks were recorded, the reader has assumed what surrounds them.
    is_whole = {sse.UNFRAMED, sse.UNNAMED}.isdisjoint(given.notes)
    return with_values if is_whole else [*map(_without_framing, with_values)]


def _without_framing(found: ComparedExchange) -> ComparedExchange:
    return found._replace(
        confirmed=found.confirmed - frozenset(FRAMING), otherwise=found.otherwise - frozenset(FRAMING)
    )


def _with_values(
    found_before: list[ComparedExchange], exchanges: tuple[Exchange, ...], profile: Profile, reads: Reads
) -> list[ComparedExchange]:
    """Keep of the claims that rules confirm those whose value an exchange shows, and add those that it shows by itself.

    What a rule confirms by a refusal or by an accepted deviation was compared by value already.
    """
    by_rules = {
        number: frozenset(name for name in found.confirmed & reads.names if kinds()[name] not in REFUSING)
        for number, found in enumerate(found_before)
    }
    proven = shown(exchanges, profile, by_rules)
    index = Index(exchanges)
    checked = []
    for number, found in enumerate(found_before):
        claims = profile.at(found.model, found.date)
        seen = observations.of(exchanges, number, index, claims)
        same, other = matching(seen, claims)
        # An exchange that shows two values of a claim confirms none.
        against = found.contradicted | other
        checked.append(
            found._replace(
                confirmed=((found.confirmed - by_rules[number]) | proven[number] | same) - against,
                otherwise=other - found.contradicted,
                answered=found.answered | answered(seen, claims),
            )
        )
    return checked


_Deviations: TypeAlias = Mapping[tuple[str, str, str], str]
"""The claim that each deviation is about, by rule, place and message of its finding."""


class _Recorded(NamedTuple):
    """One exchange, what the provider did, and the claims that held for it."""

    exchange: Exchange
    answer: ProviderAnswer | None
    claims: Mapping[str, Any]


def _compare_request(
    found: ComparedExchange, outcomes: Sequence[Outcome], claimed: _Deviations, number: int, recorded: _Recorded
) -> ComparedExchange:
    """Compare the predicted answer to a request with what the provider answered."""
    answer, claims = recorded.answer, recorded.claims
    if answer is None:
        return found
    if answer.rejected:
        confirmed = refusals_confirmed(claims, answer)
        found = found._replace(confirmed=confirmed, got=answer.words)
    if not isinstance(recorded.exchange.request, dict):
        return found
    predicted = first_refusal(outcomes, number)
    if predicted is not None:
        rule, at, claim = _origin(predicted, outcomes, claimed)
        expected = f"{predicted.status} {predicted.message or ''}".strip()
        found = found._replace(rule=rule, at=at, claim=claim, expected=expected)
    if answer.rejected:
        return _compare_refusal(found, predicted, answer, claims)
    # With the slash, since /1 is also the beginning of /10.
    here = {key: claim for key, claim in claimed.items() if key[1].startswith(f"/{number}/")}
    rejected = {here[key] for key in _rejected(outcomes) if key in here}
    tolerated = {name: claims.get(name, UNKNOWN) for name in here.values() if name not in rejected}
    return found._replace(
        comparison=Comparison.ACCEPTED if predicted is None else Comparison.FALSE_POSITIVE,
        confirmed=frozenset(name for name, value in tolerated.items() if value == "accepted"),
        contradicted=frozenset(rejected),
        answered=frozenset(name for name, value in tolerated.items() if is_only_answered(value)),
    )


def _compare_refusal(
    found: ComparedExchange, predicted: Refusal | None, answer: ProviderAnswer, claims: Mapping[str, Any]
) -> ComparedExchange:
    if predicted is not None and is_same(predicted, claims.get(found.claim), answer):
        known = frozenset((found.claim,)) if found.claim else frozenset()
        return found._replace(comparison=Comparison.REJECTED, confirmed=found.confirmed | known)
    # Only now: a refusal that was predicted is about the wire, whatever its words resemble.
    cause = cause_of(answer)
    if cause:
        return found._replace(comparison=Comparison.OUT_OF_SCOPE, cause=cause)
    if predicted is not None and predicted.status == answer.status and is_wordless(claims.get(found.claim)):
        known = frozenset((found.claim,))
        return found._replace(comparison=Comparison.REJECTED, confirmed=found.confirmed | known)
    wrong = Comparison.FALSE_NEGATIVE if predicted is None else Comparison.OTHER_WORDS
    return found._replace(comparison=wrong)


def _rejected(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, str, str]]:
    """Yield rule, place and message of the findings that the provider rejects."""
    for outcome in outcomes:
        for finding in outcome.findings:
            if finding.refusal is not None:
                yield outcome.rule, finding.at, finding.message


def _compare_reply(
    found: ComparedExchange, outcomes: Iterable[Outcome], reads: Reads, number: int, claims: Mapping[str, Any]
) -> ComparedExchange:
    """Add what the rules that check providers found, and the claims that they read."""
    here = f"/{number}"
    mismatches, errored = [], []
    confirmed: set[str] = set()
    contradicted: set[str] = set()
    rules = by_id()
    for outcome in outcomes:
        if outcome.status is Status.ERRORED:
            errored.append(f"{outcome.rule}: {outcome.reason}")
        if rules[outcome.rule].on.side is not Side.PROVIDER:
            continue
        read = reads.claims(outcome.rule, number)
        known = {name for name in read if claims.get(name, UNKNOWN) != UNKNOWN}
        findings = [finding for finding in outcome.findings if f"{finding.at}/".startswith(f"{here}/")]
        # A finding below its rule's level departs as a claim says, so it confirms the claim.
        unclaimed = [finding for finding in findings if finding.level.severity >= rules[outcome.rule].level.severity]
        names = tuple(sorted(known))
        mismatches += [Mismatch(outcome.rule, finding.at, finding.message, names) for finding in unclaimed]
        if unclaimed:
            contradicted |= known
        elif reads.is_checked(outcome.rule, number):
            confirmed |= {name for name in known if kinds()[name] not in REFUSING}
    return found._replace(
        confirmed=(found.confirmed | confirmed) - contradicted - found.contradicted,
        contradicted=found.contradicted | contradicted,
        mismatches=tuple(mismatches),
        errored=tuple(errored),
    )


def _origin(predicted: Refusal, outcomes: Iterable[Outcome], claimed: _Deviations) -> tuple[str, str, str]:
    """Return where a predicted refusal comes from: its rule, its place, and its claim, empty if that is not known."""
    for outcome in outcomes:
        for finding in outcome.findings:
            # By identity: several findings may have equal refusals.
            if finding.refusal is predicted:
                return outcome.rule, finding.at, claimed.get((outcome.rule, finding.at, finding.message), "")
    return "", "", ""


def _refs(given: Input) -> list[str]:
    known: tuple[int | None, ...] = given.lines
    lines = known if len(known) == len(given.conversation) else (given.line,) * len(given.conversation)
    return [given.path if line is None else f"{given.path}:{line}" for line in lines]
