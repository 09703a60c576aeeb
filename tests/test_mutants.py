"""The runner of mutants: what it changes and what it leaves, which tests it chooses, and what it makes of them."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from coverage import CoverageData

from tests.mutants.changes import Change, changes
from tests.mutants.choosing import FILE, MANY, MOST, Choice
from tests.mutants.drawing import Equivalent, draw, equivalents
from tests.mutants.ledger import Ledger
from tests.mutants.report import render_score, score
from tests.mutants.running import Fate, Verdict, Worker, made, sources, tried
from tests.mutants.worker import graft

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a < b -> a <= b"]),
        ("a is not None", ["a is not None -> a is None"]),
        ("a and b or c", ["a and b or c -> ((a and b) and c)", "a and b -> (a or b)"]),
        ("not a", ["not a -> a"]),
        ("a + b - c", ["a + b - c -> (a + b + c)", "a + b -> (a - b)"]),
        ("x = 7", ["7 -> 8"]),
        ("x = True", ["True -> False"]),
        ("x = 'é', 'b'", ["'é' -> 'other é'", "'b' -> 'other b'"]),
        ("x = a if b else c", ["a if b else c -> (c if b else a)"]),
        ("Level.MUST", ["Level.MUST -> Level.SHOULD"]),
        ("def f():\n    return a", ["return a -> return None"]),
        ("for a in b:\n    continue", ["continue -> break"]),
        ("f(a)", ["f(a) -> pass"]),
        ("a += b", ["a += b -> pass"]),
        # What is not behaviour stays: docstrings, annotations, messages, names that are exported, empty results.
        ('"""A module."""', []),
        ("x: Literal['a'] = y", []),
        ("def f(a: 'A') -> 'B': pass", []),
        ("raise E('no', 7)", []),
        ("x = f'{a} b'", []),
        ("__all__ = ['a']", []),
        ("def f():\n    return []", []),
        ("def f():\n    return", []),
        ("def f():\n    return True", ["True -> False"]),
        ("@cache\ndef f(): pass", []),
        ("A: TypeAlias = Callable[['B'], None]", []),
        ("T = TypeVar('T', 'A', 'B')", []),
        ("if TYPE_CHECKING:\n    x = 1", []),
        ("assert a < b", []),
        ("KINDS: Final = {'a': 'what it means'}", ["'a' -> 'other a'"]),
        ("@rule(Level.MAY, on=a, bad=[7], good=[8], source=S('u'))\ndef f(): pass", ["Level.MAY -> Level.MUST"]),
    ],
)
def test_each_place_that_decides_something_is_changed(source: str, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(source, "utf-8")
    found = changes(tmp_path, "code.py")
    assert sorted(expected) == sorted(str(each).partition(": ")[2] for each in found)
    for each in found:
        changed = each.applied(path.read_bytes()).decode()
        compile(changed, "code.py", "exec")
        assert source != changed


def test_the_data_of_the_examples_of_rules_are_left_alone() -> None:
    found = changes(ROOT, "conformance/rules/request/roles_alternate.py")
    assert {"role == following", "Level.MUST", '"request.successive-same-role"'} <= {each.before for each in found}
    assert not any("deepseek" in each.before for each in found)


def test_only_the_code_that_decides_verdicts_is_changed() -> None:
    found = sources(ROOT)
    assert {"conformance/judge.py", "conformance/gate.py", "conformance/wire/resent.py"} <= set(found)
    assert not any(each.startswith(("conformance/cli", "conformance/reporting", "tests")) for each in found)


SOURCE = """\
LIMIT = 3


@rule(Level.MUST)
def judge(given, most=LIMIT):
    if given:
        return 1 < most
    return 1 < most


class A:
    def f(self):
        return LIMIT
"""


@pytest.fixture
def module(tmp_path: Path) -> dict[int, list[Change]]:
    """Write SOURCE as `code.py` and return its changes by line."""
    (tmp_path / "code.py").write_text(SOURCE, "utf-8")
    by_line: dict[int, list[Change]] = {}
    for each in changes(tmp_path, "code.py"):
        by_line.setdefault(each.line, []).append(each)
    return by_line


def test_a_change_keeps_its_name_when_lines_move(module: dict[int, list[Change]], tmp_path: Path) -> None:
    assert ["LIMIT", "judge", "judge", "judge", "A.f"] == [module[line][0].holder for line in (1, 4, 7, 8, 13)]
    assert [1, 2] == [each.nth for line in (7, 8) for each in module[line] if each.before == "1 < most"]
    (tmp_path / "code.py").write_text("import a\n\n" + SOURCE, "utf-8")
    assert [each.key for found in module.values() for each in found] == [
        each.key for each in changes(tmp_path, "code.py")
    ]


def test_a_seed_gives_each_change_a_place_that_others_do_not_alter(module: dict[int, list[Change]]) -> None:
    every = [each for found in module.values() for each in found]
    drawn = draw(every, 0, 4, []).drawn
    assert 4 == len(set(drawn))
    assert drawn == draw(every[::-1], 0, 4, []).drawn
    assert drawn[1:] == draw([each for each in every if each != drawn[0]], 0, 3, []).drawn
    assert drawn != draw(every, 1, 4, []).drawn
    # Of equivalent changes, those are listed that the sample would hold, and others are drawn in their place.
    first, second = [Equivalent(each.key, "why") for each in (drawn[0], draw(every, 0, 99, []).drawn[-1])]
    sample = draw(every, 0, 3, [first, second])
    assert (drawn[1:], [first]) == (sample.drawn, sample.equivalent)


def test_each_equivalent_change_is_one_that_could_be_drawn_and_has_a_reason() -> None:
    listed = equivalents()
    known = {change.key for file in {each.key[0] for each in listed} for change in changes(ROOT, file)}
    assert [] == [each.key for each in listed if each.key not in known]
    assert len(listed) == len({each.key for each in listed})
    assert all(each.why.endswith(".") for each in listed)


def measured(folder: Path, tests: Mapping[str, Sequence[int]]) -> Choice:
    """Return the choice among tests, each of which runs some lines of `code.py` and takes a second."""
    data = CoverageData(str(folder / "coverage"))
    for test, lines in tests.items():
        data.set_context(f"{test}|run")
        data.add_lines({"code.py": list(lines)})
    data.write()
    (folder / "seconds.json").write_text(json.dumps(dict.fromkeys(tests, 1.0)), "utf-8")
    return Choice(folder, folder)


def test_the_tests_that_run_a_line_are_chosen_cheap_files_first(
    module: dict[int, list[Change]], tmp_path: Path
) -> None:
    choice = measured(
        tmp_path,
        {
            "tests/test_big.py::test_a[x|y]": [6, 7],
            "tests/test_big.py::test_b": [6, 7],
            "tests/test_small.py::test_c": [6, 7],
            "tests/test_other.py::test_d": [13],
        },
    )
    small, big = ["tests/test_small.py::test_c"], ["tests/test_big.py::test_a[x|y]", "tests/test_big.py::test_b"]
    assert [*small, *big] == choice.tests(module[7][0])
    assert [] == choice.tests(module[8][0])
    # What runs at import concerns the tests of its function or of its uses, and then every test of the module.
    assert [*small, *big, "tests/test_other.py::test_d"] == choice.tests(module[4][0])
    assert ["tests/test_other.py::test_d", *small, *big] == choice.tests(module[1][0])
    assert [True, True, False] == [choice.acts_at_import(module[line][0]) for line in (1, 4, 7)]
    choice.noticed(big[0])
    choice.noticed(big[0])
    assert [*big, *small] == choice.tests(module[7][0])


def test_tests_run_in_batches_of_which_the_first_are_short(tmp_path: Path) -> None:
    many = [f"tests/test_big.py::test_{number}" for number in range(MANY + 1)]
    few = ["tests/test_a.py::test_a", "tests/test_b.py::test_b", "tests/test_c.py::test_c"]
    choice = measured(tmp_path, {test: [1] for test in [*few, *many]})
    assert [few[:1], few[1:], ["tests/test_big.py"]] == list(choice.batches([*few, *many]))


def test_what_a_module_only_declares_concerns_every_test(module: dict[int, list[Change]], tmp_path: Path) -> None:
    choice = measured(tmp_path, {"tests/test_a.py::test_a": []})
    assert [["tests/test_a.py::test_a"], []] == [choice.tests(module[line][0]) for line in (1, 7)]


def test_tests_beyond_the_bound_are_left_out(module: dict[int, list[Change]], tmp_path: Path) -> None:
    many = [f"tests/test_{number:02}.py::test_a" for number in range(99)]
    choice = measured(tmp_path, {test: [7] for test in many})
    assert many[: int(MOST / (FILE + 1)) + 1] == choice.tests(module[7][0])


def test_living_functions_take_the_code_of_a_changed_source(tmp_path: Path) -> None:
    path = str(tmp_path / "code.py")
    before = "def f(a):\n    def g():\n        return a < 1\n    return g\n\n\ndef other():\n    return 1\n"
    after = before.replace("<", ">=")
    names: dict[str, Any] = {}
    exec(compile(before, path, "exec"), names)  # noqa: S102 — stands for an import
    inner = names["f"](0)
    assert inner()
    graft([names["f"], names["other"], inner], path, before, after)
    assert [False, False, 1] == [inner(), names["f"](0)(), names["other"]()]


def test_what_a_test_noticed_is_not_tried_again_while_the_file_is_unchanged(
    module: dict[int, list[Change]], tmp_path: Path
) -> None:
    path, (killed, survived) = tmp_path / "ledger.jsonl", (module[7][0], module[8][0])
    ledger = Ledger(path, tmp_path)
    ledger.add(killed, Verdict(Fate.KILLED, "tests/test_a.py::test_a"))
    ledger.add(survived, Verdict(Fate.SURVIVED))
    again = Ledger(path, tmp_path)
    assert [Verdict(Fate.KILLED, "tests/test_a.py::test_a"), None] == [again.noticed(killed), again.noticed(survived)]
    (tmp_path / "code.py").write_text(f"{SOURCE}\n", "utf-8")
    assert Ledger(path, tmp_path).noticed(killed) is None


@pytest.mark.slow
def test_tests_run_for_a_change_in_a_living_process_or_in_their_own(tmp_path: Path) -> None:
    source = "def least(a, b):\n    if a < b:\n        return a\n    return b\n\n\nLIMIT = 3\n"
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (tmp_path / "subject.py").write_text(source, "utf-8")
    test = "from subject import least\n\n\ndef test_least():\n    assert 1 == least(1, 2)\n"
    (tmp_path / "test_subject.py").write_text(test, "utf-8")
    tests = ["test_subject.py::test_least"]
    expected = {2: Verdict(Fate.SURVIVED), 3: Verdict(Fate.KILLED, tests[0]), 4: Verdict(Fate.SURVIVED)}
    by_line = {each.line: each for each in changes(tmp_path, "subject.py")}
    with closing(Worker(tmp_path, tests)) as worker:
        for line, verdict in expected.items():
            with made(tmp_path, by_line[line]) as (path, before, after):
                assert (source, after) == (before, path.read_text("utf-8"))
                assert (verdict, verdict) == (worker.tried(path, before, after, tests), tried(tmp_path, [tests]))
    assert source == (tmp_path / "subject.py").read_text("utf-8")


def test_the_score_names_what_was_missed_and_what_cannot_be_noticed(module: dict[int, list[Change]]) -> None:
    killed, survived, other = module[7][0], module[8][0], module[1][0]
    verdicts = {killed: Verdict(Fate.KILLED, "tests/test_a.py::test_a"), survived: Verdict(Fate.SURVIVED)}
    found = score(7, verdicts, [Equivalent(other.key, "Nothing reads it.")])
    place = {"file": "code.py", "in": "judge", "from": survived.before, "to": survived.after, "nth": 2}
    assert {"seed": 7, "sample": 2, "noticed": 1, "share": 0.5} == {key: found[key] for key in list(found)[:4]}
    assert [place | {"fate": "survived"}] == found["missed"]
    assert ["Nothing reads it."] == [each["why"] for each in found["equivalent"]]
    assert "1 of 2 changes noticed: 50.0%" == list(render_score(found))[-1]


def test_the_committed_score_is_of_a_whole_sample_and_high_enough() -> None:
    committed = json.loads((ROOT / "reports" / "mutants.json").read_bytes())
    assert (0, 300, 300) == (committed["seed"], committed["sample"], committed["noticed"] + len(committed["missed"]))
    assert 0.9 <= committed["noticed"] / committed["sample"] == pytest.approx(committed["share"], abs=1e-4)
    reasons = {each.why for each in equivalents()}
    assert {each["why"] for each in committed["equivalent"]} <= reasons
