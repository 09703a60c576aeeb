"""What differs between two profiles, in sentences made of the meanings of claims in `schemas/files/profile.json`."""

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple

from conformance.documents import read_json
from conformance.profiles.claims import REFUSING, UNKNOWN, UPSTREAM, Claims, Profile
from conformance.profiles.files import vocabulary
from conformance.resources import folder

_SENT: Final = ("reasoning.request-field", "request.", "signature.bypass", "thinking.", "tools.")
"""Beginnings of the names of claims about requests; those about what a reply has begin otherwise."""

_ANSWERED: Final = ("accepted", "ignored")
_UNSAID: Final = (None, UNKNOWN, UPSTREAM)
_SHOWN: Final = 160


class Consequence(StrEnum):
    """What a difference means for a client that works with the first profile.

    `SEND`: it must not send something any more. `READ`: replies differ. `ASK`: it is unknown whether the second
    provider takes what the first one accepts. `FREE`: what the first provider rejects, the second accepts.
    """

    SEND = "must change what it sends"
    READ = "must read replies differently"
    ASK = "relies on what is unknown"
    FREE = "is free to send"


class ClaimDifference(NamedTuple):
    """One difference: the claim, both values (None: as on the canonical wire), and a sentence."""

    kind: Consequence
    claim: str
    before: Any
    after: Any
    sentence: str


def differences(first: Profile, second: Profile, models: tuple[str, str] = ("", "")) -> tuple[ClaimDifference, ...]:
    """Return what a client of the first profile must change for the second one, by kind and claim.

    `models` are those to compare, by default the one that each profile requests by default.
    """
    left, right = first.at(models[0] or first.model), second.at(models[1] or second.model)
    found = [
        ClaimDifference(
            kind, name, left.get(name), right.get(name), _sentence(name, (first.name, second.name), left, right)
        )
        for name in vocabulary()
        if (kind := kind_of(name, left.get(name), right.get(name))) is not None
    ]
    return tuple(sorted(found, key=lambda each: (list(Consequence).index(each.kind), each.claim)))


def kind_of(name: str, before: Any, after: Any) -> Consequence | None:
    """Return what two values of a claim mean for a client; None if they ask for no change."""
    if _is_same(before, after):
        return None
    if _value_kind(name) not in REFUSING:
        return _kind_of_value(name, before, after) if before not in _UNSAID and after not in _UNSAID else None
    if _is_harmful(after):
        return None if _is_harmful(before) and _reaches(before, after) else Consequence.SEND
    # An omitted claim is not unknown: it means that the provider is as the canonical wire.
    if after == UNKNOWN:
        return Consequence.ASK if before in _ANSWERED else None
    return Consequence.FREE if _is_harmful(before) and after in _ANSWERED else None


def _kind_of_value(name: str, before: Any, after: Any) -> Consequence | None:
    """Return what two values mean that are not verdicts; fewer forms of a reply or more accepted ones mean nothing."""
    left, right = (value if isinstance(value, list) else [value] for value in (before, after))
    if name.startswith(_SENT):
        return Consequence.SEND if any(each not in right for each in left) else None
    return Consequence.READ if any(each not in left for each in right) else None


def _is_same(before: Any, after: Any) -> bool:
    return isinstance(before, bool) is isinstance(after, bool) and bool(before == after)


def _is_harmful(value: Any) -> bool:
    return isinstance(value, Mapping) or value == "damaged"


def _reaches(before: Any, after: Any) -> bool:
    """Return True if what the first provider rejects includes what the second one rejects."""
    for name in ("limit", "pattern"):
        if isinstance(after, Mapping) and name in after:
            held = before.get(name) if isinstance(before, Mapping) else None
            return bool(held == after[name] or (name == "limit" and held is not None and held <= after[name]))
    if isinstance(after, Mapping) and "kinds" in after:
        return isinstance(before, Mapping) and set(after["kinds"]) <= set(before.get("kinds", ()))
    return True


def _sentence(name: str, providers: tuple[str, str], left: Claims, right: Claims) -> str:
    sides = [
        f"{provider} {_words(name, claims.get(name))}"
        for provider, claims in zip(providers, (left, right), strict=True)
    ]
    return f"{vocabulary()[name]} {sides[0]}; {sides[1]}."


def _words(name: str, value: Any) -> str:
    if value is None:
        return "claims nothing of it"
    if value == UNKNOWN:
        return "is not known to accept it" if _value_kind(name) in REFUSING else "is not documented"
    if value == UPSTREAM:
        return "does what its upstream does"
    if _value_kind(name) not in REFUSING:
        return f"has {_value_words(name, value)}"
    if isinstance(value, Mapping):
        limit = "".join([f" beyond {value[each]}" for each in ("limit", "pattern") if each in value])
        limit += f" of the kinds {', '.join(value['kinds'])}" if "kinds" in value else ""
        return _refusal_words(value.get("refusal", value), limit)
    return {"accepted": "accepts it", "ignored": "ignores it"}.get(value, "accepts it, but the result is corrupted")


def _refusal_words(refusal: Any, limit: str) -> str:
    if not isinstance(refusal, Mapping):
        return f"{_words('results.missing', refusal)}{limit}"
    text = str(refusal.get("message", ""))
    shown = f" (“{text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'}”)" if text else ""
    return f"rejects it{limit} with status {refusal['status']}{shown}"


def _value_words(name: str, value: Any) -> str:
    """Return a value with what its words mean."""
    meanings = _definition(name).get("$defs", {})
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return (", " if _value_kind(name) == "words" else " or ").join([_word(each, meanings) for each in value])
    return _word(value, meanings)


def _word(value: Any, meanings: Mapping[str, Any]) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    meaning = meanings.get(text, {}).get("description", "")
    return f"`{shown}` ({meaning})" if meaning else f"`{shown}`"


def _value_kind(name: str) -> str:
    reference: str = _schema()["claims"]["properties"][name].get("$ref", "")
    return reference.rpartition("/")[2].removesuffix("-claim")


def _definition(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _schema().get(_value_kind(name), {})
    return found


@cache
def _schema() -> Mapping[str, Any]:
    whole: Any = read_json(folder("schemas") / "files" / "profile.json")
    definitions: Mapping[str, Any] = whole["$defs"]
    return definitions
