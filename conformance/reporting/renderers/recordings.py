"""A page of Markdown for each provider with public recordings: which of them show the value of which claim."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.evidence import index
from conformance.evidence.entries import AGAINST, ANSWERED, ARTEFACT, OTHERWISE, SHOWN
from conformance.evidence.index import IndexedRecording
from conformance.reporting.matrix import brief
from conformance.reporting.matrix.table import ADAPTER, Table, TableSubject
from conformance.reporting.text import code, plural, prose

_MOST: Final = 12
"""How many recordings of one kind are linked; `conformance evidence list` prints all."""

_HEADINGS: Final = {
    SHOWN: "confirmed by",
    AGAINST: "contradicted by",
    OTHERWISE: "another value in",
    ANSWERED: "answered without an error, which does not show the value, in",
}


def publish(table: Table) -> Mapping[str, str]:
    """Return the files by their paths."""
    calibration = table.inputs.calibration
    subjects = [each for each in table.subjects if each.kind != ADAPTER and each.name == each.provider]
    held = [(each, calibration.get(each.name, {})) for each in subjects]
    return {f"evidence/{each.name}.md": render(each, evidence) for each, evidence in held if evidence.get("exchanges")}


def render(subject: TableSubject, evidence: Mapping[str, Any]) -> str:
    """Return the page of one provider."""
    page = _Page(index.digests(evidence["exchanges"]))
    lines = [f"# Recordings of {prose(subject.title)}", "", *_about(subject.name, evidence["recordings"])]
    for claim in dict.fromkeys(each["claim"] for each in evidence["claims"]):
        entries = [line for each in evidence["claims"] if each["claim"] == claim for line in page.entry(each)]
        if entries:
            lines += ["", f"## {claim}", "", *entries]
    return "\n".join([*lines, "", *page.definitions()]) + "\n"


def _about(name: str, recordings: int) -> Iterator[str]:
    """Yield the lines that say what the page lists and how to repeat it."""
    yield f"{plural(recordings, 'recording')} of real traffic in public repositories, and the claims of"
    yield f"[the profile](../providers/{name}.md) that they confirm or contradict. Each link leads to the file at the"
    yield "commit that was read; #n is the number of the interaction in it, from 0."
    yield ""
    yield f"To repeat the counts: `conformance evidence fetch --provider {name}`, then"
    yield f"`conformance evidence calibrate --provider {name}`. To check every recording:"
    yield f"`pytest --provider={name} --evidence recorded`."


class _Page:
    """The links of one page; each recording is defined once, at the end."""

    def __init__(self, digests: Sequence[str]) -> None:
        self._digests = digests
        self._known = index.by_digest()
        self._linked: dict[int, IndexedRecording] = {}

    def entry(self, entry: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines about one entry of the profile; none if no recording shows anything about it."""
        found = [f"  - {heading} {self._links(entry[kind])}" for kind, heading in _HEADINGS.items() if entry.get(kind)]
        for reason in dict.fromkeys(reason for _, reason in entry.get(ARTEFACT, ())):
            positions = [number for number, each in entry[ARTEFACT] if each == reason]
            found.append(f"  - not counted, {prose(reason)}: {self._links(positions)}")
        if found:
            times = [f"{name} {entry[name]}" for name in ("since", "until") if name in entry]
            about = ", ".join([*([code(entry["model"])] if entry["model"] else []), *times])
            yield f"- {code(brief(entry['value']))}{f' ({about})' if about else ''}"
            yield from found

    def definitions(self) -> Iterator[str]:
        """Yield where each link leads to."""
        for number, recording in sorted(self._linked.items()):
            yield f"[{number}]: {recording.link}"

    def _links(self, positions: Sequence[int]) -> str:
        recordings = [(number, self._known.get(self._digests[number])) for number in positions]
        public = [(number, each) for number, each in recordings if each is not None]
        public.sort(key=lambda each: (each[1].date, each[0]), reverse=True)
        self._linked |= dict(public[:_MOST])
        shown = [f"[{each.date or 'undated'} #{each.number}][{number}]" for number, each in public[:_MOST]]
        rest = len(positions) - len(shown)
        return f"{plural(len(positions), 'recording')}: {', '.join(shown)}{f' and {rest} more' if rest else ''}"
