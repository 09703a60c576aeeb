"""Findings that say the same at other positions are fixed together, and each patch holds alone."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import fixes, profiles
from conformance.documents.patch import apply
from conformance.files.checking import Checker, File, Task
from conformance.fixes import alike, trial
from conformance.fixes.trial import Scenes
from conformance.formats.records import exchange
from conformance.judge import check
from conformance.results import Finding
from conformance.wire.exchange import Conversation
from tests.loops import every

RULE = "request/no-unknown-fields"


def turns(count: int, **extra: Any) -> list[dict[str, Any]]:
    """Return messages of the user and the assistant in turn, each with some members more."""
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": f"Text {at}", **extra} for at in range(count)]


def asked(messages: list[dict[str, Any]]) -> Conversation:
    return (exchange({"request": {"model": "m", "messages": messages}}, "test"),)


def found(given: Conversation, claims: dict[str, Any] | None = None) -> list[tuple[str, Finding]]:
    outcomes = check(given, profiles.of(claims) if claims else None)
    return [(outcome.rule, each) for outcome in outcomes for each in outcome.findings]


def counted(given: Conversation) -> Counter[str]:
    return Counter(rule for rule, _ in found(given))


@every(
    ("messages", "rule", "trials"),
    [
        (turns(21, prefix=12), RULE, 5),
        (turns(21, **{"a/b~c": 12}), RULE, 5),
        (turns(3, prefix=12), RULE, 9),
        ([*turns(9, prefix=12), *turns(8, sent_by="2026")], RULE, 10),
    ],
)
def test_each_patch_removes_its_finding_alone_and_all_of_them_together(
    messages: list[dict[str, Any]], rule: str, trials: int
) -> None:
    given, scenes = asked(messages), Scenes()
    of_rule = [each for name, each in found(given) if name == rule]
    made = [fixes.fix(given, rule, each, None, scenes=scenes) for each in of_rule]

    assert len(messages) == len(of_rule)
    assert trials >= sum(each.trials for each in made if each is not None)
    request = given[0].request
    for each, finding in zip(made, of_rule, strict=True):
        assert each is not None
        path = finding.at.removeprefix("/0/request")
        assert [{"op": "remove", "path": path}] == list(each.patch)
        alone = asked(apply(request, each.patch)["messages"])
        assert counted(alone) == counted(given) - Counter([rule])
        request_of_all = apply(request, [operation for one in made if one is not None for operation in one.patch])
    assert Counter() == counted(asked(request_of_all["messages"]))


def test_what_is_alike_and_breaks_another_rule_together_is_fixed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[int] = []

    def refuse(self: trial.Trial, candidate: Any, places: Any) -> bool:
        refused.append(len(places))
        return False

    monkeypatch.setattr(trial.Trial, "accepts_for_all", refuse)
    given, scenes = asked(turns(6, prefix=12)), Scenes()
    of_rule = [each for name, each in found(given) if name == RULE]
    made = [fixes.fix(given, RULE, each, None, scenes=scenes) for each in of_rule]

    # It is tried once for all of them, and not again for each.
    assert [6] == refused
    assert [[each.at.removeprefix("/0/request")] for each in of_rule] == [
        [operation["path"] for operation in each.patch] for each in made if each is not None
    ]


def test_what_holds_of_the_first_and_not_of_the_last_is_not_moved() -> None:
    messages = [*turns(6, prefix=12), {"role": "assistant", "content": "", "prefix": "x" * 60}]
    given, scenes = asked(messages), Scenes()
    of_rule = [each for name, each in found(given) if name == RULE]
    made = [fixes.fix(given, RULE, each, None, scenes=scenes) for each in of_rule]
    # The long text would be lost.
    assert [True] * 6 + [False] == [bool(each and each.patch) for each in made]


def test_few_findings_are_fixed_alone() -> None:
    assert 3 < alike.LEAST


@pytest.mark.exhaustive
def test_what_is_moved_in_recordings_holds_alone(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: list[tuple[str, str]] = []
    moved = 0

    def keep(self: trial.Trial, found: Mapping[str, trial.ProvenPatch]) -> None:
        nonlocal moved
        kept(self, found)
        for place, proven in found.items():
            moved += 1
            alone = self.of(place)
            request = apply(self.problem.request, proven.patch)
            if not alone.accepts(proven.candidate._replace(request=request)):
                wrong.append((self.problem.rule, place))

    kept = trial.Trial.keep
    monkeypatch.setattr(trial.Trial, "keep", keep)
    checker = Checker(Task(fixes=True))
    for path in sorted((shared / "recordings").glob("*.jsonl.gz")):
        assert list(checker.file(File(path)))
    assert ([], True) == (wrong, moved > 0)


def test_more_findings_than_are_listed_are_fixed_with_one_operation_each() -> None:
    given, scenes = asked(turns(150, prefix=1, sent_by="x")), Scenes()
    of_rule = [each for name, each in found(given) if name == RULE]
    made = [fixes.fix(given, RULE, each, None, scenes=scenes) for each in of_rule[:100]]

    assert (101, "and 200 more findings of this rule") == (len(of_rule), of_rule[100].message)
    assert {1} == {len(each.patch) for each in made if each is not None}
    # Two groups: in each, the first and the last one alone, and all of them together.
    assert 30 > sum(each.trials for each in made if each is not None)
