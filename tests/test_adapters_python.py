"""Drivers of Python adapters: valid definitions, exact pins, and the modules that they share."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance import profiles
from conformance.documents import read_yaml
from conformance.schemas import validator
from tests.jobs import job
from tests.loops import every

FOLDER = Path(conformance.__file__).parent / "adapters" / "sdks"
SHARED = FOLDER / "_python"
EXACT = re.compile(r"(?P<name>[a-z0-9-]+)(?:\[[a-z0-9,-]+\])?==(?P<version>\d+(?:\.\d+)+)")
NAMED = {
    "agno",
    "google-adk",
    "google-adk-gemini",
    "google-genai",
    "google-genai-chat",
    "haystack",
    "langchain-deepseek",
    "langchain-google-genai",
    "langchain-openai",
    "langchain-openrouter",
    "litellm",
    "llama-index",
    "openai-agents",
    "openai-agents-litellm",
    "openai-sdk",
    "pydantic-ai",
    "pydantic-ai-google",
    "smolagents",
    "strands",
}


def definitions() -> dict[str, Any]:
    read = {path.parent.name: read_yaml(path).value for path in sorted(FOLDER.glob("*/adapter.yaml"))}
    return {name: value for name, value in read.items() if value["language"] == "python" and value["packages"]}


ADAPTERS = definitions()


def pinned(words: list[str]) -> dict[str, str]:
    return {match["name"]: match["version"] for match in map(EXACT.fullmatch, words) if match}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imported(module: ast.Module) -> set[str]:
    """Return the top-level packages that are imported anywhere."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def driven(folder: Path, talk: str, **changes: Any) -> dict[str, Any]:
    """Run a driver without an adapter, and return its answer."""
    driver = folder / "driver.py"
    path = f"import sys\nsys.path.insert(0, {str(SHARED)!r})\n"
    driver.write_text(f"{path}import asyncio\nfrom driving import *\n{talk}\ndrive(talk, 'pytest')\n")
    command, given = [sys.executable, "-B", str(driver)], json.dumps(job(**changes))
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=30, check=False)
    assert 0 == done.returncode, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert () == validator("files/adapter-answer").errors(answer)
    return answer


def test_the_named_adapters_are_here() -> None:
    assert set(ADAPTERS) >= NAMED


@every("name", ADAPTERS)
def test_a_definition_fits_its_schema(name: str) -> None:
    assert () == validator("files/adapter").errors(ADAPTERS[name])


@every("name", ADAPTERS)
def test_every_package_is_pinned_exactly_and_the_main_one_is_among_them(name: str) -> None:
    adapter = ADAPTERS[name]
    pins = pinned(adapter["packages"])
    assert len(pins) == len(adapter["packages"])
    assert adapter["package"] in pins
    for words in adapter.get("alongside", {}).values():
        assert len(words) == len(pinned(words))
        assert set(pinned(words)) <= set(pins) - {adapter["package"]}


@every("name", ADAPTERS)
def test_its_providers_are_known(name: str) -> None:
    assert set(ADAPTERS[name]["providers"]) <= set(profiles.names())


@every("name", ADAPTERS)
def test_a_driver_is_documented_imports_at_the_top_and_reports_its_version(name: str) -> None:
    module = tree(FOLDER / name / ADAPTERS[name]["driver"])
    last = module.body[-1]
    assert ast.get_docstring(module)
    assert imported(module) == imported(ast.Module([node for node in module.body if node in top(module)], []))
    assert isinstance(last, ast.Expr)
    assert "drive" == ast.unparse(last.value).split("(")[0]
    assert ADAPTERS[name]["package"] in {node.value for node in ast.walk(last) if isinstance(node, ast.Constant)}


def top(module: ast.Module) -> list[ast.stmt]:
    return [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]


@every("path", sorted(SHARED.glob("*.py")), ids=lambda path: path.name)
def test_each_shared_module_is_documented(path: Path) -> None:
    assert ast.get_docstring(tree(path))


def test_the_module_that_all_drivers_share_needs_only_the_standard_library() -> None:
    assert imported(tree(SHARED / "driving.py")) <= sys.stdlib_module_names


TALKS = """
def talk(job):
    tool = job.tool("weather")
    yield tool.call({"city": "Oslo"})
    yield asyncio.run(tool.acall('{"city": "Oslo"}'))
    yield tool.call('{"city": ')
    yield tool.call("")
    yield tool.call({"city": "Bergen"})
    yield tool.denies({"city": "Rome"})
    yield tool.denies({"city": "Oslo"})
    yield "gated" if tool.is_gated else ""
    yield job.tool("time").call({})
    yield tool.call({"city": "Nowhere"})
    yield "never"
"""


def test_tools_answer_by_their_arguments_wait_deny_and_fail(tmp_path: Path) -> None:
    answer = driven(tmp_path, TALKS)
    texts = ["9", "9", "which city?", "which city?", "unknown", "not allowed", None, "gated", "there is no tool 'time'"]
    assert texts == answer["texts"]
    assert {"type": "ToolFailed", "message": "no such city"} == answer["error"]
    started, ended = answer["events"][:2]
    assert ["start", "end"] == [started["event"], ended["event"]]
    assert {"name": "weather", "arguments": {"city": "Oslo"}} == started["call"] == ended["call"]
    assert ended["at_ms"] - started["at_ms"] >= 15


def test_a_gate_has_the_calls_of_a_batch(tmp_path: Path) -> None:
    talk = 'async def talk(job):\n    job.gate([("weather", \'{"city": "Rome"}\')])\n    yield "done"'
    answer = driven(tmp_path, talk)
    assert ["done"] == answer["texts"]
    assert [{"name": "weather", "arguments": {"city": "Rome"}}] == answer["events"][0]["calls"]


@pytest.mark.parametrize("word", ["def", "async def"])
def test_errors_and_output_of_an_adapter_do_not_spoil_the_answer(word: str, tmp_path: Path) -> None:
    talk = f"{word} talk(job):\n    print('noise')\n    yield 'one'\n    raise TypeError('broken')"
    answer = driven(tmp_path, talk)
    assert ["one"] == answer["texts"]
    assert {"type": "TypeError", "message": "broken"} == answer["error"]


def test_defaults_of_optional_arguments_are_not_passed_on(tmp_path: Path) -> None:
    talk = """
def talk(job):
    properties = {"a": {"type": "string"}, "b": {"type": "integer"}}
    tool = Tool("f", "", {"properties": properties, "required": ["a"]}, (), "", None)
    yield "".join(f"{name} {default} " for name, (_, default) in tool.fields().items())
    yield str(without_none({"a": "x", "b": None}))
"""
    assert ["a Ellipsis b None ", "{'a': 'x'}"] == driven(tmp_path, talk)["texts"]


LOOP = """
from types import SimpleNamespace as Made

def talk(job):
    calls = [Made(id=f"c{n}", function=Made(name="weather", arguments=a))
             for n, a in enumerate(['{"city": "Oslo"}', '{"city": "Nowhere"}'])]
    replies = [Made(content="", tool_calls=calls), Made(content="It is 9.", tool_calls=None)]
    seen = []
    yield from loop(job, lambda history: (seen.append(list(history)), replies.pop(0))[1], lambda _: "resent")
    yield json.dumps(seen[-1])
"""


def test_the_loop_appends_each_message_and_one_result_per_call_in_order(tmp_path: Path) -> None:
    answer = driven(tmp_path, f"import json\n{LOOP}", system="Be brief.")
    sent = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}, "resent"]
    results = [
        {"role": "tool", "tool_call_id": "c0", "content": "9"},
        {"role": "tool", "tool_call_id": "c1", "content": "no such city"},
    ]
    assert "It is 9." == answer["texts"][0]
    assert [*sent, *results] == json.loads(answer["texts"][1])
