"""Patterns that others write, in profiles and schemas, cannot keep anything busy."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from conformance import linear, profiles
from conformance.errors import InvalidDocument
from conformance.observations.answers import ProviderAnswer
from conformance.observations.refusals import is_same
from conformance.results import Refusal
from tests.checking import ROOT
from tests.loops import every

OURS: Final = {
    "conformance/linear.py": "compiles them to find errors, and replaces the engine where it is missing",
    "conformance/discovery/verdicts.py": "ids, escaped",
    "conformance/error_texts/fields.py": "patterns of this file",
    "conformance/evidence/cited/texts.py": "words of profiles of this package, escaped",
    "conformance/files/recognition.py": "signs of the profiles of this package",
    "conformance/formats/hints.py": "patterns of this file",
    "conformance/markup/families.py": "names of models in the markup of this package",
    "conformance/markup/patterns.py": "forms of the markup of this package",
    "conformance/observations/answers.py": "patterns of this file",
    "conformance/proxy/origins.py": "patterns of this file",
    "conformance/secrets/encodings.py": "secrets, escaped",
    "conformance/secrets/shapes.py": "patterns of this file",
    "conformance/suite/pairing.py": "values, escaped",
    "conformance/wire/foreign.py": "patterns of this file",
}
"""Modules that give Python's engine a pattern that is not written where it is used, and where that comes from."""

MATCHING: Final = ("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


def is_written(pattern: ast.expr) -> bool:
    """Return whether a pattern is a literal, a constant, or made of them and of escaped text."""
    match pattern:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.Name(name) | ast.Attribute(attr=name):
            return name.lstrip("_").isupper()
        case ast.BinOp(left, _, right):
            return is_written(left) and is_written(right)
        case ast.Call(ast.Attribute(ast.Name("re"), "escape")):
            return True
    return False


def unwritten_in(source: str) -> Iterator[int]:
    """Yield the lines on which a module gives `re` a pattern that is not written there."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), name), [pattern, *_]) if name in MATCHING:
                if not is_written(pattern):
                    yield node.lineno


@pytest.mark.slow
def test_only_our_own_patterns_are_given_to_pythons_engine() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): [*unwritten_in(path.read_text("utf-8"))]
        for path in (ROOT / "conformance").rglob("*.py")
        if "re." in path.read_text("utf-8")
    }
    assert {} == {name: lines for name, lines in found.items() if lines and name not in OURS}
    assert [] == [name for name in OURS if not found.get(name)]
    assert [2] == [*unwritten_in("import re\nre.match(given, 'text')\nre.match(_OURS, 'text')\n")]


HOSTILE: Final = ("^(a+)+$", "(a|a)*", "(a|aa)+", r"(\w*)*\d", "(.*a){25}", "([a-z]+)*$", "(a*)*b", "(x+x+)+y")


@every("pattern", HOSTILE)
def test_a_pattern_takes_linear_time(pattern: str) -> None:
    # Python's engine would need longer than anybody waits; there is nothing to measure.
    text = "a" * 40 + "x" * 40 + "!"
    assert not linear.fits(pattern, text)
    assert linear.occurs("x!", text)


def test_a_template_of_a_refusal_takes_linear_time() -> None:
    template = "".join([f"{letter}{{value}}" for letter in "x" * 40]) + "!"
    refusal = Refusal(400, template)
    for text, is_claimed in (("x" * 5_000, False), ("x" * 5_000 + "!", True)):
        answer = ProviderAnswer(rejected=True, status=400, texts=(text,))
        assert is_claimed is is_same(refusal, {"status": 400, "message": template}, answer)


@every(
    ("pattern", "matching", "other"),
    [
        ("call_[0-9A-Za-z]{4}", "call_aB3d", "call_aB3"),
        ("a|b", "b", "ab"),
        ("[a-z]+", "abc", "abc\n"),
        (r"\d+", "12", "x12"),
        ("", "", "a"),
        ("(?P<n>a)", "a", "\ud800"),
    ],
)
def test_a_pattern_fits_a_whole_text(pattern: str, matching: str, other: str) -> None:
    assert "" == linear.fault(pattern)
    assert (True, False) == (linear.fits(pattern, matching), linear.fits(pattern, other))


@every(
    ("pattern", "words"),
    [
        ("(", "missing )"),
        ("(?=a)a", "it cannot be matched in linear time"),
        (r"(a)\1", "it cannot be matched in linear time"),
        ("(((a{99}){99}){99}){99}", "it cannot be matched in linear time"),
        ("a{99999999999999999999}", "too large"),
    ],
)
def test_a_pattern_that_cannot_be_matched_is_refused_where_it_is_read(tmp_path: Path, pattern: str, words: str) -> None:
    assert words in linear.fault(pattern)
    path = tmp_path / "mine.yaml"
    source = "source: {inferred: seen}, confidence: low"
    path.write_text(f"title: Mine\nkind: host\nclaims:\n  ids.format: {{value: '{pattern}', {source}}}\n")
    with pytest.raises(InvalidDocument, match="expected a regular expression") as raised:
        profiles.load_profile(path)
    assert ("/claims/ids.format/value", True) == (raised.value.pointer, words in str(raised.value))
