"""What an unknown tool does, by its name, the first sentence of its description, and its schema.

A tool is used only if all that it requires is known, and if nothing says that it does something else, too.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.simulator.drive.agent_tool import AgentTool, schema_of, takes
from conformance.wire.values import as_object

_Patterns = Mapping[str, re.Pattern[str]]


_NAMES: Final[_Patterns] = {
    "read": re.compile(
        r"(?:^|_)(?:read|view|open|cat|get)(?:_(?:text|local))?(?:_?(?:files?|contents?))*$|^(?:file|fs)_?read"
    ),
    "shell": re.compile(r"bash|shell|terminal|^(?:run|exec|execute)$|(?:run|exec|execute)_?(?:command|cmd)"),
    "list": re.compile(r"^ls$|list_?(?:dir|file|folder|director)|^list$|^(?:dir|directory)(?:_tree|_list)?$"),
    "search": re.compile(r"grep|^search$|search_?(?:file|content|code|text)|^(?:rg|ripgrep)$|find_?in_?files"),
    "edit": re.compile(r"^edit(?:_?file)?$|str_?replace|replace_?(?:in_?file|text|string)?$|search_and_replace"),
}
_WORDS: Final[_Patterns] = {
    "read": re.compile(r"\b(?:read|view|show|return|get|open|load)s?\b[^.]{0,60}\bfiles?\b"),
    "shell": re.compile(
        r"\b(?:run|execute)s?\b[^.]{0,60}\b(?:commands?|bash|shell|terminal)\b|\b(?:shell|bash) command"
    ),
    "list": re.compile(r"\blists?\b[^.]{0,60}\b(?:files|director|folder|entries)"),
    "search": re.compile(r"\bsearch(?:es)?\b[^.]{0,60}\b(?:files?|contents?|regex|pattern)|\bgrep\b"),
    "edit": re.compile(r"\b(?:edit|replace|modif)\w*\b[^.]{0,60}\b(?:files?|text|string)"),
}
_NEVER: Final[_Patterns] = {
    "read": re.compile(
        r"writ|delete|remov|creat|edit|replac|upload|send|url|web|http|image|notebook|mov|truncate|fetch|eras"
    ),
    "shell": re.compile(
        r"output|kill|stop|input|stdin|remote|ssh|sql|browser|monitor|python|background|history|contain|deploy"
    ),
    "list": re.compile(r"delete|remov|creat|writ|url|web|http|task|agent|session|cron|mcp|skill|resource|symbol|clean"),
    "search": re.compile(r"web|http|url|internet|tool|memory|memories|replac|delete|doc|issue|mcp|skill|remov"),
    "edit": re.compile(r"notebook|web|http|image|delete|creat|cell|issue|todo|task|memory|memories|undo|remov"),
}
"""What in the name or the first sentence of a tool means that it does something else, too."""

_PATH: Final = re.compile(r"(?:absolute|target|full|abs)?(?:file|path|filename|filepath)(?:name|path)?")
_FOLDER: Final = re.compile(r"(?:dir|directory|folder|target|relative|root|search)?(?:path|dir|directory|folder)")
_PARAMETERS: Final[Mapping[str, _Patterns]] = {
    "read": {"path": _PATH},
    "shell": {"command": re.compile(r"(?:command|cmd|script|bash|shell)(?:line|text)?|code|input")},
    "list": {"folder": _FOLDER},
    "search": {
        "word": re.compile(r"pattern|regex|query|regexp|text|searchstring|searchterm|search"),
        "folder": _FOLDER,
    },
    "edit": {
        "path": _PATH,
        "old": re.compile(r"(?:old|original|search|find|before)(?:string|str|text|content|code)?"),
        "new": re.compile(r"(?:new|updated|replace|replacement|after)(?:string|str|text|content|code)?"),
    },
}
_LISTS: Final = re.compile(r"(?:file)?paths|files|filenames|commands|cmds")
"""Parameters that take a list of what another takes one of."""

_PROSE: Final = re.compile(
    r"description|explanation|reason|reasoning|purpose|thought|summary|intent|justification|title|toolsummary"
)
"""Parameters with a text for people."""

_PLACE: Final = re.compile(r"cwd|workdir|workingdir|workingdirectory|cd|directory|dir")
"""Parameters with the folder that a command runs in."""

_NEGATED: Final = re.compile(r"^(?:no|not|dis|dont|without|skip|un)")
_COMPLEX: Final = ("enum", "const", "pattern", "format", "anyOf", "oneOf", "allOf", "$ref")
_ACTIONS: Final[_Patterns] = {
    "read": re.compile(r"read|view|open|cat"),
    "shell": re.compile(r"run|exec|execute"),
    "list": re.compile(r"list|ls|dir"),
    "search": re.compile(r"search|grep|find"),
    "edit": re.compile(r"edit|replace|str_replace"),
}
"""What a parameter says that chooses what a tool does."""

_ACTION: Final = re.compile(r"action|command|operation|mode|method|op")
_ARGV: Final = re.compile(r"argv|args|arguments|command|cmd")
_SHELL: Final = ("bash", "-lc", "{command}")
_SINGLE: Final[Mapping[str, str]] = {"read": "path", "shell": "command", "list": "folder"}
"""The deeds that need one value."""

_UNKNOWN: Final = object()
_MAX_TEXT: Final = 2000
_MAX_NUMBER: Final = 10_000


def guess(deed: str, functions: Iterable[Mapping[str, Any]]) -> AgentTool | None:
    """Return the function that does a deed; that with the shortest name if several do."""
    meant = [function for function in functions if _means(deed, function)]
    fitting = [tool for function in meant if (tool := fit(deed, function)) is not None]
    return min(fitting, key=lambda tool: (len(tool.name), tool.name), default=None)


def fit(deed: str, function: Mapping[str, Any], *, is_chosen: bool = False) -> AgentTool | None:
    """Return a function as the tool for a deed, if all that it requires is known.

    `is_chosen`: a user says that it does the deed, so the only text that it requires is what the deed needs.
    """
    found = _arguments(deed, *schema_of(function), is_chosen=is_chosen)
    return None if found is None else AgentTool(deed, function["name"], found)


def _arguments(
    deed: str, properties: Mapping[str, Any], required: frozenset[str], *, is_chosen: bool = False
) -> dict[str, Any] | None:
    """Return the arguments for a deed; some tools have all of them in an object. None if something is not known."""
    found = _values(deed, properties, required, is_chosen=is_chosen)
    if found is None:
        if len(required) != 1:
            return None
        (key,) = required
        within = as_object(properties.get(key))
        inner = _arguments(deed, *schema_of({"parameters": within})) if "properties" in within else None
        return None if inner is None else {key: inner}
    for key in sorted(required - found.keys()):
        schema = as_object(properties.get(key))
        value = _harmless(deed, key, schema)
        if value is _UNKNOWN and deed == "shell" and _PLACE.fullmatch(_word(key)) and takes(schema, "{root}"):
            value = "{root}"
        if value is _UNKNOWN:
            return None
        found[key] = value
    return found


def _values(
    deed: str, properties: Mapping[str, Any], required: frozenset[str], *, is_chosen: bool
) -> dict[str, Any] | None:
    """Return the arguments that hold what a deed needs; None if one of them is not known."""
    arguments: dict[str, Any] = {}
    for place, pattern in _PARAMETERS[deed].items():
        key = _parameter(pattern, properties, required)
        if key is None and is_chosen and deed in _SINGLE and len(required) == 1:
            (key,) = required
        value = _UNKNOWN if key is None else _placed(deed, place, key, as_object(properties.get(key)))
        if key is None or value is _UNKNOWN:
            return _as_program(deed, properties, required)
        arguments[key] = value
    return arguments


def _placed(deed: str, place: str, key: str, schema: Mapping[str, Any]) -> Any:
    """Return a place as a parameter takes it: as a text, or as the only one of a list."""
    is_list = bool(_LISTS.fullmatch(_word(key))) and schema.get("type") == "array"
    value = [f"{{{place}}}"] if is_list else f"{{{place}}}"
    has_actions = deed != "edit" and "enum" in schema
    return value if takes(schema, value) and not has_actions else _UNKNOWN


def _as_program(deed: str, properties: Mapping[str, Any], required: frozenset[str]) -> dict[str, Any] | None:
    """Return the arguments of a tool that runs a program, which it takes as a list of words."""
    if deed != "shell":
        return None
    names = [key for key in sorted(properties, key=lambda each: each not in required) if _ARGV.fullmatch(_word(key))]
    lists = [key for key in names if as_object(properties[key]).get("type") == "array"]
    key = next((each for each in lists if takes(properties[each], list(_SHELL))), None)
    return None if key is None else {key: list(_SHELL)}


def _means(deed: str, function: Mapping[str, Any]) -> bool:
    """Return whether a function says that it does a deed, and nothing else."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function["name"]).lower().replace("-", "_")
    name = name.rpartition(".")[2].rpartition("__")[2]
    words = str(function.get("description") or "")[:_MAX_TEXT].lower()
    first = re.split(r"[.\n]", words, maxsplit=1)[0]
    if _NEVER[deed].search(name):
        return False
    if _NAMES[deed].search(name):
        # A good name with other words: it reads and deletes, say.
        return deed == "shell" or not re.search(r"\b(?:delete|remov|eras|wip|overwrit|truncate)", first)
    return bool(_WORDS[deed].search(first)) and not _NEVER[deed].search(first)


def _parameter(pattern: re.Pattern[str], properties: Mapping[str, Any], required: frozenset[str]) -> str | None:
    """Return the parameter of a meaning: a required one before others, in the order of the schema."""
    words = {key: _word(key) for key in properties}
    found = [
        key
        for key, word in words.items()
        if pattern.fullmatch(word) or (_LISTS.fullmatch(word) and pattern.fullmatch(word[:-1]))
    ]
    return next((key for key in found if key in required), found[0] if found else None)


def _harmless(deed: str, key: str, schema: Mapping[str, Any]) -> Any:
    """Return a value that means least: nothing, no, a small number, a text for people, or the deed itself."""
    kind, word = schema.get("type"), _word(key)
    if takes(schema, None) and (kind or "anyOf" in schema or "oneOf" in schema):
        return None
    listed = schema.get("enum")
    if _ACTION.fullmatch(word) and kind == "string" and type(listed) is list:
        meant = [each for each in listed if type(each) is str and _ACTIONS[deed].fullmatch(each.lower())]
        return meant[0] if meant else _UNKNOWN
    if any(each in schema for each in _COMPLEX):
        return _UNKNOWN
    if kind == "boolean" and not _NEGATED.search(word):
        return False
    if kind in ("integer", "number"):
        return _number(schema)
    return "{note}" if kind == "string" and _PROSE.fullmatch(word) else _UNKNOWN


def _number(schema: Mapping[str, Any]) -> Any:
    """Return 1, or what is just above the minimum, if the schema takes such a number."""
    least = [schema[key] for key in ("minimum", "exclusiveMinimum") if type(schema.get(key)) is int]
    most = [schema[key] for key in ("maximum", "exclusiveMaximum") if type(schema.get(key)) is int]
    number = max([1, *[each + 1 for each in least if each >= 1]])
    return number if number <= _MAX_NUMBER and all(number < each for each in most) else _UNKNOWN


def _word(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())
