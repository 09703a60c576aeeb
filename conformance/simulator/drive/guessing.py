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
_MAX_TEXT: Final = 2000
_MAX_NUMBER: Final = 10_000


def guess(deed: str, functions: Iterable[Mapping[str, Any]]) -> AgentTool | None:
    """Return the function that does a deed; that with the shortest name if several do."""
    meant = [function for function in functions if _means(deed, function)]
    fitting = [tool for function in meant if (tool := fit(deed, function)) is not None]
    return min(fitting, key=lambda tool: (len(tool.name), tool.name), default=None)


def fit(deed: str, function: Mapping[str, Any]) -> AgentTool | None:
    """Return a function as the tool for a deed, if all that it requires is known."""
    properties, required = schema_of(function)
    arguments: dict[str, Any] = {}
    for place, pattern in _PARAMETERS[deed].items():
        key = _parameter(pattern, properties, required)
        if key is None:
            return None
        is_list = bool(_LISTS.fullmatch(_word(key))) and as_object(properties[key]).get("type") == "array"
        value = [f"{{{place}}}"] if is_list else f"{{{place}}}"
        if not takes(properties[key], value):
            return None
        arguments[key] = value
    for key in sorted(required - arguments.keys()):
        value = _harmless(key, as_object(properties.get(key)))
        if value is None and deed == "shell" and _PLACE.fullmatch(_word(key)) and takes(properties[key], "{root}"):
            value = "{root}"
        if value is None:
            return None
        arguments[key] = value
    return AgentTool(deed, function["name"], arguments)


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


def _harmless(key: str, schema: Mapping[str, Any]) -> Any:
    """Return a value that means least: no, a small number, or a text for people; None if there is none."""
    kind, word = schema.get("type"), _word(key)
    if any(each in schema for each in _COMPLEX):
        return None
    if kind == "boolean" and not _NEGATED.search(word):
        return False
    if kind in ("integer", "number"):
        return _number(schema)
    return "{note}" if kind == "string" and _PROSE.fullmatch(word) else None


def _number(schema: Mapping[str, Any]) -> int | None:
    """Return 1, or what is just above the minimum; None if the schema takes no such number."""
    least = [schema[key] for key in ("minimum", "exclusiveMinimum") if type(schema.get(key)) is int]
    most = [schema[key] for key in ("maximum", "exclusiveMaximum") if type(schema.get(key)) is int]
    number = max([1, *[each + 1 for each in least if each >= 1]])
    return number if number <= _MAX_NUMBER and all(number < each for each in most) else None


def _word(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())
