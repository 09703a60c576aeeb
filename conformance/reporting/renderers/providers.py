"""A page of Markdown for each provider, for whoever integrates it: all that is claimed and was seen, in words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from conformance.profiles import UNKNOWN, Claim, Profile, Source, vocabulary
from conformance.reporting.matrix import PROBES, Verdict
from conformance.reporting.matrix.key_behaviours import SEAMS
from conformance.reporting.matrix.sentences import meaning, refusals
from conformance.reporting.matrix.table import SOURCES, Entered, Subject, Table
from conformance.reporting.text import code, count, prose, rows

_KINDS: Final = {
    "vendor": "serves models of its own",
    "host": "serves models of others",
    "gateway": "hands requests on to other providers",
    "engine": "is software that you run yourself",
}
_SECTIONS: Final = {
    "Thinking": ("thinking.",),
    "Sending reasoning back": ("reasoning.", "signature."),
    "Tools, calls and their ids": ("tools.", "ids.", "arguments."),
    "Results": ("results.",),
    "Content": ("content.",),
    "Requests": ("request.",),
    "Replies": ("reply.", "finish.", "usage."),
    "Streams": ("stream.",),
    "Errors": ("error.", "http."),
}
"""The claims of each section, by how their names begin; what fits none stands under the last heading."""

_REST: Final = "Further"
_IMPOSSIBLE: Final = "impossible"
_BODIES: Final = {"thinking.on": "To have the model think", "thinking.off": "To have it not think"}


_WORDS: Final = """\
Accepted: answered as if nothing were wrong, and what deviates has its natural effect. Ignored: answered, and what
deviates never reaches the model. Damaged: answered, and the reply or the conversation is the worse for it. What is not
named is as the canonical wire.
"""


@dataclass(frozen=True, slots=True)
class _Page:
    """What one page is made of: the provider, its cells of claims by name, all other cells, and its sources so far."""

    profile: Profile
    subject: Subject
    claims: Mapping[str, Entered]
    cells: Sequence[Entered]
    versions: Mapping[str, str]
    calibration: Mapping[str, Any]
    sources: dict[Source, int]

    def cite(self, claim: Claim) -> str:
        """Return the numbers of a claim's sources, which stand at the end of the page."""
        numbers = [self.sources.setdefault(each, len(self.sources) + 1) for each in claim.source]
        return " ".join([f"[{number}](#sources)" for number in numbers])


def publish(table: Table) -> Mapping[str, str]:
    """Return the files, by their paths."""
    pages = {}
    for subject in table.subjects:
        if subject.kind != "adapter" and subject.name == subject.provider:
            pages[f"providers/{subject.name}.md"] = "".join(render(table, subject))
    return pages


def render(table: Table, subject: Subject) -> Iterator[str]:
    """Yield the page of one provider piece by piece."""
    models = [each for each in table.subjects if each.provider == subject.name and each.kind != "adapter"]
    cells = [cell for each in models for cell in table.of(each.name)]
    versions = {name: version for each in models for name, version in each.versions.items()}
    found = {cell.row.partition("/")[2]: cell for cell in cells if cell.claim is not None}
    claims = {name: found[name] for name in vocabulary() if name in found}
    others = [cell for cell in cells if cell.claim is None]
    calibration = table.observed.calibration.get(subject.name, {})
    page = _Page(table.observed.profiles[subject.name], subject, claims, others, versions, calibration, {})
    yield from _head(page)
    yield from _short(page)
    yield from _faults(page)
    known = {name for name, cell in claims.items() if cell.claim is not None and _is_said(cell.claim)}
    for heading, prefixes in _SECTIONS.items():
        yield from _section(page, heading, [name for name in claims if name in known and name.startswith(prefixes)])
    begins = tuple(prefix for prefixes in _SECTIONS.values() for prefix in prefixes)
    yield from _section(page, _REST, [name for name in claims if name in known and not name.startswith(begins)])
    yield from _refusals(page)
    yield from _models(page)
    yield from _unsaid(page)
    yield from _sources(page)


def _head(page: _Page) -> Iterator[str]:
    profile = page.profile
    yield f"# {prose(profile.title)}\n\n"
    yield f"{prose(profile.title)} {_KINDS.get(profile.kind, 'answers chat completions')}."
    yield f" Base URL: {code(profile.base_url)}." if profile.base_url else " Its base URL differs by customer."
    yield f" The key is read from {code(profile.key)}." if profile.key else ""
    yield f" What follows is said of {code(page.subject.model)}, as of today.\n\n" if page.subject.model else "\n\n"
    yield f"{prose(profile.note)}\n\n" if profile.note else ""
    yield "## What this rests on\n\n"
    counts = [cell.verdict for cell in page.claims.values()]
    recordings = page.calibration.get("recordings", 0)
    known = len(counts) - counts.count(Verdict.UNKNOWN)
    yield f"- {count(known, 'claim')}, each with its source. "
    if recordings:
        yield f"{count(recordings, 'recording')} of real traffic confirm {counts.count(Verdict.CONFORMS)} of them "
        yield f"and contradict {counts.count(Verdict.DEPARTS)} in part.\n"
    else:
        yield "No recording of real traffic puts them to the test.\n"
    yield from _evidence(page)
    yield "\n"


def _evidence(page: _Page) -> Iterator[str]:
    kinds = {cell.evidence for cell in page.cells}
    versions = ", ".join(f"{name} {version}" for name, version in page.versions.items())
    if "engine" in kinds:
        yield f"- The suite was recorded with the real server ({prose(versions)}) and a small scripted model.\n"
    if "recorded" in kinds:
        yield "- The suite was recorded with the real endpoint.\n"
    if "simulated" in kinds:
        yield "- The suite was played against the simulator: what it says there is declared, not proven.\n"
    yield f"- To repeat it: {code(f'pytest --provider={page.subject.name}')}; add {code('--live')} and a key to ask "
    yield f"the real endpoint. To list the claims: {code(f'conformance list claims --provider {page.subject.name}')}.\n"


def _short(page: _Page) -> Iterator[str]:
    """Yield the answers to what every agent loop meets, a line a group; what is not known is left out."""
    lines = []
    for group, seams in SEAMS.items():
        said = [
            f"  - {seam.title}: {_safe(meaning(seam.claim, cell.claim.value, code))}\n"
            for seam in seams
            if (cell := page.claims.get(seam.claim)) is not None and cell.claim is not None and _is_said(cell.claim)
        ]
        lines += [f"- **{group}**\n", *said] if said else []
    if lines:
        yield f"## In short\n\n{''.join(lines)}\n{_WORDS}\n"


def _section(page: _Page, heading: str, names: Sequence[str]) -> Iterator[str]:
    """Yield one section: what to send literally, then what the claims say, a row each."""
    if not names:
        return
    yield f"## {heading}\n\n"
    for name in names:
        cell = page.claims[name]
        if name in _BODIES and cell.claim is not None:
            yield from _body(_BODIES[name], cell.claim.value)
    told = [page.claims[name] for name in names if name not in _BODIES]
    yield from rows(["what", "what happens or is so", "seen", "known from"], [_told(page, cell) for cell in told])


def _body(sentence: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        yield f"{sentence}, send:\n\n```json\n{text}\n```\n\n"
    elif value == {}:
        yield f"{sentence}, send nothing more: it is so without.\n\n"
    else:
        yield f"{sentence}: no request does it.\n\n" if value == _IMPOSSIBLE else ""


def _told(page: _Page, cell: Entered) -> list[str]:
    claim = cell.claim
    if claim is None:
        return []
    name = cell.row.partition("/")[2]
    said = meaning(name, claim.value, code)
    dated = [f"since {claim.since}" if claim.since else "", f"until {claim.until}" if claim.until else ""]
    notes = [f"({', '.join(each for each in dated if each)})" if any(dated) else "", _versions(claim)]
    notes += [prose(claim.note)] if claim.note else []
    value = "<br>".join([_safe(said), *(each for each in notes if each)])
    return [prose(vocabulary()[name]), value, _seen(cell), f"{claim.confidence} {page.cite(claim)}"]


def _safe(said: str) -> str:
    """Return a claim's words with what would end the cell of a table taken care of; code spans are by now."""
    return " ".join(said.split())


def _versions(claim: Claim) -> str:
    return f"(versions {prose(claim.versions)})" if claim.versions else ""


def _seen(cell: Entered) -> str:
    return "" if cell.evidence == SOURCES else prose(cell.observed)


def _is_said(claim: Claim) -> bool:
    return bool(claim.value != UNKNOWN)


def _refusals(page: _Page) -> Iterator[str]:
    """Yield what each refusal means: status and text as they come, and what in the request is the cause."""
    found: dict[tuple[int, str], dict[str, None]] = {}
    for name, cell in page.claims.items():
        for refusal in refusals(cell.claim.value) if cell.claim is not None else ():
            found.setdefault((refusal["status"], str(refusal.get("message") or "")), {})[name] = None
    if found:
        yield "## What a refusal means\n\n"
        yield from rows(
            ["status", "text", "cause"],
            [
                [str(status), code(text), "<br>".join([prose(vocabulary()[name]) for name in causes])]
                for (status, text), causes in sorted(found.items(), key=lambda each: each[0])
            ],
        )


def _faults(page: _Page) -> Iterator[str]:
    """Yield what is known to be wrong: rules that are broken, claims that recordings contradict, and disagreements."""
    lines = []
    for cell in page.cells:
        if cell.verdict in (Verdict.BREAKS, Verdict.DEPARTS, Verdict.UNTESTED, Verdict.ERRORED):
            why = f" Expected: {prose(cell.expected)}" if cell.expected else ""
            variant = f", {cell.variant}" if cell.variant else ""
            variant += f", {prose(cell.subject)}" if cell.subject != page.subject.name else ""
            name = cell.row.removeprefix(f"{PROBES}/")
            lines.append(f"{code(name)} ({cell.evidence}{variant}) {cell.verdict.value}: {prose(cell.observed)}.{why}")
    for name, cell in page.claims.items():
        if cell.verdict is Verdict.DEPARTS:
            lines.append(f"{code(name)}: claimed {code(cell.claimed)}, {prose(cell.observed)}.")
        for other in cell.claim.disagrees if cell.claim is not None else ():
            note = f" {prose(other.note)}" if other.note else ""
            said = meaning(name, other.value, code)
            lines.append(f"{code(name)}: {_link(other.source)} says otherwise: {_safe(said)}.{note}")
    if lines:
        yield "## Known faults and disagreements\n\n" + "".join([f"- {line}\n" for line in lines]) + "\n"


def _models(page: _Page) -> Iterator[str]:
    """Yield how other models differ: their own claims where they are not those of the page."""
    lines = []
    for model in page.profile.models:
        own = [history[-1] for history in model.claims.values()]
        told = [f"{code(each.name)} {_safe(meaning(each.name, each.value, code))}" for each in own if _is_said(each)]
        note = prose(model.note)
        if told or note:
            lines.append([code(model.name), "<br>".join([*([note] if note else []), *told])])
    if lines:
        yield "## Models that differ\n\n"
        yield from rows(["model", "what is so of it today"], lines)


def _unsaid(page: _Page) -> Iterator[str]:
    unsaid = [name for name, cell in page.claims.items() if cell.claim is not None and not _is_said(cell.claim)]
    if unsaid:
        yield "## Not known\n\nLooked for and not found: " + ", ".join([code(name) for name in unsaid]) + ".\n\n"


def _sources(page: _Page) -> Iterator[str]:
    if page.sources:
        yield "## Sources\n\n"
        for source, number in page.sources.items():
            read = f", read {source.read}" if source.read else ""
            quote = f": “{prose(source.quote)}”" if source.quote else ""
            yield f"{number}. {_link(source)}{read}{quote}\n"


def _link(source: Source) -> str:
    return f"<{source.url}>" if re.fullmatch(r"https?://[^\s<>]+", source.url) else prose(source.url)
