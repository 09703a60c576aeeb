"""Prints what the results of agents show, as the table of docs/agents.md: `python -m tests.agent_table`."""

from pathlib import Path

from conformance import scenarios
from conformance.adapters import definition
from conformance.results import Level, Status
from conformance.results.files import read
from conformance.results.runs import Case

RESULTS = Path(__file__).parents[1] / "reports" / "results" / "adapters"
SHORT = {
    "parallel-reads": "parallel",
    "equal-names": "names",
    "ids-restart": "ids",
    "command-fails": "fails",
    "command-denied": "denied",
    "empty-result": "empty",
    "long-output": "long",
    "tools-of-its-own": "tools",
    "interleaved-thinking": "thinking",
    "cut-stream": "cut",
    "rate-limited": "429",
    "overloaded": "529",
    "context-length": "length",
    "resumed-session": "resumed",
    "other-model": "model",
}


def table() -> str:
    """Return a line for each agent and wire: ✓ nothing broken, ✗ a MUST, ~ a SHOULD, – not played."""
    lines = [f"| agent | wire | {' | '.join(SHORT.values())} |", f"| --- | --- |{' --- |' * len(SHORT)}"]
    assert set(SHORT) == set(scenarios.driven_names())
    for name in definition.names():
        found = definition.load(name)
        for path in sorted(RESULTS.glob(f"{name}@{found.version}.*.json")) if found.agent else ():
            cases = {case.scenario: case for case in read(path, []).cases}
            marks = " | ".join([_mark(cases.get(scenario)) for scenario in SHORT])
            lines.append(f"| {found.agent.get('family', name)} {found.version} | {found.protocol} | {marks} |")
    return "\n".join(lines)


def _mark(case: Case | None) -> str:
    if case is None or not case.outcomes:
        return "–"
    if any(each.status is Status.ERRORED for each in case.outcomes):
        return "!"
    failed = {each.level for each in case.outcomes if each.status is Status.FAILED}
    return "✗" if Level.MUST in failed else "~" if Level.SHOULD in failed else "✓"


if __name__ == "__main__":
    print(table())
