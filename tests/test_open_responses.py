"""Open Responses: the schema against the document, the simulator against the published acceptance tests."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import load_profile
from conformance.documents import read_json
from conformance.documents.pointer import REMOVE, edit
from conformance.judge import check
from conformance.resources import folder
from conformance.rules import example
from conformance.simulator import simulated
from tests import open_responses
from tests.documents_of_vendors import runner, vendor_document

SCHEMA: Any = read_json(folder("schemas") / "wires" / "responses" / "open-responses.json")
OURS = SCHEMA["$defs"]

DIFFERENT = {
    "json-schema-response-format": "the document says that the schema in a response is null; its own words repeat it",
    "reasoning-effort-enum": "the words of the specification and OpenAI's API have the effort minimal",
}
"""Where the schema says something else than the document on purpose."""


def required(schema: Any, at: str = "") -> Iterator[str]:
    """Yield the required members and the words of enumerations, by their place."""
    if isinstance(schema, dict):
        yield from [f"{at}!{name}" for name in schema.get("required", ()) if name != "type"]
        yield from [f"{at}={word}" for word in schema.get("enum", [schema["const"]] if "const" in schema else ())]
        for name, each in schema.get("properties", {}).items():
            if name != "type":
                yield from required(each, f"{at}/{name}")


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


RENAMED = {
    "response-resource": "response", "create-response-body": "request", "compact-resource": "compaction",
    "compact-response-method-public-body": "compaction-request", "error-payload": "error", "error": "response-error",
}  # fmt: skip


@pytest.mark.exhaustive
def test_the_schema_requires_what_the_document_requires() -> None:
    compared = 0
    for name, schema in vendor_document("openresponses")["components"]["schemas"].items():
        kind = schema.get("properties", {}).get("type", {}).get("enum", [""])[0]
        ours = f"event:{kind}" if name.endswith("StreamingEvent") else RENAMED.get(kebab(name), kebab(name))
        if ours not in OURS or ours in DIFFERENT or "properties" not in schema:
            continue
        assert sorted(required(schema)) == sorted(required(OURS[ours])), name
        compared += 1
    assert 70 < compared


@pytest.mark.exhaustive
@pytest.mark.parametrize("provider", ["open_responses", "openai"])
def test_the_simulator_passes_the_published_acceptance_tests(provider: str) -> None:
    with simulated(load_profile(provider)) as url:
        command = [str(runner() / "bin" / "llm-comply"), "-u", f"{url}/v1", "-k", "none", "-m", "gpt-5", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = json.loads(done.stdout)
    results = found["results"] if isinstance(found, dict) else found
    assert 13 == len(results)
    assert {"passed"} == {each["status"].lower() for each in results}, done.stdout


CHECKED: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "members": ({"/0/response/top_p": None}, "responses/reply-as-specified"),
    "an item without a prefix": (
        {"/0/response/output/0": {"type": "local_shell_call", "id": "ls_1"}},
        "responses/reply-as-specified",
    ),
    "a tool without a prefix": ({"/0/response/tools/0/type": "mcp"}, "responses/reply-as-specified"),
    "an unknown effort": ({"/0/request/reasoning/effort": "lots"}, "responses/request-as-specified"),
}


@pytest.mark.slow
def test_the_command_names_what_departs(tmp_path: Path) -> None:
    base: Any = read_json(folder("fixtures") / "wire" / "open-responses.json")
    for name, (edits, rule) in CHECKED.items():
        path = tmp_path / "one.json"
        path.write_text(json.dumps(edit(base, edits)))
        command = [sys.executable, "-m", "conformance", "check", "--provider", "open_responses", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert 1 == done.returncode, name
        assert rule in done.stdout, name


def test_items_and_tools_of_a_providers_own_have_its_name_before_a_colon() -> None:
    edits = {
        "/0/response/output/0": {"type": "acme:shell_call", "id": "x"},
        "/0/response/tools/-": {"type": "acme:shell"},
        "/1": REMOVE,
    }
    found = check(example("open-responses", edits).conversation(), load_profile("open_responses"))
    assert "passed" == next(each.status for each in found if each.rule == "responses/reply-as-specified")


@pytest.mark.slow
def test_the_report_is_what_the_committed_cassettes_show() -> None:
    assert open_responses.report([]) == open_responses.REPORT.read_text("utf-8")
