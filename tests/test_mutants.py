"""The runner of mutants: what it changes and what it leaves, and which tests it chooses."""

from pathlib import Path

import pytest
from coverage import CoverageData

from tests.mutants.changes import changes
from tests.mutants.choosing import MANY, Choice
from tests.mutants.running import sources

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
        ("@cache\ndef f(): pass", []),
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


def test_the_tests_that_run_a_line_are_chosen_small_files_first(tmp_path: Path) -> None:
    path = str(tmp_path / "code.py")
    data = CoverageData(str(tmp_path / "data"))
    many = {f"tests/test_big.py::test_{number}|run": [1, 2] for number in range(MANY + 1)}
    for context, lines in {
        **many,
        "tests/test_small.py::test_a[x|y]|run": [2],
        "tests/test_b.py::t|setup": [5],
    }.items():
        data.set_context(context)
        data.add_lines({path: lines})
    data.write()
    choice = Choice(tmp_path / "data", tmp_path)
    assert ["tests/test_small.py::test_a[x|y]", "tests/test_big.py"] == choice.tests("code.py", 2, 2)
    assert ["tests/test_b.py::t"] == choice.tests("code.py", 4, 5)
    # A line that only the import of the module runs concerns every test of the module.
    assert 3 == len(choice.tests("code.py", 9, 9))
