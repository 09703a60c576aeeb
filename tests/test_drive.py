"""A driven model asks for deeds with an agent's own tools, on every wire, and for nothing that does harm."""

import hashlib
import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance import profiles, scenarios
from conformance.cli import main
from conformance.simulator.drive.server import DrivenServer
from conformance.simulator.drive.tools import find, known_tools, read_choices
from conformance.transport.server import serving
from tests.driven import READ, SHELL, STRING, TOOLS, DrivenAgent, tool
from tests.loops import every
from tests.sampling import sampled

SERVED = {
    "chat": ("deepseek", "/v1"),
    "messages": ("anthropic", "/v1"),
    "responses": ("openai", "/v1"),
    "gemini": ("gemini", "/v1beta"),
}
ALONE = ("context-length",)
"""A scenario that an agent has to answer with more than trying again."""


@contextmanager
def driven(wire: str, folder: Path, scenario: str, **settings: Any) -> Iterator[tuple[DrivenAgent, list[str]]]:
    """Serve a driven model to an agent on a wire, and yield the agent and what was logged."""
    provider, base = SERVED[wire]
    profile, lines = profiles.load(provider), list[str]()
    server = DrivenServer(profile, folder, scenario, settings.pop("chosen", {}), lines.append)
    with serving(server.answer) as url:
        yield DrivenAgent(f"{url}{base}", wire, profile.on(wire).model, **settings), lines
    server.close()


def playable() -> Iterator[Any]:
    for wire in SERVED:
        for name in scenarios.driven_names():
            scenario = scenarios.load_driven(name)
            for variant in scenario.variants if wire in scenario.wires and name not in ALONE else ():
                yield pytest.param(wire, name, variant, id=f"{wire}-{name}.{variant}")


@every(("wire", "name", "variant"), sampled([*playable()], 4, in_ci=99))
def test_an_agent_gets_through_each_scenario(wire: str, name: str, variant: str, tmp_path: Path) -> None:
    folder = tmp_path / f"{wire}{name}{variant}"
    folder.mkdir()
    with driven(wire, folder, name, stream=variant == "stream") as (agent, lines):
        turns = scenarios.load_driven(name).turns
        said = [agent.ask(f"Work on {turn.user}") for turn in turns if turn.user]
    assert not [text for text in said if "nothing" in text]
    assert f"turn {len(turns)} of {len(turns)}" in lines[-1]
    # What was placed is gone again.
    assert [] == [path for path in folder.iterdir() if "edit" not in name and name != "tools-of-its-own"]


def test_two_reads_come_in_one_turn_and_the_answer_names_what_they_hold(tmp_path: Path) -> None:
    with driven("messages", tmp_path, "parallel-reads") as (agent, lines):
        said = agent.ask("Read the notes.")
        names = [name for name, _ in agent.called]
        assert ["read_file", "read_file", "read_file", "bash"] == names
        gamma, printed = agent.called[2][1]["path"], agent.called[3][1]["command"]
        assert f"The notes hold {Path(gamma).read_text('utf-8').strip()} and {printed.removeprefix('printf ')}" in said
    assert "parallel-reads: turn 1 of 3 (edit=edit, list=ls, read=read_file, search=grep, shell=bash)" == lines[0]


def test_a_new_prompt_begins_a_conversation_with_files_of_its_own(tmp_path: Path) -> None:
    with driven("chat", tmp_path, "equal-names") as (agent, lines):
        first, second = agent.ask("Read."), agent.ask("Now play rate-limited.")
    assert first.startswith("On the left is ")
    assert second.startswith("The note holds ")
    assert [200, 200, 200, 429, 200] == agent.statuses
    assert ["equal-names", "rate-limited"] == [*dict.fromkeys(line.partition(":")[0] for line in lines)]


def test_agents_at_the_same_time_are_told_apart(tmp_path: Path) -> None:
    with driven("chat", tmp_path, "interleaved-thinking") as (agent, _):
        other = DrivenAgent(agent.url, "chat", agent.model)
        for each in (agent, other):
            each.messages.append({"role": "user", "content": "Read, please. I am the same as another."})
        assert agent.ask("Go.").startswith("The third note holds ")
        assert other.ask("Go.").startswith("The third note holds ")
        assert {each["path"] for _, each in agent.called}.isdisjoint({each["path"] for _, each in other.called})


def test_an_agent_with_a_shell_alone_reads_with_it(tmp_path: Path) -> None:
    with driven("responses", tmp_path, "parallel-reads", tools=[SHELL]) as (agent, _):
        assert "nothing" not in agent.ask("Read.")
    assert ["cat", "cat", "cat", "printf"] == [each["command"].split()[0] for _, each in agent.called]


def test_requests_beside_the_conversation_get_a_text(tmp_path: Path) -> None:
    with driven("chat", tmp_path, "parallel-reads") as (agent, _):
        body = {"model": agent.model, "messages": [{"role": "user", "content": "Make a title."}], "stream": False}
        reply = httpx.post(f"{agent.url}/chat/completions", json=body).json()
    assert "stop" == reply["choices"][0]["finish_reason"]


def test_the_user_may_choose_the_tools(tmp_path: Path) -> None:
    strange = tool("zap", "Zaps.", {"path": STRING})
    assert {"read": "zap"} == {deed: each.name for deed, each in find([strange], read_choices("read=zap")).items()}
    foreign = tool("datei_lesen", "Liest eine Datei.", {"pfad": STRING})
    assert {} == find([foreign])
    assert {"pfad": "{path}"} == find([foreign], read_choices("read=datei_lesen"))["read"].arguments
    assert 2 == main(["serve", "anthropic", "--drive", "--workdir", str(tmp_path), "--tools", "reads=zap"])


def test_the_log_says_that_no_tool_can_be_used(tmp_path: Path) -> None:
    with driven("chat", tmp_path, "parallel-reads", tools=[tool("zap", "Zaps.", {"it": STRING})]) as (agent, lines):
        agent.ask("Read.")
    assert (
        "parallel-reads: a request beside the conversation: none of its tools is known to read, run or list (zap); "
        "name them with --tools read=NAME,shell=NAME"
    ) == lines[-1]


@every(
    "arguments",
    [
        ["anthropic", "--drive"],
        ["anthropic", "--drive", "--workdir", "missing"],
        ["anthropic", "--drive", "--workdir", ".", "--host", "0.0.0.0"],  # noqa: S104 — it is refused
        ["anthropic", "--drive", "--workdir", ".", "--scenario", "no-such"],
        ["anthropic", "--workdir", "."],
        ["anthropic", "--provider", "openai"],
        [],
    ],
)
def test_what_cannot_be_driven_is_refused(arguments: list[str]) -> None:
    assert 2 == main(["serve", *arguments])


RM = "rm -rf /"
HOSTILE = [
    tool("read_file", "Reads a file.", {"path": {"const": "/etc/passwd"}}),
    tool("read_file", "Reads a file.", {"path": {"enum": ["/etc/passwd"]}}),
    tool("read_file", "Reads a file.", {"path": STRING, "then_delete": {"enum": [True]}}),
    tool("read_file", "Reads a file.", {"path": STRING, "no_backup": {"type": "boolean"}}),
    tool("read_file", "Deletes the file and returns it.", {"path": STRING}),
    tool("read_and_remove", "Reads a file.", {"path": STRING}),
    tool("read_file", "Reads a file.", {"path": STRING, "command": STRING}),
    tool("read_file", "Reads a file.", {"path": STRING, "copy_to": STRING}),
    tool("read_file", "Reads a file.", {"path": {"type": "string", "default": "/etc/passwd"}, "url": STRING}),
    tool("Bash", "Runs a command.", {"command": {"const": RM}}),
    tool("bash", "Runs a command.", {"command": {"enum": [RM, "ls"]}}),
    tool("bash", "Runs a command.", {"command": {"type": "string", "pattern": "^rm "}}),
    tool("bash", "Runs a command.", {"command": STRING, "then": {"const": RM}}),
    tool("bash", "Runs a command.", {"command": STRING, "cwd": STRING}),
    tool("bash", "Runs a command.", {"commands": {"type": "array", "items": {"const": RM}}}),
    tool("bash", RM, {"command": {"anyOf": [{"const": RM}]}}),
    tool("bash", "Runs a command.", {"command": {"$ref": "#/$defs/rm"}, "x": {"type": "string", "pattern": RM}}),
    tool("edit", "Edits a file.", {"path": STRING, "old": STRING, "new": {"const": RM}}),
    tool(RM, "Runs a shell command.", {"command": STRING}),
    tool("bash", "Runs a command.", {"command": STRING, "description": {"const": RM}}),
]
COMMAND = re.compile(r"(?:cat|ls) (?P<path>.+)|printf (?:denied-)?[0-9a-f]{12}|sleep [0-2](?:\.\d{1,2})?")


def digests(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def check_harmless(name: str, arguments: Any, folder: Path) -> None:
    """Check that a call holds commands of four kinds, and paths inside a folder."""
    texts = [arguments] if isinstance(arguments, str) else []
    for each in arguments.values() if isinstance(arguments, dict) else arguments if isinstance(arguments, list) else ():
        check_harmless(name, each, folder)
    for text in texts:
        found = COMMAND.fullmatch(text)
        if found is not None:
            paths = shlex.split(found["path"]) if found["path"] else []
            assert len(paths) <= 1, text
        else:
            paths = [text] if "/" in text and not text.startswith("*** Begin Patch") else []
        for path in paths:
            assert Path(path).is_relative_to(folder), (name, text)
            assert ".." not in Path(path).parts
        # Beside a command, a call holds a path, a nonce, an option of a known tool, or a note.
        assert found or paths or re.fullmatch(r"[0-9a-f]{12}|view|content|One step of a conformance test\.", text), text


@every(
    "declared",
    [
        pytest.param([*HOSTILE], marks=pytest.mark.slow),
        *[
            pytest.param([each, *extra], marks=pytest.mark.exhaustive if place % 3 else pytest.mark.slow)
            for place, (each, extra) in enumerate(product(HOSTILE, ((), TOOLS)))
        ],
    ],
)
def test_nothing_changes_outside_of_the_folder_whatever_is_declared(
    declared: list[dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "here it is; rm -rf $HOME"
    outside = tmp_path / "outside.txt"
    for wire in SERVED:
        folder.mkdir(exist_ok=True)
        outside.write_text("This stays.", "utf-8")
        before = digests(tmp_path)
        for name in ("parallel-reads", "command-fails", "tools-of-its-own"):
            with driven(wire, folder, name, tools=declared) as (agent, _):
                for _ in range(8):
                    message = agent._send()
                    if not message or not (calls := message.get("tool_calls")):
                        break
                    agent.messages.append(message)
                    for call in calls:
                        arguments = json.loads(call["function"]["arguments"])
                        check_harmless(call["function"]["name"], arguments, folder)
                        agent.messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
        assert before == digests(tmp_path)


def test_every_known_tool_is_called_with_places_and_options_alone(tmp_path: Path) -> None:
    texts = re.compile(
        r"\{(?:path|folder|command|word|old|new|patch|note|root|text)\}|view|str_replace|content|\*|bash|-lc"
        r"|low|LOW|file"
    )
    for deed, entries in known_tools().items():
        for entry in entries:
            for text in _texts(entry["arguments"]):
                assert texts.fullmatch(text), (deed, entry)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(each)


@pytest.mark.slow
@every("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_placed_is_removed_when_the_server_ends(number: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / number.name
    folder.mkdir()
    command = [
        sys.executable,
        "-m",
        "conformance",
        "serve",
        "deepseek",
        "--drive",
        "--workdir",
        str(folder),
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        body = {"model": "deepseek-v4-pro", "messages": [{"role": "user", "content": "Read."}], "tools": [READ]}
        assert 200 == httpx.post(f"{url}/v1/chat/completions", json=body).status_code
        assert 1 == len([*folder.iterdir()])
        process.send_signal(number)
        process.wait(20)
    assert [] == [*folder.iterdir()]


def test_files_are_never_placed_over_others(tmp_path: Path) -> None:
    from conformance.errors import Unusable
    from conformance.simulator.drive.folder import folder_for

    scenario = scenarios.load_driven("parallel-reads")
    folder = folder_for(scenario, tmp_path, "seed")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / folder.mark).symlink_to(elsewhere)
    with pytest.raises(Unusable, match="cannot place files"):
        folder.place()
    assert [] == [*elsewhere.iterdir()]


def test_custom_tools_and_namespaces_are_called_in_their_own_form(tmp_path: Path) -> None:
    custom = {"type": "custom", "name": "shell", "description": "Runs a shell command.", "format": {"type": "text"}}
    spaced = {
        "type": "namespace",
        "name": "files",
        "tools": [{"type": "function", "name": "read_file", "parameters": READ["function"]["parameters"]}],
    }
    grammar = {"type": "custom", "name": "bash", "format": {"type": "grammar", "syntax": "lark", "definition": "x: y"}}
    hosted = {"type": "web_search"}
    with driven("responses", tmp_path, "parallel-reads") as (agent, lines):
        body = {"model": agent.model, "input": "Read.", "tools": [grammar, hosted, custom, spaced], "stream": False}
        first = httpx.post(f"{agent.url}/responses", json=body).json()
        calls = [item for item in first["output"] if item["type"].endswith("_call")]
        assert [("function_call", "read_file", "files")] * 2 == [
            (each["type"], each["name"], each["namespace"]) for each in calls
        ]
        results = [{"type": "function_call_output", "call_id": each["call_id"], "output": "x"} for each in calls]
        body["input"] = [{"role": "user", "content": "Read."}, *first["output"], *results]
        second = httpx.post(f"{agent.url}/responses", json={**body, "stream": True}).text
        assert "event: response.custom_tool_call_input.done" in second
        assert re.search(
            r'"type":"custom_tool_call","name":"shell","call_id":"[^"]+","input":"printf [0-9a-f]{12}"', second
        )
    assert "read=files.read_file, shell=shell" in lines[0]


def test_tools_that_the_server_runs_are_not_called(tmp_path: Path) -> None:
    served = [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        {"type": "code_execution_20250825", "name": "code_execution"},
        {"type": "bash_20250124", "name": "bash"},
    ]
    client = {"name": "view", "description": "View a file.", "input_schema": READ["function"]["parameters"]}
    with driven("messages", tmp_path, "parallel-reads") as (agent, _):
        messages = [
            {"role": "user", "content": "Read."},
            {"role": "system", "content": "A reminder of the agent itself."},
        ]
        body = {"model": agent.model, "max_tokens": 500, "messages": messages, "tools": [*served, client]}
        reply = httpx.post(f"{agent.url}/messages?beta=true", json=body, headers={"anthropic-beta": "x-2099-01-01"})
        assert 200 == reply.status_code
        assert ["view", "view"] == [each["name"] for each in reply.json()["content"] if each["type"] == "tool_use"]
