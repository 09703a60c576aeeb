"""Verdicts and claims in words: a value by what the vocabulary says of it, a refusal with its status and text."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

import orjson

from conformance.documents import read_json
from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.reporting.matrix import Verdict
from conformance.resources import folder

Exact: TypeAlias = Callable[[str], str]
"""How a report writes what must be taken literally."""

VERDICTS: Final[Mapping[Verdict, tuple[str, str]]] = {
    Verdict.CONFORMS: ("✓", "seen: live, in a recording, of an engine that ran, or in what an adapter sent"),
    Verdict.DECLARED: (
        "○",
        "nobody saw it: the simulator plays what the profile claims, or the claim has its sources alone",
    ),
    Verdict.DEPARTS: ("~", "a SHOULD or MAY is not met, or some recordings contradict the claim"),
    Verdict.BREAKS: ("✗", "a MUST is not met"),
    Verdict.UNTESTED: ("–", "a scenario promised it, and nothing was there to judge"),
    Verdict.UNKNOWN: ("?", "it was looked for and not found"),
    Verdict.ERRORED: ("!", "this project is at fault"),
}
"""The mark of each verdict, and what it says: the same in every report."""

_FOLLOWS: Final[Mapping[str, Mapping[bool, str]]] = {
    "thinks": {True: "it thinks", False: "it does not think"},
    "keeps": {True: "it reaches the model", False: "it does not"},
    "field": {},
}
"""What may follow from a condition on the request, by the key that says it."""


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
    if isinstance(value, list):
        one = [_word(each, meanings, exact) if meanings else _part(each, exact) for each in value]
        between = ", " if all(isinstance(each, str | int) for each in value) else "; "
        return ("; or " if meanings else between).join(one) or "none"
    if isinstance(value, str | bool) and meanings:
        return _word(value, meanings, exact)
    if kind == "verdict":
        return _verdict(value, exact)
    if kind == "mapping":
        return ", ".join([f"{exact(word)} counts as {exact(other)}" for word, other in value.items()])
    return _part(value, exact)


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
    return f"{exact(word)} ({meanings[word]})" if word in meanings else exact(word)


def _part(value: Any, exact: Exact) -> str:
    """Return a value that no vocabulary explains, or one item of a list of such."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return _object(value, exact)
    return exact(value) if isinstance(value, str) else str(value)


def _object(value: Mapping[str, Any], exact: Exact) -> str:
    """Return an object of the vocabulary: a refusal, a limit, a condition with what follows from it."""
    if "status" in value:
        return _verdict(value, exact)
    if "when" in value:
        when = " and ".join([_condition(each, exact) for each in value["when"]])
        return f"{when}: {_verdict(value['verdict'], exact)}"
    if "refusal" in value:
        return f"{_limits(value, exact)}{_verdict(value['refusal'], exact)}"
    for key, said in _FOLLOWS.items():
        if key in value:
            then = value[key]
            named = ", ".join([exact(each) for each in ([then] if isinstance(then, str) else then)]) if not said else ""
            return f"{_condition(value, exact)}: {named or said[then]}"
    if "at" in value:
        bounds = [f"{word} {value[key]}" for key, word in (("min", "at least"), ("max", "at most")) if key in value]
        return ", ".join([exact(value["at"]), *bounds])
    return exact(orjson.dumps(value).decode())


def _condition(value: Mapping[str, Any], exact: Exact) -> str:
    at = exact(value["at"])
    if "equals" in value:
        return f"{at} is {_json(value['equals'], exact)}"
    for key, word in (("in", "one of"), ("not-in", "none of")):
        if key in value:
            return f"{at} is {word} {', '.join([_json(each, exact) for each in value[key]])}"
    return f"{at} is there" if value.get("present", True) else f"{at} is not there"


def _limits(value: Mapping[str, Any], exact: Exact) -> str:
    """Return what a limit allows, up to what becomes of the rest."""
    if "values" in value:
        mode = {True: " while it thinks", False: " while it does not think"}.get(value.get("thinks", ""), "")
        allowed = ", ".join([_json(each, exact) for each in value["values"]])
        return f"of {exact(value['field'])}{mode} only {allowed}; else "
    if "field" in value:
        return f"{exact(value['field'])}: "
    return "; ".join([f"{name} {exact(str(each))}" for name, each in value.items() if name != "refusal"]) + "; else "


def _verdict(value: Any, exact: Exact) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    text = value.get("message")
    return f"refused with {value['status']}" + (f": {exact(text)}" if text else "")


def _json(value: Any, exact: Exact) -> str:
    return exact(orjson.dumps(value).decode())
