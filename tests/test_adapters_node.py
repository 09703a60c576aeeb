"""Drivers of Node adapters: valid definitions, exact pins, and the module that they share."""

import json
import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance import profiles
from conformance.documents import read_yaml
from conformance.schemas import validator
from tests.jobs import job
from tests.loops import every
from tests.sampling import some

FOLDER = Path(conformance.__file__).parent / "adapters" / "sdks"
SHARED = sorted((FOLDER / "_node").glob("*.mjs"))
EXACT = re.compile(r"(?P<name>(?:@[a-z0-9._-]+/)?[a-z0-9._-]+)@(?P<version>\d+\.\d+\.\d+)")
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: the drivers for Node are NOT tested")


def definitions() -> dict[str, Any]:
    read = {path.parent.name: read_yaml(path).value for path in sorted(FOLDER.glob("*/adapter.yaml"))}
    # Agents have no driver.
    return {name: value for name, value in read.items() if value["language"] == "node" and "driver" in value}


ADAPTERS = definitions()
DRIVERS = {name: FOLDER / name / value["driver"] for name, value in ADAPTERS.items()}


def pinned(words: list[str]) -> dict[str, str]:
    found = [EXACT.fullmatch(word) for word in words]
    return {match["name"]: match["version"] for match in found if match}


def driven(work: Path, talk: str, job: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Run a driver without an adapter, and return exit code and answer."""
    shutil.copytree(FOLDER / "_node", work / "_node")
    (work / "fake").mkdir()
    source = (
        f'import {{ drive }} from "../_node/driving.mjs";\nasync function* talk(job) {{ {talk} }}\nawait drive(talk);'
    )
    (work / "fake" / "driver.mjs").write_text(source)
    assert NODE is not None
    command, given = [NODE, "fake/driver.mjs"], json.dumps(job).encode()
    done = subprocess.run(command, cwd=work, input=given, capture_output=True, timeout=30, check=False)
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_the_named_adapters_are_here() -> None:
    named = {"aisdk-openai-compatible", "aisdk-deepseek", "aisdk-openrouter", "langchain-js", "openai-agents-js"}
    assert {*named, "pi-ai", "mastra", "aisdk-google", "google-genai-js"} <= set(ADAPTERS)


@every("name", ADAPTERS)
def test_a_definition_fits_its_schema(name: str) -> None:
    assert () == validator("files/adapter").errors(ADAPTERS[name])


@every("name", ADAPTERS)
def test_every_package_is_pinned_exactly_and_the_main_one_is_among_them(name: str) -> None:
    adapter = ADAPTERS[name]
    pins = pinned(adapter["packages"])
    assert len(pins) == len(adapter["packages"])
    assert adapter["package"] in pins


@every("name", [name for name, value in ADAPTERS.items() if "alongside" in value])
def test_packages_alongside_other_versions_replace_pins_but_not_the_main_one(name: str) -> None:
    adapter = ADAPTERS[name]
    pins = pinned(adapter["packages"])
    for glob, words in adapter["alongside"].items():
        assert not fnmatch(pins[adapter["package"]], glob)
        assert len(words) == len(pinned(words))
        assert set(pinned(words)) <= set(pins) - {adapter["package"]}


@every("name", ADAPTERS)
def test_its_providers_are_known(name: str) -> None:
    assert set(ADAPTERS[name]["providers"]) <= set(profiles.names())


@every("name", DRIVERS)
def test_a_driver_imports_pinned_or_shared_modules_and_reports_its_versions(name: str) -> None:
    source = DRIVERS[name].read_text()
    shared = {f"../_node/{path.name}" for path in SHARED}
    imported = {word for word in re.findall(r'from "([^"]+)"', source) if not word.startswith("node:")}
    packages = {re.match(r"(@[^/]+/)?[^/]+", word)[0] for word in imported - shared}  # type: ignore[index]
    reported = set(re.findall(r'"([^"]+)"', source[source.index("await drive(") :]))
    assert packages <= set(pinned(ADAPTERS[name]["packages"]))
    assert ADAPTERS[name]["package"] in reported
    assert reported <= set(pinned(ADAPTERS[name]["packages"]))


@needs_node
@every(
    "path",
    some(
        [*SHARED, *DRIVERS.values()],
        14,
        name=lambda path: f"{path.parent.name}/{path.name}",
        mark=pytest.mark.exhaustive,
    ),
)
def test_node_can_parse_it(path: Path) -> None:
    assert NODE is not None
    done = subprocess.run([NODE, "--check", str(path)], capture_output=True, timeout=30, check=False)
    assert (0, b"") == (done.returncode, done.stderr)


TALKS = """
  const tool = job.tool("weather");
  yield await tool.call({ city: "Oslo" });
  yield await tool.call('{"city": "Oslo"}');
  yield await tool.call('{"city": ');
  yield await tool.call("");
  yield await tool.call({ city: "Bergen" });
  yield tool.denial({ city: "Rome" });
  yield tool.denial({ city: "Oslo" });
  yield tool.isGated ? "gated" : "";
  await tool.call({ city: "Nowhere" });
  yield "never";
"""


@needs_node
def test_tools_answer_by_their_arguments_wait_deny_and_fail(tmp_path: Path) -> None:
    code, answer = driven(tmp_path, TALKS, job())
    assert 0 == code
    assert () == validator("files/adapter-answer").errors(answer)
    assert ["9", "9", "which city?", "which city?", "unknown", "not allowed", None, "gated"] == answer["texts"]
    assert {"type": "Error", "message": "no such city"} == answer["error"]
    started, ended = answer["events"][:2]
    assert ["start", "end"] == [started["event"], ended["event"]]
    assert {"name": "weather", "arguments": {"city": "Oslo"}} == started["call"] == ended["call"]
    assert ended["at_ms"] - started["at_ms"] >= 15


@needs_node
def test_a_gate_has_the_calls_of_a_batch(tmp_path: Path) -> None:
    talk = 'job.gate([{ name: "weather", arguments: \'{"city": "Rome"}\' }]); yield "done";'
    code, answer = driven(tmp_path, talk, job())
    assert (0, ["done"]) == (code, answer["texts"])
    assert [{"name": "weather", "arguments": {"city": "Rome"}}] == answer["events"][0]["calls"]


RUNS = """
  const name = "weather";
  const calls = [{ name, arguments: '{"city": "Oslo"}' }, { name, arguments: { city: "Nowhere" } }];
  const done = await job.runCalls([...calls, { name: "none", arguments: {} }]);
  yield* done.map(({ text, failed }) => `${text} ${failed}`);
"""


@needs_node
def test_calls_run_at_once_and_a_failure_is_a_result(tmp_path: Path) -> None:
    code, answer = driven(tmp_path, RUNS, job())
    assert (0, ["9 false", "no such city true", "there is no tool 'none' false"]) == (code, answer["texts"])
    assert ["start", "start"] == [event["event"] for event in answer["events"][:2]]
    assert "error" not in answer


@needs_node
@pytest.mark.parametrize(
    "talk",
    [
        'console.log("noise"); yield "one"; throw new TypeError("broken");',
        'yield "one"; Promise.reject(new TypeError("broken")); await new Promise((done) => setTimeout(done, 9000));',
        'yield "one"; process.emit("uncaughtException", new TypeError("broken")); throw new Error("late");',
    ],
    ids=["raised", "rejected in the background", "raised in the background, and again"],
)
def test_what_an_adapter_raises_is_part_of_the_answer(talk: str, tmp_path: Path) -> None:
    code, answer = driven(tmp_path, talk, job())
    assert (0, ["one"]) == (code, answer["texts"])
    assert {"type": "TypeError", "message": "broken"} == answer["error"]


@needs_node
def test_packages_of_the_environment_are_found_from_any_folder(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "sdk").mkdir(parents=True)
    (tmp_path / "node_modules" / "sdk" / "package.json").write_text('{"version": "1.2.3"}')
    shutil.copytree(FOLDER / "_node", tmp_path / "drivers" / "digest" / "_node")
    driver = tmp_path / "drivers" / "digest" / "driver.mjs"
    driver.write_text('import { drive } from "./_node/driving.mjs"; await drive(async function* () {}, "sdk");')
    assert NODE is not None
    given = json.dumps(job()).encode()
    done = subprocess.run([NODE, str(driver)], cwd="/", input=given, capture_output=True, timeout=30, check=False)
    assert {"sdk": "1.2.3"} == json.loads(done.stdout.splitlines()[-1])["version"]


@needs_node
def test_an_invalid_job_is_a_failure_without_an_answer(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "_node", tmp_path / "_node")
    (tmp_path / "driver.mjs").write_text(
        'import { drive } from "./_node/driving.mjs"; await drive(async function* () {});'
    )
    assert NODE is not None
    done = subprocess.run([NODE, "driver.mjs"], cwd=tmp_path, input=b"{", capture_output=True, timeout=30, check=False)
    assert (1, b"") == (done.returncode, done.stdout)
