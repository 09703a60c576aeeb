"""The core facts for a terminal: verdict, what is claimed, what was observed, and the evidence."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.core_facts import CoreFact
from conformance.results import Verdict

_WIDTH: Final = 110
_LABEL: Final = 20


def render(facts: Sequence[CoreFact], title: str, model: str) -> str:
    """Return the core facts as text, a paragraph each."""
    lines = [f"Core facts: {title}, model {model}", ""]
    for fact in facts:
        lines += [f"  {fact.verdict.value.upper():{_LABEL - 4}}  {fact.title}", *_details(fact)]
    return "\n".join(lines)


def untested(facts: Sequence[CoreFact]) -> tuple[CoreFact, ...]:
    """Return the facts that a claim promises and that were not put to the test; they fail a run."""
    return tuple([fact for fact in facts if fact.verdict is Verdict.UNTESTED])


def _details(fact: CoreFact) -> Iterator[str]:
    claimed = "; ".join(f"{name}: {words}" for name, words in fact.claimed.items())
    yield from _labelled("claimed", claimed)
    yield from _labelled("observed", fact.observed or "nothing")
    yield from _labelled("evidence", ", ".join(fact.evidence))
    for reason in fact.reasons:
        yield from _labelled("because", reason)


def _labelled(label: str, text: str) -> Iterator[str]:
    for number, line in enumerate(textwrap.wrap(" ".join(text.split()), _WIDTH - _LABEL)):
        yield f"{'' if number else label:>{_LABEL - 2}}  {line}"
