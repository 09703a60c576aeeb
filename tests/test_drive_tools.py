"""Which tools of an agent do the deeds of a driven model: those of known agents, and others by their words."""

from collections.abc import Mapping
from typing import Any

from conformance.simulator.drive.tools import callable_tools, find
from tests.driven import READ, STRING, tool
from tests.loops import every

KNOWN = [
    ("claude-code", {"Read": ["file_path"], "Bash": ["command"], "Edit": ["file_path", "old_string", "new_string"]}),
    ("opencode", {"read": ["filePath"], "bash": ["command", "description"]}),
    ("codex", {"exec_command": ["cmd"], "write_stdin": ["session_id"]}),
    ("crush", {"view": ["file_path"], "bash": ["command", "description"], "ls": ["path"]}),
    ("gemini-cli", {"read_file": ["file_path"], "run_shell_command": ["command"], "list_directory": ["dir_path"]}),
]
FOUND = {
    "claude-code": {"read": "Read", "shell": "Bash", "edit": "Edit"},
    "opencode": {"read": "read", "shell": "bash"},
    "codex": {"shell": "exec_command"},
    "crush": {"read": "view", "shell": "bash", "list": "ls"},
    "gemini-cli": {"read": "read_file", "shell": "run_shell_command", "list": "list_directory"},
}


@every(("agent", "declared"), KNOWN)
def test_the_tools_of_known_agents_are_found(agent: str, declared: Mapping[str, list[str]]) -> None:
    tools = [tool(name, "", dict.fromkeys(names, STRING)) for name, names in declared.items()]
    assert FOUND[agent] == {deed: each.name for deed, each in find(tools).items()}


GUESSED: list[tuple[dict[str, Any], dict[str, str]]] = [
    (tool("fs_read", "Read a file from disk", {"path": STRING}), {"read": "fs_read"}),
    (tool("get_file_contents", "Returns a file", {"filename": STRING}), {"read": "get_file_contents"}),
    (tool("mcp__fs__read_text_file", "Reads a file", {"path": STRING}), {"read": "mcp__fs__read_text_file"}),
    (tool("openFile", "", {"fileName": STRING}), {"read": "openFile"}),
    (tool("peek", "Show the contents of a file.", {"path": STRING}), {"read": "peek"}),
    (tool("run", "Run a shell command and return its output", {"cmd": STRING}), {"shell": "run"}),
    (tool("terminal_exec", "", {"commandLine": STRING}), {"shell": "terminal_exec"}),
    (tool("sh", "Executes bash in the project", {"script": STRING}), {"shell": "sh"}),
    (tool("dir_list", "Lists the entries of a directory", {"directory": STRING}), {"list": "dir_list"}),
    (
        tool("code_search", "Search the contents of all files", {"regex": STRING, "path": STRING}),
        {"search": "code_search"},
    ),
    (
        tool("patch_text", "Replace a text in a file", {"path": STRING, "search": STRING, "replace": STRING}),
        {"edit": "patch_text"},
    ),
    (
        tool("read_lines", "Reads lines of a file", {"path": STRING, "start": {"type": "integer"}}, "path", "start"),
        {"read": "read_lines"},
    ),
    (tool("run_cmd", "Runs a command.", {"command": STRING, "cwd": STRING}), {"shell": "run_cmd"}),
    (tool("fs.read", "Read file", {"args": READ["function"]["parameters"]}), {"read": "fs.read"}),
    (tool("sh.exec", "Run a program", {"argv": {"type": "array", "items": STRING}}), {"shell": "sh.exec"}),
    (
        tool("read_text", "Reads a file", {"path": STRING, "limit": {"type": ["integer", "null"]}}),
        {"read": "read_text"},
    ),
    (
        tool("view", "Views a file", {"path": STRING, "action": {"type": "string", "enum": ["open", "close"]}}),
        {"read": "view"},
    ),
    (tool("view", "Views a file", {"path": STRING, "action": {"type": "string", "enum": ["drop"]}}), {}),
    (
        tool("fs.read", "Read file", {"args": {"type": "object", "properties": {"key": STRING}, "required": ["key"]}}),
        {},
    ),
    (tool("run_python", "Runs python code.", {"code": STRING}), {}),
    (tool("KillShell", "Kills a running background shell.", {"shell_id": STRING}), {}),
    (tool("read_mcp_resource", "Reads a resource.", {"server": STRING, "uri": STRING}), {}),
    (tool("weather", "Tells the weather", {"city": STRING}), {}),
    (tool("fetch_url", "Reads a file from the web", {"url": STRING}), {}),
]


@every(("declared", "expected"), GUESSED)
def test_other_tools_are_found_by_their_words(declared: dict[str, Any], expected: dict[str, str]) -> None:
    assert expected == {deed: each.name for deed, each in find([declared]).items()}


def test_tools_that_the_provider_defines_are_called_by_their_schema() -> None:
    native = [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "web_search_20250305", "name": "web_search"},
    ]
    tools = [{"type": "function", "function": {"name": each["name"]}} for each in native]
    assert {"shell": "bash", "read": native[1]["name"], "edit": native[1]["name"]} == {
        deed: each.name for deed, each in find(callable_tools(tools, native)).items()
    }
    assert {} == find(callable_tools(tools, [{**each, "type": "custom"} for each in native]))
