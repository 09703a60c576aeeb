"""The core facts for a terminal: verdict, what is claimed, what was observed, and the evidence."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.core_facts import CoreFact
from conformance.reporting.text import labelled
from conformance.results import Verdict

_LABEL: Final = 18


def render(facts: Sequence[CoreFact], title: str, model: str, width: int) -> str:
    """Return the core facts as text, a paragraph each, wrapped to a width."""
    lines = labelled("Core facts:", f"{title}, model {model}", width)
    for fact in facts:
        lines += ["", *labelled(fact.verdict.value.upper(), fact.title, width, 2, _LABEL), *_details(fact, width)]
    return "\n".join(lines)


def untested(facts: Sequence[CoreFact]) -> tuple[CoreFact, ...]:
    """Return the facts that a claim promises and that were not put to the test; they fail a run."""
    return tuple([fact for fact in facts if fact.verdict is Verdict.UNTESTED])


def _details(fact: CoreFact, width: int) -> Iterator[str]:
    claimed = "; ".join(f"{name}: {words}" for name, words in fact.claimed.items())
    rows = [("claimed", claimed), ("observed", fact.observed or "nothing"), ("evidence", ", ".join(fact.evidence))]
    for label, text in (*rows, *(("because", reason) for reason in fact.reasons)):
        if text:
            yield from labelled(label, text, width, 4, _LABEL)
