"""A page of Markdown for each provider, for integrators: its claims and what was observed, in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import orjson

from conformance.profiles import UNKNOWN, Claim, Profile, Source, retired, vocabulary
from conformance.profiles.lifecycle import FOREVER
from conformance.reporting.answers import SubjectAnswer
from conformance.reporting.answers.providers import QUESTIONS, provider_answers
from conformance.reporting.answers.wires import position, titles
from conformance.reporting.matrix import PROBES
from conformance.reporting.matrix.headline import OPEN, rests_on
from conformance.reporting.matrix.key_behaviours import KEY_BEHAVIOURS, safe_choice
from conformance.reporting.matrix.sentences import describe, handlings, refusals, wrapped_texts
from conformance.reporting.matrix.table import ADAPTER, FAILING, SOURCES, Table, TableCell, TableSubject
from conformance.reporting.page.facts import EVIDENCE, MEANINGS
from conformance.reporting.provider_facts import dates, lifecycle_rows, requests
from conformance.reporting.templates import render_template
from conformance.reporting.text import code, link, prose
from conformance.results import Evidence, Verdict

_KINDS: Final = {
    "vendor": "serves its own models",
    "host": "hosts models of other vendors",
    "gateway": "routes requests to other providers",
    "engine": "is software that you run yourself",
    "specification": "is a specification that servers follow",
}
_SECTIONS: Final = {
    "Thinking": ("thinking.",),
    "Reasoning": ("reasoning.", "signature."),
    "Tools, tool calls and ids": ("tools.", "ids.", "arguments."),
    "Tool results": ("results.",),
    "Content": ("content.",),
    "Requests": ("request.",),
    "Replies": ("reply.", "finish.", "usage."),
    "Streams": ("stream.",),
    "Errors": ("error.", "http."),
    "Other": ("",),
}
"""The sections and the prefixes of their claims; a claim belongs to the first section that has a prefix of it."""

_BODIES: Final = {"thinking.on": "To turn thinking on", "thinking.off": "To turn thinking off"}
_IMPOSSIBLE: Final = "impossible"


class _Section(NamedTuple):
    """A section of claims: purposes with what a request has to send, and the rows of a table."""

    heading: str
    bodies: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]


class _Facts(NamedTuple):
    """The core facts: the heads of the columns, and a row for each fact."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Provider:
    """A provider: its claims with their cells, by claim name, and the cells of its rules and probes."""

    subject: TableSubject
    profile: Profile
    claims: Mapping[str, tuple[Claim, TableCell]]
    cells: Sequence[TableCell]
    versions: Mapping[str, str]

    @property
    def known(self) -> Mapping[str, tuple[Claim, TableCell]]:
        """Return the claims whose values are known."""
        return {name: found for name, found in self.claims.items() if _is_known(found[0])}


def publish(table: Table) -> Mapping[str, str]:
    """Return the files by their paths."""
    subjects = [each for each in table.subjects if each.kind != ADAPTER and each.name == each.provider]
    return {f"providers/{subject.name}.md": render(table, subject) for subject in subjects}


def render(table: Table, subject: TableSubject) -> str:
    """Return the page of one provider."""
    provider = _provider(table, subject)
    sources: dict[Source, int] = {}
    verdicts = [cell.verdict for _, cell in provider.claims.values()]
    profile = provider.profile
    sections = list(_sections(provider, sources))
    return render_template(
        "_markdown/provider.md.j2",
        name=subject.name,
        model=subject.model,
        profile=profile,
        as_of="" if profile.as_of == FOREVER else profile.as_of,
        ended=retired(profile.lifecycle, profile.as_of),
        dates=dates({name: claim for name, (claim, _) in provider.known.items()}),
        kind=_KINDS.get(profile.kind, "answers chat completions"),
        known=len(verdicts) - verdicts.count(Verdict.UNKNOWN),
        open=sum(1 for _, cell in provider.known.values() if rests_on(cell) == OPEN),
        confirmed=sum(1 for _, cell in provider.claims.values() if _is_confirmed(cell)),
        measured=sum(1 for _, cell in provider.claims.values() if _is_stored(cell)),
        contradicted=verdicts.count(Verdict.DEPARTS),
        recordings=table.inputs.calibration.get(subject.name, {}).get("recordings", 0),
        evidence={cell.evidence for cell in provider.cells},
        versions=", ".join(f"{name} {version}" for name, version in provider.versions.items()),
        facts=_facts(table, subject),
        behaviours=list(_behaviours(provider)),
        handlings=handlings(),
        problems=[*_failing(provider), *_disputed(provider)],
        requests=list(requests(profile)),
        sections=sections,
        refusals=_refusals(provider),
        lifecycles=list(lifecycle_rows(profile, lambda source: _cited(source, sources))),
        models=list(_models(profile)),
        unknown=[name for name in provider.claims if name not in provider.known],
        sources=list(sources),
    )


def _facts(table: Table, subject: TableSubject) -> _Facts:
    """Return the core facts of a provider, with a column for each wire: what holds on one says nothing of another."""
    same = [each for each in table.subjects if each.kind != ADAPTER and each.service == subject.service]
    wires = sorted([each for each in same if each.name == each.provider], key=lambda each: position(each.wire))
    names = {each.name for each in wires}
    inputs = replace(table.inputs, results=[each for each in table.inputs.results if each.name in names])
    answered = {each.subject: each.answers for each in provider_answers(inputs)}
    rows = [
        [question.text, *(_answer(answered[each.name][number]) for each in wires)]
        for number, question in enumerate(QUESTIONS)
    ]
    return _Facts(["", *(_head(each, subject) for each in wires)], rows)


def _head(subject: TableSubject, shown: TableSubject) -> str:
    """Return the head of a wire's column, which links to the wire's own page."""
    title = titles()[subject.wire]
    return title if subject.name == shown.name else f"[{title}]({subject.name}.md)"


def _answer(answer: SubjectAnswer) -> str:
    notes = "; ".join([prose(each) for each in answer.notes])
    on = f" on {prose(answer.seen_model)}" if answer.seen_model else ""
    last = f", last {answer.seen}{on}" if answer.seen else f", read {answer.read}" if answer.read else ""
    kind = f"{EVIDENCE[answer.evidence][1]}{last}"
    return "<br>".join(filter(None, [f"{MEANINGS[answer.meaning][0]} **{prose(answer.value)}**", notes, kind]))


def _provider(table: Table, subject: TableSubject) -> _Provider:
    models = [each for each in table.subjects if each.provider == subject.name and each.kind != ADAPTER]
    cells = [cell for each in models for cell in table.of(each.name)]
    found = {cell.row.partition("/")[2]: (cell.claim, cell) for cell in cells if cell.claim is not None}
    return _Provider(
        subject,
        table.inputs.profiles[subject.name],
        {name: found[name] for name in vocabulary() if name in found},
        [cell for cell in cells if cell.claim is None],
        {name: version for each in models for name, version in each.versions.items()},
    )


def _behaviours(provider: _Provider) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """Yield the known key behaviours by topic, each with its title and value."""
    for topic, behaviours in KEY_BEHAVIOURS.items():
        known = [(each.title, *provider.known[each.claim]) for each in behaviours if each.claim in provider.known]
        if known:
            yield (
                topic,
                [
                    (title, _safely(provider, claim) + _described(claim.name, claim.value) + _contested(claim, cell))
                    for title, claim, cell in known
                ],
            )


def _safely(provider: _Provider, claim: Claim) -> str:
    """Return the safe choice in front of a behaviour that a source says is refused; empty if none does."""
    choice = safe_choice(provider.profile, provider.subject.model, claim.name)
    return f"**{choice}**; " if choice else ""


def _contested(claim: Claim, cell: TableCell) -> str:
    """Return the mark of a claim that other sources or recordings contradict; empty for other claims."""
    by = ["another source"] if claim.disagrees else []
    by += ["recordings"] if cell.verdict is Verdict.DEPARTS else []
    return f" (contested by {' and '.join(by)}; see [below](#known-failures-and-conflicting-sources))" if by else ""


def _failing(provider: _Provider) -> Iterator[str]:
    """Yield the rules and probes that fail, depart or were not tested."""
    for cell in provider.cells:
        if cell.verdict in FAILING:
            model = prose(cell.subject) if cell.subject != provider.subject.name else ""
            about = ", ".join(each for each in (cell.evidence, cell.variant, model) if each)
            expected = f" Expected: {prose(cell.expected)}" if cell.expected else ""
            name = code(cell.row.removeprefix(f"{PROBES}/"))
            yield f"{name} ({about}) {cell.verdict.value}: {prose(cell.observed)}.{expected}"


def _disputed(provider: _Provider) -> Iterator[str]:
    """Yield the claims that recordings or other sources contradict."""
    for name, (claim, cell) in provider.claims.items():
        if cell.verdict is Verdict.DEPARTS:
            yield f"{code(name)}: claimed {code(cell.claimed)}, {prose(cell.observed)}."
        for other in claim.disagrees:
            note = f" {prose(other.note)}" if other.note else ""
            source = link(other.source.link, other.source.text)
            yield f"{code(name)}: {source} disagrees: {_described(name, other.value)}.{note}"


def _sections(provider: _Provider, sources: dict[Source, int]) -> Iterator[_Section]:
    """Yield the sections that have known claims; sources are numbered as they occur."""
    left = dict(provider.known)
    for heading, prefixes in _SECTIONS.items():
        own = {name: left.pop(name) for name in list(left) if name.startswith(prefixes)}
        bodies = [(_BODIES[name], _body(claim)) for name, (claim, _) in own.items() if name in _BODIES]
        rows = [_row(claim, cell, sources) for name, (claim, cell) in own.items() if name not in _BODIES]
        if own:
            yield _Section(heading, bodies, rows)


def _body(claim: Claim) -> str:
    """Return what a request has to send, as indented JSON or in words."""
    if isinstance(claim.value, Mapping):
        return orjson.dumps(claim.value, option=orjson.OPT_INDENT_2).decode() if claim.value else "no parameter needed"
    return "not possible" if claim.value == _IMPOSSIBLE else _described(claim.name, claim.value)


def _row(claim: Claim, cell: TableCell, sources: dict[Source, int]) -> Sequence[str]:
    dates = [f"since {claim.since}" if claim.since else "", f"until {claim.until}" if claim.until else ""]
    notes = [f"({', '.join(each for each in dates if each)})" if any(dates) else ""]
    notes += [f"(versions {prose(claim.versions)})" if claim.versions else "", prose(claim.note)]
    value = "<br>".join([_described(claim.name, claim.value), *(note for note in notes if note)])
    observed = prose(cell.observed)
    if observed and cell.evidence in (Evidence.RECORDED, SOURCES):
        observed = f"[{observed}](../evidence/{cell.subject}.md#{claim.name.replace('.', '')})"
    cited = [_cited(each, sources) for each in claim.source]
    return [prose(vocabulary()[claim.name]), value, observed, f"{claim.confidence} {' '.join(cited)}"]


def _cited(source: Source, sources: dict[Source, int]) -> str:
    """Return the link to a source, which gets the next number if it has none."""
    return f"[{sources.setdefault(source, len(sources) + 1)}](#sources)"


def _refusals(provider: _Provider) -> Iterable[Sequence[str]]:
    """Return each error response, by status and text, with what in the request causes it."""
    causes: dict[tuple[int, str, str], dict[str, None]] = {}
    for name, (claim, _) in provider.claims.items():
        for refusal in refusals(claim.value):
            wrapped = "".join([f"<br>wraps {code(text)}" for text in wrapped_texts(refusal)])
            causes.setdefault((refusal["status"], str(refusal.get("message") or ""), wrapped), {})[name] = None
    return [
        [str(status), code(text) + wrapped, "<br>".join([prose(vocabulary()[name]) for name in names])]
        for (status, text, wrapped), names in sorted(causes.items(), key=lambda each: each[0])
    ]


def _models(profile: Profile) -> Iterator[Sequence[str]]:
    """Yield the models that are served and have a note or claims of their own, with those."""
    for model in profile.models:
        if not profile.is_served(model.name):
            continue
        held = [claim for history in model.claims.values() for claim in history if claim.holds(profile.as_of)]
        known = [f"{code(each.name)} {_described(each.name, each.value)}" for each in held if _is_known(each)]
        differences = [prose(model.note), *known] if model.note else known
        if differences:
            yield [code(model.name), "<br>".join(differences)]


def _described(name: str, value: Any) -> str:
    """Return a claim's value in words, on one line."""
    return " ".join(describe(name, value, code).split())


def _is_known(claim: Claim) -> bool:
    return bool(claim.value != UNKNOWN)


def _is_stored(cell: TableCell) -> bool:
    """Return True for a claim that a stored exchange with the engine shows."""
    return cell.verdict is Verdict.CONFORMS and cell.evidence == Evidence.ENGINE


def _is_confirmed(cell: TableCell) -> bool:
    return cell.verdict is Verdict.CONFORMS and cell.evidence == Evidence.RECORDED
