"""The tools of an agent, by what they do: those of known agents from a data file, others by name, words and schema.

What a tool is called with comes from here alone. A tool that requires a value of which the meaning is not known is not
used, whatever its name is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance import definitions
from conformance.errors import Unusable
from conformance.scenarios import DEEDS
from conformance.wire.values import as_object, objects

_FILE: Final = Path(__file__).with_name("tools.yaml")

_NAMES: Final[Mapping[str, re.Pattern[str]]] = {
    "read": re.compile(r"(?:^|_)(?:read|view|open|cat|get)(?:_(?:text|local))?(?:_?(?:file|contents?))*$|^(?:file|fs)_?read"),
    "shell": re.compile(r"bash|shell|terminal|^(?:run|exec|execute)(?:_(?:command|cmd|program))?$|(?:run|exec|execute)_?(?:command|cmd)"),
    "list": re.compile(r"^ls$|list_?(?:dir|file|folder|director)|^list$|^(?:dir|directory)(?:_tree|_list)?$"),
    "search": re.compile(r"grep|^search$|search_?(?:file|content|code|text)|^(?:rg|ripgrep)$|find_?in_?files"),
    "edit": re.compile(r"^edit(?:_?file)?$|str_?replace|replace_?(?:in_?file|text|string)?$|search_and_replace"),
}  # fmt: skip
_WORDS: Final[Mapping[str, re.Pattern[str]]] = {
    "read": re.compile(r"\b(?:read|view|show|return|get|open|load)s?\b[^.]{0,60}\bfiles?\b"),
    "shell": re.compile(
        r"\b(?:run|execute)s?\b[^.]{0,60}\b(?:commands?|bash|shell|terminal)\b|\b(?:shell|bash|terminal) command"
    ),
    "list": re.compile(r"\blists?\b[^.]{0,60}\b(?:files|director|folder|entries)"),
    "search": re.compile(r"\bsearch(?:es)?\b[^.]{0,60}\b(?:files?|contents?|regex|pattern)|\bgrep\b"),
    "edit": re.compile(r"\b(?:edit|replace|modif)\w*\b[^.]{0,60}\b(?:files?|text|string)"),
}
_NEVER: Final[Mapping[str, re.Pattern[str]]] = {
    "read": re.compile(r"write|delete|remove|creat|edit|replace|upload|send|url|web|http|image|notebook|move|truncat|fetch"),
    "shell": re.compile(r"output|kill|stop|input|stdin|remote|ssh|sql|browser|monitor|python|background_?task|history"),
    "list": re.compile(r"delete|remove|creat|write|url|web|http|task|agent|session|cron|mcp|skill|resource|symbol"),
    "search": re.compile(r"web|http|url|internet|tool|memor|replace|delete|doc|issue|mcp|skill"),
    "edit": re.compile(r"notebook|web|http|image|delete|creat|cell|issue|todo|task|memor|undo"),
}  # fmt: skip
"""What in the name of a tool means that it does something else, too."""

_PARAMETERS: Final[Mapping[str, Mapping[str, re.Pattern[str]]]] = {
    "read": {"{path}": re.compile(r"(?:absolute|target|full|abs)?(?:file|path|filename|filepath)(?:name|path)?")},
    "shell": {"{command}": re.compile(r"(?:command|cmd|script|bash|shell)(?:line|s|text)?|code|input")},
    "list": {"{folder}": re.compile(r"(?:dir|directory|folder|target|relative|root)?(?:path|dir|directory|folder|name)")},
    "search": {
        "{word}": re.compile(r"pattern|regex|query|regexp|text|searchstring|searchterm|search"),
        "{folder}": re.compile(r"(?:dir|directory|folder|target|root|search)?(?:path|dir|directory|folder)"),
    },
    "edit": {
        "{path}": re.compile(r"(?:absolute|target|full|abs)?(?:file|path|filename|filepath)(?:name|path)?"),
        "{old}": re.compile(r"(?:old|original|search|find|before)(?:string|str|text|content|code)?"),
        "{new}": re.compile(r"(?:new|updated|replace|replacement|after)(?:string|str|text|content|code)?"),
    },
}  # fmt: skip
FINISH: Final = "finish"
"""What some agents end with: a call, with the answer in it."""

_LISTS: Final = re.compile(r"(?:file)?paths|files|filenames|commands|cmds")
"""Parameters that take a list of what another takes one of."""

_PROSE: Final = re.compile(
    r"description|explanation|reason|reasoning|purpose|thought|summary|intent|justification|title|toolsummary"
)
"""Parameters with a text for people."""

_MAX_TOOLS: Final = 512
_MAX_TEXT: Final = 2000


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool of an agent that does a deed, and its arguments, which hold places such as `{path}`."""

    deed: str
    name: str
    arguments: Mapping[str, Any]
    is_known: bool = False
    is_text: bool = False

    def call(self, values: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        """Return a call of the tool: its name and its arguments, with the values in their places."""
        return self.name, {key: _filled(value, values) for key, value in self.arguments.items()}


def find(tools: Any, chosen: Mapping[str, str] | None = None) -> dict[str, AgentTool]:
    """Return what does each deed among the tools of a request of chat completions.

    `chosen`: names that the user gave for deeds. Raises Unusable if a request has such a tool and it cannot be used.
    """
    functions = [as_object(tool.get("function")) for _, tool in objects(tools)][:_MAX_TOOLS]
    named = {each["name"]: each for each in functions if type(each.get("name")) is str}
    found: dict[str, AgentTool] = {}
    for deed in (*sorted(DEEDS), FINISH):
        wanted = (chosen or {}).get(deed)
        if wanted is None:
            tool = _known(deed, named)
            if tool is None and deed in DEEDS:
                tool = _guessed(deed, named.values())
        elif wanted in named:
            tool = _known(deed, {wanted: named[wanted]}) or _fitting(deed, named[wanted])
            if tool is None:
                message = f"--tools {deed}={wanted}: this tool requires arguments of which the meaning is not known"
                raise Unusable(message)
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
        properties, required = _schema(function)
        given = entry["arguments"]
        fits = given.keys() <= properties.keys() and required <= given.keys()
        if fits and all(_takes(properties[key], value) for key, value in given.items()):
            return AgentTool(deed, entry["name"], given, is_known=True)
    return None


def _guessed(deed: str, functions: Any) -> AgentTool | None:
    """Return the tool that does a deed by its name and its words; the shortest name if several do."""
    fitting = [
        tool for function in functions if _means(deed, function) and (tool := _fitting(deed, function)) is not None
    ]
    return min(fitting, key=lambda tool: (len(tool.name), tool.name), default=None)


def _means(deed: str, function: Mapping[str, Any]) -> bool:
    """Return whether a function says that it does a deed, and nothing else."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function["name"]).lower().replace("-", "_")
    name = name.rpartition(".")[2].rpartition("__")[2]
    words = str(function.get("description") or "")[:_MAX_TEXT].lower()
    if _NEVER[deed].search(name):
        return False
    first = re.split(r"[.\n]", words, maxsplit=1)[0]
    if _NAMES[deed].search(name):
        return True
    return bool(_WORDS[deed].search(first)) and not _NEVER[deed].search(first)


def _fitting(deed: str, function: Mapping[str, Any]) -> AgentTool | None:
    """Return a function as the tool for a deed, if all that it requires is known."""
    properties, required = _schema(function)
    arguments: dict[str, Any] = {}
    for place, pattern in _PARAMETERS[deed].items():
        key = _parameter(pattern, properties, required)
        if key is None:
            return None
        value = [place] if _LISTS.fullmatch(_word(key)) and _type(properties[key]) == "array" else place
        if not _takes(properties[key], value):
            return None
        arguments[key] = value
    for key in sorted(required - arguments.keys()):
        value = _harmless(key, properties.get(key))
        if value is None:
            return None
        arguments[key] = value
    return AgentTool(deed, function["name"], arguments)


def _parameter(pattern: re.Pattern[str], properties: Mapping[str, Any], required: frozenset[str]) -> str | None:
    """Return the parameter of a meaning: a required one before others, in the order of the schema."""
    found = [
        key
        for key in properties
        if pattern.fullmatch(_word(key)) or (_LISTS.fullmatch(_word(key)) and pattern.fullmatch(_word(key)[:-1]))
    ]
    return next((key for key in found if key in required), found[0] if found else None)


def _harmless(key: str, schema: Any) -> Any:
    """Return a value that cannot do anything: no, the smallest number, or a text for people; None if there is none."""
    kind = _type(schema)
    if any(
        word in as_object(schema) for word in ("enum", "const", "pattern", "format", "anyOf", "oneOf", "allOf", "$ref")
    ):
        return None
    if kind == "boolean" and not re.search(r"^(?:no|not|dis|dont|without|skip)", _word(key)):
        return False
    if kind in ("integer", "number"):
        return _Bounds.of(schema)
    if kind == "string" and _PROSE.fullmatch(_word(key)):
        return "{note}"
    return None


class _Bounds:
    """The number that a schema takes and that means least."""

    @staticmethod
    def of(schema: Mapping[str, Any]) -> int | None:
        """Return 1, or the minimum if that is more; None if the schema takes no such number."""
        least = [schema[key] for key in ("minimum", "exclusiveMinimum") if isinstance(schema.get(key), (int, float))]
        most = [schema[key] for key in ("maximum", "exclusiveMaximum") if isinstance(schema.get(key), (int, float))]
        number = max([1, *[int(each) + 1 for each in least]]) if least and max(least) >= 1 else 1
        return number if all(number < each for each in most) and number <= 10_000 else None


def _schema(function: Mapping[str, Any]) -> tuple[Mapping[str, Any], frozenset[str]]:
    """Return the parameters of a function, and the names of those that it requires."""
    schema = as_object(function.get("parameters"))
    properties = as_object(schema.get("properties"))
    required = schema.get("required")
    names = [each for each in required if type(each) is str] if type(required) is list else []
    if any(key in schema for key in ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "dependentRequired")):
        return {}, frozenset(names)
    return {key: value for key, value in properties.items() if type(key) is str}, frozenset(names)


def _takes(schema: Any, value: Any) -> bool:
    """Return whether a schema takes any value of this type, as far as that is said; a list of them likewise."""
    about = as_object(schema)
    kinds = {str: "string", bool: "boolean", int: "integer", list: "array", type(None): "null", dict: "object"}
    kind = kinds[type(value)]
    if type(value) is str and "{" not in value:
        listed = about.get("enum")
        return (type(listed) is not list or value in listed) and about.get("const", value) == value
    if type(value) is str and any(word in about for word in ("enum", "const", "pattern", "format", "maxLength")):
        return False
    declared = about.get("type")
    names = declared if type(declared) is list else [declared]
    options = [each for key in ("anyOf", "oneOf") for _, each in objects(about.get(key))]
    if options:
        return any(_takes(each, value) for each in options)
    if declared is not None and kind not in names and not (kind == "integer" and "number" in names):
        return False
    if type(value) is list:
        return _takes(about.get("items"), value[-1])
    if type(value) is dict and "properties" in about:
        properties, required = _schema({"parameters": about})
        fits = value.keys() <= properties.keys() and required <= value.keys()
        return fits and all(_takes(properties[key], each) for key, each in value.items())
    return True


def _type(schema: Any) -> str:
    kind = as_object(schema).get("type")
    return kind if type(kind) is str else ""


def _word(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if type(value) is list:
        return [_filled(each, values) for each in value]
    if type(value) is dict:
        return {key: _filled(each, values) for key, each in value.items()}
    if type(value) is str and value.startswith("{") and value.endswith("}"):
        return values[value[1:-1]]
    return value


def shown(found: Mapping[str, AgentTool]) -> Iterator[str]:
    """Yield which tool does each deed, as a user reads it."""
    for deed, tool in sorted(found.items()):
        yield f"{deed}={tool.name}"
