"""The tools of an agent, by what they do: those of known agents from a data file, others by name, words and schema.

What a tool is called with comes from here alone. A tool that requires a value of which the meaning is not known is not
used, whatever its name is.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance import definitions
from conformance.errors import Unusable
from conformance.scenarios import DEEDS
from conformance.simulator.drive.agent_tool import AgentTool, schema_of, takes
from conformance.simulator.drive.guessing import fit, guess
from conformance.wire.values import as_object, objects

_FILE: Final = Path(__file__).with_name("tools.yaml")

FINISH: Final = "finish"
"""What some agents end with: a call, with the answer in it."""

_MAX_TOOLS: Final = 512


_DEFINED: Final[Mapping[str, tuple[str, ...]]] = {
    "bash_": ("command", "restart"),
    "text_editor_": ("command", "path", "old_str", "new_str", "file_text", "insert_line", "view_range"),
}
"""Tools of the client whose schema Anthropic defines: the beginning of their type, and what they take."""


def callable_tools(tools: Any, native: Any) -> list[Any]:
    """Return the tools of a request as chat completions that a model can call with what it knows.

    `native`: the tools as the client sent them. What follows a grammar is kept if its name is known, since then its
    form is, too. What the provider of the wire defines gets its schema.
    """
    strict, defined = set(), {}
    for _, each in objects(native):
        kind, name = each.get("type"), each.get("name")
        if kind == "custom" and as_object(each.get("format")).get("type") == "grammar" and name != "apply_patch":
            strict.add(name)
        found = [keys for start, keys in _DEFINED.items() if type(kind) is str and kind.startswith(start)]
        if found and "input_schema" not in each:
            defined[name] = {"type": "object", "properties": {key: {} for key in found[0]}, "required": []}
    listed = [(tool, as_object(tool.get("function")).get("name")) for _, tool in objects(tools)]
    return [
        {"type": "function", "function": {"name": name, "parameters": defined[name]}} if name in defined else tool
        for tool, name in listed
        if name not in strict
    ]


def find(tools: Any, chosen: Mapping[str, str] | None = None) -> dict[str, AgentTool]:
    """Return what does each deed among the tools of a request of chat completions.

    `chosen`: names that the user gave for deeds; a tool that requires what is not known is not used all the same.
    """
    functions = [as_object(tool.get("function")) for _, tool in objects(tools)][:_MAX_TOOLS]
    named = {each["name"]: each for each in functions if type(each.get("name")) is str}
    found: dict[str, AgentTool] = {}
    for deed in (*sorted(DEEDS), FINISH):
        wanted = (chosen or {}).get(deed)
        if wanted is None:
            tool = _known(deed, named)
            if tool is None and deed in DEEDS:
                tool = guess(deed, named.values())
        elif wanted in named:
            tool = _known(deed, {wanted: named[wanted]}) or fit(deed, named[wanted], is_chosen=True)
        else:
            tool = None
        if tool is not None:
            found[deed] = tool
    return found


def read_choices(text: str) -> dict[str, str]:
    """Return the deeds and the names in `read=view,shell=bash`; raises Unusable if it is something else."""
    found: dict[str, str] = {}
    for pair in filter(None, text.split(",")):
        deed, equals, name = pair.partition("=")
        if deed.strip() not in DEEDS or not equals or not name.strip():
            known = ", ".join(sorted(DEEDS))
            raise Unusable(f"--tools {pair!r}: expected DEED=NAME, where DEED is one of {known}")
        found[deed.strip()] = name.strip()
    return found


@cache
def known_tools() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the tools of known agents by what they do."""
    value: Mapping[str, Sequence[Mapping[str, Any]]] = definitions.read(_FILE, "agent-tools").value
    return value


def _known(deed: str, named: Mapping[str, Mapping[str, Any]]) -> AgentTool | None:
    for entry in known_tools()[deed]:
        function = named.get(entry["name"])
        if function is None:
            continue
        properties, required = schema_of(function)
        given = entry["arguments"]
        fits = given.keys() <= properties.keys() and required <= given.keys()
        if fits and all(takes(properties[key], value) for key, value in given.items()):
            return AgentTool(deed, entry["name"], given, is_known=True)
    return None


def shown(found: Mapping[str, AgentTool]) -> Iterator[str]:
    """Yield which tool does each deed, as a user reads it."""
    for deed, tool in sorted(found.items()):
        yield f"{deed}={tool.name}"
