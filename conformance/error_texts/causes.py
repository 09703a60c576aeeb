"""The causes of errors: what each means, whose side it is on, how to fix it, and which rules find its place."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance import definitions, profiles
from conformance.documents.pointer import Place
from conformance.error_texts.words import words

_FILE: Final = Path(__file__).with_name("_causes.yaml")


class CauseSide(StrEnum):
    """Who can fix what caused an error: the client that sent the request, the provider, or the account's owner.

    `model`: the model wrote what the provider then rejected; another attempt may succeed.
    """

    CLIENT = "client"
    PROVIDER = "provider"
    ACCOUNT = "account"
    MODEL = "model"


class ErrorCause(NamedTuple):
    """Why requests are refused.

    `meaning`: a sentence. `claims`: those whose refusals have this cause; the rules about them find its place in a
    request. `narrows`: claims of other causes, with the words of those of their texts that have this cause. `rules`:
    ids or globs of other rules that find the place. `statuses` and `codes`: HTTP statuses, and words in the code or
    type of an error, that have this cause if its text is not known.
    """

    id: str
    meaning: str
    side: CauseSide
    fix: str
    claims: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()
    codes: tuple[str, ...] = ()
    narrows: tuple[tuple[str, str], ...] = ()


@cache
def causes() -> Mapping[str, ErrorCause]:
    """Return every cause by its id; raises InvalidDocument for a broken file."""
    return {name: _cause(name, each) for name, each in _document()["causes"].items()}


def cause_of(claim: str, text: str) -> ErrorCause | None:
    """Return the cause of a text in a claim; None if the causes do not name the claim."""
    said = f" {' '.join(words(text).words)} "
    narrower = [cause for cause, wanted in _narrower().get(claim, ()) if f" {wanted} " in said]
    return narrower[0] if narrower else by_claim().get(claim)


@cache
def by_claim() -> Mapping[str, ErrorCause]:
    """Return the cause of each claim that can hold a refusal."""
    return {claim: cause for cause in causes().values() for claim in cause.claims}


@cache
def _narrower() -> Mapping[str, Sequence[tuple[ErrorCause, str]]]:
    found: dict[str, list[tuple[ErrorCause, str]]] = {}
    for cause in causes().values():
        for claim, wanted in cause.narrows:
            found.setdefault(claim, []).append((cause, wanted))
    return found


@cache
def generic() -> frozenset[str]:
    """Return the texts, in lower case, that hosts send for many causes, so that they explain nothing."""
    return frozenset(_document()["generic"])


@cache
def field_texts() -> frozenset[str]:
    """Return the texts, in lower case, that name a field on most hosts, and without it explain nothing."""
    return frozenset(_document()["without-field"])


@cache
def _document() -> Mapping[str, Any]:
    found: Mapping[str, Any] = definitions.read(_FILE, "error-causes", _errors).value
    return found


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    known, seen = profiles.vocabulary(), set[str]()
    for name, each in value["causes"].items():
        for number, claim in enumerate(each.get("claims", ())):
            place = ("causes", name, "claims", number)
            if claim not in known:
                yield place, f"unknown claim {claim!r}"
            elif claim in seen:
                yield place, f"the claim {claim!r} has another cause already"
            seen.add(claim)


def _cause(name: str, each: Mapping[str, Any]) -> ErrorCause:
    lists = {key: tuple(each.get(key, ())) for key in ("claims", "rules", "statuses", "codes")}
    narrows = tuple([(claim, text) for claim, texts in each.get("narrows", {}).items() for text in texts])
    return ErrorCause(name, each["meaning"], CauseSide(each["side"]), each["fix"], narrows=narrows, **lists)
