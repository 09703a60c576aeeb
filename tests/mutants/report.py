"""The score of a sample, as the JSON object of `reports/mutants.json` and for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.mutants.changes import Change, Key
from tests.mutants.drawing import Equivalent
from tests.mutants.running import Fate, Verdict


def score(seed: int, verdicts: Mapping[Change, Verdict], equivalent: list[Equivalent]) -> dict[str, Any]:
    """Return the score: how many changes were tried and noticed, those that were not, and those that cannot be."""
    missed = [(change, verdict.fate) for change, verdict in verdicts.items() if verdict.fate is not Fate.KILLED]
    noticed = len(verdicts) - len(missed)
    return {
        "seed": seed,
        "sample": len(verdicts),
        "noticed": noticed,
        "share": round(noticed / len(verdicts), 4) if verdicts else 0.0,
        "missed": sorted([_place(change.key) | {"fate": fate} for change, fate in missed], key=repr),
        "equivalent": sorted([_place(each.key) | {"why": each.why} for each in equivalent], key=repr),
    }


def render_score(score: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report of a score line by line."""
    for heading, word in (("missed", "fate"), ("equivalent", "why")):
        if score[heading]:
            yield from ("", f"{heading.capitalize()}:")
        for each in score[heading]:
            yield f"  {each['file']} {each['in']}: {each['from']} -> {each['to']} ({each[word]})"
    yield ""
    yield f"{score['noticed']} of {score['sample']} changes noticed: {score['share']:.1%}"


def _place(key: Key) -> dict[str, Any]:
    file, holder, before, after, nth = key
    return {"file": file, "in": holder, "from": before, "to": after} | ({"nth": nth} if nth > 1 else {})
