"""Claims in words: a value by the meaning that the vocabulary gives it, a refusal with its status and text."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import orjson

from conformance.documents import read_json
from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.resources import folder

Exact: TypeAlias = Callable[[str], str]
"""How a report writes what must be taken literally."""


@cache
def _kinds() -> Mapping[str, str]:
    """Return the kind of each claim's value, by the claim's name."""
    properties = _schema()["$defs"]["claims"]["properties"]
    return {name: each["$ref"].rpartition("/")[2].removesuffix("-claim") for name, each in properties.items()}


@cache
def _schema() -> Any:
    return read_json(folder("schemas") / "files" / "profile.json")


def meaning(name: str, value: Any, exact: Exact) -> str:
    """Return what a claim's value says, in words."""
    if value in (UNKNOWN, UPSTREAM):
        return "not known" if value == UNKNOWN else "as the upstream that the request is routed to"
    kind = _kinds()[name]
    # The three words for what becomes of a request come again and again; a report explains them once.
    meanings: Mapping[str, str] = {} if kind == "verdict" else _schema()["$defs"].get(kind, {}).get("meanings", {})
    if kind == "verdict" and isinstance(value, str):
        return value
    if isinstance(value, list) and meanings:
        return "; or ".join([_word(each, meanings, exact) for each in value])
    if isinstance(value, str | bool) and meanings:
        return _word(value, meanings, exact)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _object(value, exact) if isinstance(value, Mapping) else _literally(value, exact)


def refusals(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return every refusal in a claim's value, in its order, also those within limits and conditions."""
    if isinstance(value, Mapping):
        if isinstance(value.get("status"), int):
            return (value,)
        return tuple([found for each in value.values() for found in refusals(each)])
    if isinstance(value, list):
        return tuple([found for each in value for found in refusals(each)])
    return ()


def _word(value: Any, meanings: Mapping[str, str], exact: Exact) -> str:
    word = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{exact(word)}: {meanings[word]}" if word in meanings else exact(word)


def _object(value: Mapping[str, Any], exact: Exact) -> str:
    if isinstance(value.get("status"), int):
        text = value.get("message")
        return f"refused with {value['status']}" + (f": {exact(text)}" if text else "")
    if "refusal" in value:
        limits = ", ".join([f"{name} {exact(str(each))}" for name, each in value.items() if name != "refusal"])
        verdict = value["refusal"]
        return f"{limits}; else " + (_object(verdict, exact) if isinstance(verdict, Mapping) else str(verdict))
    return exact(orjson.dumps(value).decode())


def _literally(value: Any, exact: Exact) -> str:
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ", ".join([exact(str(each)) for each in value]) or "none"
    return exact(value if isinstance(value, str) else orjson.dumps(value).decode())
