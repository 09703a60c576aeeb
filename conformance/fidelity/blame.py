"""Whose fault a finding of a rule is, where both ends of a gateway were seen.

What a rule finds was said by somebody: a provider's reply, the gateway's version of it, the client that sends it back,
or the gateway's request. The party is named with the two places between which a piece changed, or at which it is the
same though it is wrong. Without both, nobody is named: the bytes of one end show only that it is there.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from conformance.documents.pointer import parse
from conformance.fidelity import Difference, differences, translations
from conformance.fidelity.passages import BACK, CLIENT, FRONT, GATEWAY, PROVIDER, Pair, Passage, passages
from conformance.fidelity.spoken import Kind, SpokenPiece
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Finding, Level
from conformance.wire.exchange import Conversation
from conformance.wire.views import Side
from conformance.wires import by_name


class Traced(NamedTuple):
    """A finding of a rule at one end: who caused it, and the places that prove it; the second is empty if nobody is."""

    rule: str
    finding: Finding
    by: str
    at: str
    other: str

    @property
    def level(self) -> Level:
        """Return the level of the finding."""
        return self.finding.level


class _Ends(NamedTuple):
    """The findings of both ends, by exchange, side and rule, and what the facts found between them.

    `inherent`: what any gateway would break, since what it was given does: pairs by their number, the part, the rule.
    """

    found: Mapping[str, list[tuple[str, Finding]]]
    ways: Sequence[Passage]
    changes: Sequence[Difference]
    inherent: Set[tuple[int, str, str]]
    session: Sequence[Pair]
    profile: Profile | None


def trace(session: Sequence[Pair], profile: Profile | None = None) -> tuple[Traced, ...]:
    """Return what the rules find at both ends of a session, once, with who caused it; `profile` is that of the back."""
    return tuple(_once(trace_each(session, profile)))


def trace_each(session: Sequence[Pair], profile: Profile | None = None) -> tuple[Traced, ...]:
    """Return every finding of the rules at both ends, also where both show one fault."""
    answered = [each for each in session if each.answer is not None]
    fronts: Conversation = tuple([each.front for each in session])
    backs: Conversation = tuple([each.answer for each in answered if each.answer is not None])
    found = {
        FRONT: list(_findings(fronts, None, [each.number for each in session], FRONT)),
        BACK: list(_findings(backs, profile, [each.number for each in answered], BACK)),
    }
    inherent = set(translations.inherent(session, profile))
    ends = _Ends(
        found, list(passages(session, profile)), differences(session, profile).differences, inherent, session, profile
    )
    return tuple([_traced(rule, finding, end, ends) for end, each in found.items() for rule, finding in each])


def _once(traced: Sequence[Traced]) -> Iterator[Traced]:
    """Yield what was found without what both ends show of one fault."""
    seen: set[tuple[str, str]] = set()
    for each in traced:
        if each.other and (each.rule, each.other) in seen:
            continue
        seen |= {(each.rule, each.at), (each.rule, each.finding.at)}
        yield each


def _findings(
    conversation: Conversation, profile: Profile | None, numbers: Sequence[int], end: str
) -> Iterator[tuple[str, Finding]]:
    """Yield the findings of an end, their places as those in the four bodies."""
    for outcome in check(conversation, profile) if conversation else ():
        for finding in outcome.findings:
            position, *inside = parse(finding.at)
            at = "/".join(["", str(numbers[int(position)]), end, *inside])
            yield outcome.rule, _at(finding, at)


def _at(finding: Finding, at: str) -> Finding:
    return Finding(at, finding.message, finding.level, finding.refusal, finding.excerpt, finding.asked, finding.side)


def _traced(rule: str, finding: Finding, end: str, ends: _Ends) -> Traced:
    if finding.side == Side.PROVIDER:
        return _of_reply(rule, finding, end, ends)
    return _of_request(rule, finding, end, ends)


def _of_reply(rule: str, finding: Finding, end: str, ends: _Ends) -> Traced:
    """Trace what a reply has: it is the provider's if the reply behind has it, else the gateway's."""
    number = int(parse(finding.at)[0])
    way = next((each for each in ends.ways if each.is_reply and each.numbers[0] == number), None)
    if way is None:
        return Traced(rule, finding, "", finding.at, "")
    behind = [each for name, each in ends.found[BACK] if name == rule and parse(each.at)[0] == str(number)]
    there = _counterpart(way, finding.at, is_after=end == FRONT)
    if end == BACK:
        return Traced(rule, finding, PROVIDER, finding.at, there)
    if behind:
        return Traced(rule, finding, PROVIDER, behind[0].at, finding.at)
    is_inherent = (number, translations.REPLY, rule) in ends.inherent
    return Traced(rule, finding, PROVIDER if is_inherent else GATEWAY, there, finding.at)


def _of_request(rule: str, finding: Finding, end: str, ends: _Ends) -> Traced:
    """Trace what a request has, through the gateway, the client and the gateway's reply to what the provider said."""
    number = int(parse(finding.at)[0])
    way = next((each for each in ends.ways if each.is_request and each.numbers[0] == number), None)
    if way is None:
        return Traced(rule, finding, "", finding.at, "")
    pieces = _pieces_at(way, finding.at, is_after=end == BACK)
    if end == FRONT:
        return _in_history(rule, finding, way, pieces, ends, finding.at)
    lost = _change(ends.changes, way, pieces)
    if lost is not None:
        return Traced(rule, finding, GATEWAY, lost.at, finding.at)
    return _of_back_request(rule, finding, way, pieces, ends)


def _of_back_request(rule: str, finding: Finding, way: Passage, pieces: Sequence[SpokenPiece], ends: _Ends) -> Traced:
    """Trace what a request behind has, in which the gateway lost nothing."""
    number, part = way.numbers[0], _part(way, finding.at)
    before = [each.at for name, each in ends.found[FRONT] if name == rule and parse(each.at)[0] == str(number)]
    there = before[0] if before else _counterpart(way, finding.at, is_after=True)
    if before or (number, part, rule) in ends.inherent:
        if part == translations.SETTINGS:
            return Traced(rule, finding, CLIENT, there, finding.at)
        return _in_history(rule, finding, way, pieces, ends, there)
    if _is_own(rule, number, way, ends):
        return Traced(rule, finding, GATEWAY, there, finding.at)
    changed = _changed_earlier(rule, finding, way, pieces, ends, there)
    return changed or Traced(rule, finding, "", finding.at, "")


def _is_own(rule: str, number: int, way: Passage, ends: _Ends) -> bool:
    """Return whether a request behind breaks a rule that it need not break.

    A difference from an earlier reply may be in what the client's wire has no place for.
    """
    if rule in translations.broken(translations.alone(way.pair), ends.profile):
        return True
    return rule not in translations.broken_in_session(ends.session, number, ends.profile)


def _changed_earlier(
    rule: str, finding: Finding, way: Passage, pieces: Sequence[SpokenPiece], ends: _Ends, front: str
) -> Traced | None:
    """Trace a fault to the client or the gateway if one of them changed the reply that the pieces repeat."""
    echo = _echo_of(way, pieces, ends)
    if echo is None:
        return None
    lost = _change(ends.changes, echo, [each.before for each in echo.kept])
    if lost is not None:
        return Traced(rule, finding, CLIENT, lost.at, front)
    source = _source_of(echo, ends)
    changed = None if source is None else _change(ends.changes, source, [each.before for each in source.kept])
    return None if changed is None else Traced(rule, finding, GATEWAY, changed.at, front)


def _in_history(
    rule: str, finding: Finding, way: Passage, pieces: Sequence[SpokenPiece], ends: _Ends, front: str
) -> Traced:
    """Trace a fault that the client's request has: what it sends back may have come to it as it is."""
    echo = _echo_of(way, pieces, ends)
    if echo is None:
        return Traced(rule, finding, CLIENT, front, _counterpart(way, front, is_after=False))
    changed = _changed_earlier(rule, finding, way, pieces, ends, front)
    if changed is not None:
        return changed
    source = _source_of(echo, ends)
    if source is None:
        return Traced(rule, finding, "", front, "")
    by = PROVIDER if _any_client_breaks(rule, finding, source, way, ends) else CLIENT
    return Traced(rule, finding, by, source.pointer_before("/response"), front)


def _source_of(echo: Passage, ends: _Ends) -> Passage | None:
    """Return the passage through the gateway of the reply that a client sends back."""
    return next((each for each in ends.ways if each.is_reply and each.numbers[0] == echo.numbers[0]), None)


def _any_client_breaks(rule: str, finding: Finding, source: Passage, way: Passage, ends: _Ends) -> bool:
    """Return whether a request breaks a rule, too, that only sends back the reply as it came."""
    is_back = parse(finding.at)[1] == BACK
    end = way.after.exchange if is_back else way.before.exchange
    made = translations.continued(source.pair, end, end.protocol)
    return made is not None and rule in translations.broken(made, ends.profile if is_back else None)


def _part(way: Passage, pointer: str) -> str:
    """Return whether a place behind a gateway is in what is said or in the settings."""
    _, _, _, *inside = parse(pointer)
    asked = by_name(way.after.exchange.protocol).asked
    return translations.MESSAGES if inside and inside[0] in asked else translations.SETTINGS


def _echo_of(way: Passage, pieces: Sequence[SpokenPiece], ends: _Ends) -> Passage | None:
    """Return the passage through the client of the reply that pieces of a request repeat, or that results answer."""
    echoes = [each for each in ends.ways if each.by == CLIENT and each.numbers[1] <= way.numbers[0]]
    turns = {each.turn for each in pieces}
    said = [(each, {kept.after.turn for kept in each.kept if kept.after is not None}) for each in echoes]
    own = next((each for each, repeated in said if turns & repeated), None)
    if own is None and any([each.kind is Kind.RESULT for each in pieces]):
        earlier = [
            (max(repeated), at) for at, (_, repeated) in enumerate(said) if repeated and max(repeated) < min(turns)
        ]
        own = echoes[max(earlier)[1]] if earlier else None
    return own


def _pieces_at(way: Passage, pointer: str, *, is_after: bool) -> list[SpokenPiece]:
    """Return the pieces before a passage that belong to a place: those of its message."""
    found: list[SpokenPiece] = []
    for kept in way.kept:
        piece = kept.after if is_after else kept.before
        if piece is None:
            continue
        at = way.at_after(piece) if is_after else way.at(piece)
        if f"{at}/".startswith(f"{pointer}/") or f"{pointer}/".startswith(f"{at}/"):
            found.append(kept.before)
    turns = {each.turn for each in found}
    return [each.before for each in way.kept if each.before.turn in turns and each.before.turn >= 0] or found


def _change(changes: Sequence[Difference], way: Passage, pieces: Sequence[SpokenPiece]) -> Difference | None:
    places = {way.at(each) for each in pieces}
    return next((each for each in changes if each.by == way.by and each.at in places), None)


def _counterpart(way: Passage, pointer: str, *, is_after: bool) -> str:
    """Return where the piece at a place stands at the other end; the whole body there if there is no piece."""
    best, there = -1, ""
    for kept in way.kept:
        own, other = (kept.after, kept.before) if is_after else (kept.before, kept.after)
        if own is None or other is None:
            continue
        at = way.at_after(own) if is_after else way.at(own)
        if (f"{at}/".startswith(f"{pointer}/") or f"{pointer}/".startswith(f"{at}/")) and len(at) > best:
            best, there = len(at), way.at(other) if is_after else way.at_after(other)
    whole = way.pointer_before(f"/{way.before.direction}") if is_after else way.pointer_after(f"/{way.after.direction}")
    return there or whole
