"""What a cited file shows of the claim that cites it: the quote, or else the value beside the model's name."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from conformance.evidence.cited.citations import Citation
from conformance.evidence.cited.generations import names_another, names_generation
from conformance.evidence.cited.opening import OpenedFile
from conformance.evidence.cited.texts import SLACK, CitedText
from conformance.profiles import Source

_LONG_WORD = 6
"""Letters of a word that tells something where no lines are cited; `low` and `400` are everywhere."""


_LIST = 5
"""Words of a list that describes a whole file, such as the parameters of a request; they stand far from each other."""


class Proof(StrEnum):
    """What was found. `ELSEWHERE`: the quote, but not at the lines or the path that are cited."""

    QUOTE = "quote found"
    VALUE = "value found"
    ELSEWHERE = "stands elsewhere"
    NO_QUOTE = "quote not found"
    NO_MODEL = "model not found"
    NOTHING = "nothing to find"


class Shown(NamedTuple):
    """What a file shows, where (a line, 0 if nowhere), and why it is not enough."""

    proof: Proof
    line: int = 0
    detail: str = ""

    @property
    def is_found(self) -> bool:
        """Return True if the file shows what it is cited for."""
        return self.proof in (Proof.QUOTE, Proof.VALUE)


def shown(citation: Citation, source: Source, opened: OpenedFile) -> Shown:
    """Return what an opened file shows."""
    file = source.file
    ranges = file.lines if file else ()
    text = opened.text
    if opened.path != opened.place.path:
        return Shown(Proof.ELSEWHERE, 0, f"the file is {opened.path}")
    if ranges and max(last for _, last in ranges) > text.last:
        return Shown(Proof.ELSEWHERE, 0, f"the file has {text.last:,} lines")
    return _quote(source.quote, text, ranges) if source.quote else _value(citation, text, ranges)


def without_model(citation: Citation, files: Sequence[tuple[Source, OpenedFile]]) -> str:
    """Return why files do not show of which model they speak: none of them names it; empty if one does.

    A source that says why the model is one of those that a file means names it, too.
    """
    said = " ".join([source.inferred for source in citation.sources]).lower()
    if not citation.models or any(model.lower().strip("*") in said for model in citation.models):
        return ""
    if any(_names(citation, source, opened) for source, opened in files):
        return ""
    return f"no cited file names {citation.models[0].strip('*')}"


def _quote(quote: str, text: CitedText, ranges: Sequence[tuple[int, int]]) -> Shown:
    at = list(text.find(quote))
    if not at:
        return Shown(Proof.NO_QUOTE, 0, quote)
    inside = [line for line in at if any(first - SLACK <= line <= last + SLACK for first, last in ranges)]
    if inside or not ranges:
        return Shown(Proof.QUOTE, (inside or at)[0])
    return Shown(Proof.ELSEWHERE, at[0], f"the quote stands at line {at[0]:,}")


def _value(citation: Citation, text: CitedText, ranges: Sequence[tuple[int, int]]) -> Shown:
    for message in citation.messages:
        at = next(text.find(message), 0)
        if at:
            return Shown(Proof.VALUE, at)
    for pattern in citation.patterns:
        at = text.fits(pattern, ranges)
        if at:
            return Shown(Proof.VALUE, at)
    words = citation.words
    if len(words) >= _LIST and not (ranges or citation.models) and all(text.near([word]) for word in words):
        return Shown(Proof.VALUE, text.near(words[:1]))
    tells = ranges or any(len(word) >= _LONG_WORD and not word.isdigit() for word in words) or citation.models
    if words and tells:
        for model in citation.models or ("",):
            at = text.near([*words, *([model] if model and not ranges else [])], ranges)
            if at:
                return Shown(Proof.VALUE, at)
    looked = ", ".join([*words, *citation.messages])
    beside = f" beside {citation.models[0].strip('*')}" if citation.models and looked else ""
    return Shown(Proof.NOTHING, 0, f"no {looked}{beside}" if looked else "the value has no words that a file can hold")


def _names(citation: Citation, source: Source, opened: OpenedFile) -> bool:
    # What is quoted of other models shows nothing of this one, whatever else its file names.
    if citation.models and all(names_another(model, source.quote) for model in citation.models):
        return False
    text = opened.text
    return any(
        text.near([model])
        or model.lower().strip("*") in f"{opened.path} {source.quote}".lower()
        or names_generation(model, f"{source.quote}\n{opened.content}")
        for model in citation.models
    )
