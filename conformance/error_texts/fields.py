"""The field that an error names as missing or as one too many: it decides between causes that hosts word alike."""

import re
from typing import Final

_MAX_SEARCHED: Final = 16_384
_PATH: Final = r"[A-Za-z_$][\w$.\[\]-]{0,200}"
_NAMED: Final = tuple(
    [
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"extra inputs are not permitted,\s{{1,20}}field:[\s'\"`]{{0,9}}({_PATH})",
            rf"({_PATH})[\s'\"`]{{0,3}}:\s{{1,20}}extra inputs are not permitted",
            rf"unknown name \W?{_PATH}\W? at \W?({_PATH})",
            rf"unknown parameter:?[\s'\"`]{{1,3}}({_PATH})",
        )
    ]
)
_MISSED: Final = tuple(
    [
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"({_PATH})[\s'\"`]{{0,3}}:\s{{1,20}}field required",
            rf"missing required (?:parameter|field)s?:?[\s'\"`]{{1,3}}({_PATH})",
            rf"missing field[\s'\"`]{{1,3}}({_PATH})",
        )
    ]
)
_REASONING: Final = re.compile(r"(?:reasoning|thinking|thought|signature)")
_OF_MESSAGES: Final = frozenset({"messages", "input", "contents", "system"})
_OF_MESSAGES_ONLY: Final = frozenset({"reasoning_content", "reasoning_details", "thinking_blocks", "reasoning_text"})
_OF_SCHEMAS: Final = frozenset({"parameters", "input_schema"})
_MISSING: Final = {
    "id": "ids.empty",
    "tool_call_id": "ids.empty",
    "tool_use_id": "ids.empty",
    "call_id": "ids.empty",
    "signature": "reasoning.signature-missing",
    "arguments": "tools.arguments-invalid",
    "summary": "reasoning.item-shape",
}
"""By the last name in the path of what is missing: the cause."""

_TOO_MANY: Final = ("params.unknown", "messages.unknown-field", "reasoning.field-refused")


def cause_by_field(text: str, cause: str) -> str:
    """Return the id of the cause that the named field has; the given one if none is named or it is about another."""
    if cause != "params.missing" and cause not in _TOO_MANY:
        return cause
    plain = text[:_MAX_SEARCHED].replace("\\n", " ").replace("\\", "")
    patterns = _MISSED if cause == "params.missing" else _NAMED
    found = next((match[1] for pattern in patterns if (match := pattern.search(plain))), "")
    if not found:
        return cause
    return _missing(found) if cause == "params.missing" else _cause(found)


def _missing(path: str) -> str:
    names = _names(path)
    if names[0] in ("tools", "functions") and not _OF_SCHEMAS & set(names):
        return "tools.shape"
    return _MISSING.get(names[-1], "params.missing") if len(names) > 1 or names[0] != "id" else "params.missing"


def _names(path: str) -> list[str]:
    return [each for each in re.split(r"[.\[\]]+", path.lower()) if each and not each.isdigit()] or [path]


def _cause(path: str) -> str:
    names = _names(path)
    if names[0] in _OF_MESSAGES or names[-1] in _OF_MESSAGES_ONLY:
        return "reasoning.field-refused" if _REASONING.match(names[-1]) else "messages.unknown-field"
    return "tools.schema" if names[0] in ("tools", "functions") and _OF_SCHEMAS & set(names) else "params.unknown"
