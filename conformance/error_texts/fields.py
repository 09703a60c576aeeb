"""The field that an error names as missing, unknown or wrong: it decides between causes that hosts word alike."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.error_texts.words import MAX_CHARACTERS

_PATH: Final = r"[A-Za-z_$][\w$.\[\]-]{0,200}"
_QUOTES: Final = r"[\s'\"`]{1,3}"


def _patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple([re.compile(pattern, re.IGNORECASE) for pattern in patterns])


_NAMED: Final = _patterns(
    rf"extra inputs are not permitted,\s{{1,20}}field:[\s'\"`]{{0,9}}({_PATH})",
    rf"({_PATH})[\s'\"`]{{0,3}}:\s{{1,20}}extra inputs are not permitted",
    rf"({_PATH})\s{{1,20}}extra inputs are not permitted",
    rf"unknown name \W?{_PATH}\W? at \W?({_PATH})",
    rf"unknown parameter:?{_QUOTES}({_PATH})",
)
_MISSED: Final = _patterns(
    rf"({_PATH})[\s'\"`]{{0,3}}:\s{{1,20}}field required",
    rf"missing (?:required|json) (?:json )?(?:parameter|field|property|key|argument)s?:?{_QUOTES}({_PATH})",
    rf"missing (?:the )?(?:parameter|field|property|key|argument)s?(?::\s?|\s)['\"`]({_PATH})",
    rf"is missing[\s'\"`]{{1,3}}({_PATH})[\s'\"`]{{1,3}}(?:parameter|field|property)",
    rf"['\"`]({_PATH})['\"`] (?:field )?(?:is (?:a )?(?:required|missing)|must be (?:set|provided|specified))",
    rf"({_PATH})\s{{1,20}}field required",
    rf"key ['\"`]({_PATH})['\"`] (?:was )?not found",
    rf"property ['\"`]({_PATH})['\"`] is missing",
)
_TYPED: Final = _patterns(
    rf"({_PATH})[\s'\"`]{{0,3}}:?\s{{1,20}}input should be an? (?:valid )?"
    r"(?:string|list|dictionary|object|array|integer|number)",
)
_LOCATION: Final = re.compile(r"['\"](?:loc|path)['\"]\s{0,5}:\s{0,5}[\[(]([^\])]{1,400})[\])]")
_LOCATED: Final = 300
"""How many characters before and after the place of an error Pydantic writes the rest of it."""

_NAME: Final = re.compile(r"['\"]?([\w$-]+)['\"]?")
_CLASS: Final = re.compile(r"[A-Z]|(?:str|list|int|dict|body|function-\w+)$")
_REASONING: Final = re.compile(r"(?:reasoning|thinking|thought|signature|extra_content)")
_ABSENT: Final = ("field required", 'received": "undefined', 'received":"undefined', "received undefined")
"""What Pydantic and Zod say of a field that is missing."""

_OF_MESSAGES: Final = frozenset({"messages", "input", "contents", "system"})
_OF_MESSAGES_ONLY: Final = frozenset(
    {"reasoning_content", "reasoning_details", "thinking_blocks", "reasoning_text", "extra_content"}
)
_OF_TOOLS: Final = frozenset({"tools", "functions"})
_OF_SCHEMAS: Final = frozenset({"parameters", "input_schema"})
_MISSING: Final = {
    "id": "ids.empty",
    "tool_call_id": "ids.empty",
    "tool_use_id": "ids.empty",
    "call_id": "ids.empty",
    "signature": "reasoning.signature-missing",
    "arguments": "tools.arguments-invalid",
    "summary": "reasoning.item-shape",
    "content": "content.missing",
    "role": "content.type",
    "function": "tools.shape",
    "messages": "messages.missing",
}
"""By the last name in the path of what is missing: the cause."""

_WRONG: Final = {
    "content": "content.array",
    "text": "content.array",
    "arguments": "tools.arguments-invalid",
    "input": "tools.arguments-invalid",
    "parameters": "tools.schema",
    "input_schema": "tools.schema",
    "tool_choice": "tool-choice.shape",
    "response_format": "params.format",
}
"""By the last name in the path of what has the wrong type: the cause."""

_TOO_MANY: Final = ("params.unknown", "messages.unknown-field", "reasoning.field-refused")
_OF_TYPES: Final = ("params.range", "tools.arguments-invalid", "content.array", "content.type", "content.part-type")


def cause_by_field(text: str, cause: str) -> str:
    """Return the id of the cause that the named field has; the given one if none is named or it is about another."""
    if cause == "params.missing":
        found = _field(text, _MISSED, *_ABSENT)
        return _missing(found) if found else cause
    if cause in _TOO_MANY:
        found = _field(text, _NAMED, "extra inputs are not permitted")
        return _cause(found) if found else cause
    if cause in _OF_TYPES:
        found = _field(text, _TYPED, "input should be a")
        return _wrong(found, cause) if found else cause
    return cause


def named_cause(text: str) -> str:
    """Return the id of the cause of an error that names a field as missing; empty if it names none."""
    found = _field(text, _MISSED, *_ABSENT)
    return _missing(found) if found else ""


def _field(text: str, patterns: Sequence[re.Pattern[str]], *words: str) -> str:
    """Return the path of the field that an error names, by its patterns or by a location beside some words."""
    plain = text[:MAX_CHARACTERS].replace("\\n", " ").replace("\\", "")
    located = next((path for path, near in _located(plain) if any(map(near.lower().__contains__, words))), "")
    return located or next((match[1] for pattern in patterns if (match := pattern.search(plain))), "")


def _located(text: str) -> Iterator[tuple[str, str]]:
    """Yield the paths that Pydantic writes as lists, each with the text around it."""
    for found in _LOCATION.finditer(text):
        names = [each for each in _NAME.findall(found[1]) if not _CLASS.match(each)]
        if names:
            yield ".".join(names), text[max(0, found.start() - _LOCATED) : found.end() + _LOCATED]


def _missing(path: str) -> str:
    names = _names(path)
    if (_OF_TOOLS & set(names[:-1]) or names[0] == "function") and not _OF_SCHEMAS & set(names):
        return "tools.shape"
    if _OF_SCHEMAS & set(names) or "properties" in names[:-1]:
        return "tools.schema"
    return _MISSING.get(names[-1], "params.missing") if len(names) > 1 or names[0] != "id" else "params.missing"


def _names(path: str) -> list[str]:
    return [each for each in re.split(r"[.\[\]]+", path.lower()) if each and not each.isdigit()] or [path]


def _cause(path: str) -> str:
    names = _names(path)
    if names[0] in _OF_MESSAGES or names[-1] in _OF_MESSAGES_ONLY:
        return "reasoning.field-refused" if _REASONING.match(names[-1]) else "messages.unknown-field"
    return "tools.schema" if names[0] in _OF_TOOLS and _OF_SCHEMAS & set(names) else "params.unknown"


def _wrong(path: str, cause: str) -> str:
    """Return the cause of a value of the wrong type, by the name that is nearest to it."""
    return next((_WRONG[each] for each in reversed(_names(path)) if each in _WRONG), cause)
