"""README and docs: their examples run, their commands exist, their links lead somewhere."""

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.cli import _registry, _verbs
from conformance.strategies import streams
from tests.loops import every

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> Iterator[Any]:
    for page in PAGES:
        for number, found in enumerate(FENCE.finditer(page.read_text("utf-8"))):
            if found[1] == language:
                yield pytest.param(found[3], id=f"{page.name}-{number}")


def commands() -> Iterator[Any]:
    for block in blocks("sh"):
        (text,) = block.values
        for line in text.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|\||;|>", line.split(" #")[0]):
                words = shlex.split(part)
                if "conformance" in [Path(word).name for word in words[:2]]:
                    yield pytest.param(words[1 + (Path(words[0]).name != "conformance") :], id=part.strip()[:60])


@every("words", list(commands()))
def test_a_documented_command_exists_with_its_options(words: list[str]) -> None:
    command, rest = _verbs.split(words)
    assert _registry.runnable(command)
    assert _verbs.parser_of(command).parse_args(rest)


@every("text", list(blocks("python")))
def test_a_documented_program_is_python(text: str) -> None:
    assert ast.parse(text).body


def test_the_embedding_example_reports_a_lost_reasoning(capsys: pytest.CaptureFixture[str]) -> None:
    example, *_ = [each.values[0] for each in blocks("python") if str(each.id).startswith("python.md")]
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102
    request = (ROOT / "docs/examples/lost-reasoning.json").read_bytes()
    reply = {"error": {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."}}
    names["report"](request, orjson.dumps(reply), {"Content-Type": "application/json"}, 400)
    assert "MUST reasoning/present-on-tool-turns /0/request/messages/1 expected" in capsys.readouterr().out


def test_the_converter_example_prints_both_ends(capsys: pytest.CaptureFixture[str]) -> None:
    example, of_dialects = [each.values[0] for each in blocks("python") if str(each.id).startswith("converter")]
    exec(example, {})  # noqa: S102
    exec(of_dialects, {})  # noqa: S102
    assert 2 == capsys.readouterr().out.count("{'role': 'user', 'content': 'Hi'}")


def test_every_function_of_a_dialect_is_documented() -> None:
    page = (ROOT / "docs" / "converter.md").read_text("utf-8")
    for name in ("gemini", "neutral", "prompt_api", "wolo"):
        module = import_module(f"conformance.convert.dialects.{name}")
        public = [each for each in module.__all__ if each[0].islower() and each not in ("to_canonical", "to_native")]
        assert [] == [each for each in public if f"`{each}`" not in page]


def test_the_strategies_example_runs_against_a_right_parser() -> None:
    from conformance import parse_reply

    (example,) = [each.values[0] for each in blocks("python") if str(each.id).startswith("strategies")]
    names: dict[str, Any] = {"my_parser": parse_reply}
    exec(example, names)  # noqa: S102
    assert streams is names["streams"]


def test_the_shown_output_is_the_real_one() -> None:
    (shown,) = [each.values[0] for each in blocks("console") if str(each.id).startswith("README")]
    command, _, expected = shown.removeprefix("$ ").partition("\n")
    words = [sys.executable, "-m", *shlex.split(command)]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 1 == ended.returncode
    assert ended.stdout.startswith(expected)


@every("page", PAGES, ids=lambda page: page.name)
def test_a_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", FENCE.sub("", page.read_text("utf-8")))
    assert [] == [link for link in links if not (page.parent / link).exists()]
