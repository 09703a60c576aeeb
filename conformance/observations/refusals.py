"""Refusals beside each other: what a claim, a prediction or a discovery says of an error, and what was answered."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from conformance.observations.answers import ProviderAnswer
from conformance.observations.sights import kinds
from conformance.profiles import REFUSING
from conformance.results import Refusal

_LEAST: Final = 10
"""How many characters of a text that was cut or generalized must be those of a claimed one."""


def is_same(predicted: Refusal, claimed: Any, answer: ProviderAnswer) -> bool:
    """Return whether a provider answered as predicted: the status, and the text in the predicted or another wording.

    `claimed` is the value of the claim that the refusal comes from; None if it is not known.
    """
    if predicted.status != answer.status:
        return False
    refusal = _refusal_in(claimed)
    other = [_template(each) for each in refusal.get("also", ())]
    templates = [*([_template(predicted.message, doubled=False)] if predicted.message else ()), *other]
    if any(each.fits(text) for each in templates for text in answer.texts):
        return True
    return "body" in refusal and _fits(refusal["body"], answer.body)


def is_wordless(claimed: Any) -> bool:
    """Return whether a claim gives the status of a refusal alone, so that any text is as claimed."""
    refusal = _refusal_in(claimed)
    return "status" in refusal and not refusal.keys() & {"message", "also", "body"}


def _fits(template: Any, body: Any) -> bool:
    """Return whether a body has what a claimed one has; it may have more keys and items."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template) is not None
        return whole or (isinstance(body, str) and _template(template).fits(body.strip()))
    if isinstance(template, Mapping):
        return isinstance(body, Mapping) and all(key in body and _fits(template[key], body[key]) for key in template)
    if isinstance(template, list):
        # One iterator for all items: each goes on behind the match of the one before, so their order counts.
        rest: Iterator[Any] = iter(body if isinstance(body, list) else ())
        return all(any(_fits(item, each) for each in rest) for item in template)
    return bool(template == body)


def refusals_confirmed(claims: Mapping[str, Any], answer: ProviderAnswer) -> frozenset[str]:
    """Return the claims whose refusal matches the status and text that the provider answered."""
    found = set()
    for name, value in claims.items():
        # Other claims may hold a status, too, without being about a refusal.
        refusal = _refusal_in(value) if kinds().get(name) in REFUSING else {}
        if refusal.get("status") == answer.status:
            wordings = [each for each in (refusal.get("message"), *refusal.get("also", ())) if each]
            templates = [_template(each) for each in wordings if len(_PLACEHOLDER.sub("", each)) >= _MIN_CHARACTERS]
            if any(each.fits(text) for each in templates for text in answer.texts):
                found.add(name)
    return frozenset(found)


_PLACE: Final = re.compile(
    r"(?<![\w/:.])/(?:\w+/){0,6}\d+(?:/\w+){0,6}"
    r"|\b(?:messages|input|contents|tools)(?:\.\d+|\[\d+\])(?:\.\w+|\[\d+\]){0,8}"
)
_NUMBER: Final = re.compile(r"(?<=[\[./])\{[a-z]+\}")
"""A placeholder for a number in a place."""

_PLACEHOLDER: Final = re.compile(r"\{[a-z]+\}")
_MIN_CHARACTERS: Final = 12
"""How many characters a claimed text must have besides its placeholders, to identify a refusal."""


class RefusalTemplate(NamedTuple):
    """The constant parts of a claimed text, in order; any text, of several lines too, stands between them."""

    parts: tuple[str, ...]

    def fits(self, text: str) -> bool:
        """Return whether a text is one of the template, in time linear in its length: anybody can write a claim."""
        first, *rest = self.parts
        if not rest:
            return text == first
        if not text.startswith(first):
            return False
        at = len(first)
        for part in rest[:-1]:
            found = text.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return text.endswith(rest[-1]) and len(text) - len(rest[-1]) >= at


@cache
def _template(text: str, *, doubled: bool = True) -> RefusalTemplate:
    """Return the template of a claimed text; `doubled` is whether its literal braces are still doubled."""
    parts = _PLACEHOLDER.split(text)
    if doubled:
        parts = [part.replace("{{", "{").replace("}}", "}") for part in parts]
    return RefusalTemplate(tuple(parts))


def _refusal_in(value: Any) -> Mapping[str, Any]:
    inner = value.get("refusal", value) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def is_claimed(found: Mapping[str, Any], claimed: Mapping[str, Any]) -> bool:
    """Return whether the form of an error that a discovery derived is the claimed one, as far as its text was kept."""
    if found["status"] != claimed["status"]:
        return False
    # Where one side has no words, there is only the status to compare.
    if "message" not in found or not ({"message", "also", "body"} & claimed.keys()):
        return True
    text = str(found["message"]).replace("{{", "{").replace("}}", "}")
    given = Refusal(found["status"], claimed.get("message"))
    answer = ProviderAnswer(rejected=True, status=found["status"], texts=(text,), body=None)
    return is_same(given, claimed, answer) or _is_generalized(text, claimed)


def without_places(text: str) -> str:
    """Return an error text with holes for places in a request: where one was refused says nothing about the next."""
    return _PLACE.sub("{trace}", text)


def _is_generalized(text: str, claimed: Mapping[str, Any]) -> bool:
    """Return True if a text whose places became holes is a claimed one, or if one that was cut begins as it does."""
    wordings = [each for each in (claimed.get("message"), *claimed.get("also", ())) if each]
    if any(_template(without_places(_NUMBER.sub("0", each))).fits(text) for each in wordings):
        return True
    plain = [each.replace("{{", "{").replace("}}", "}") for each in wordings]
    return "body" in claimed or any(_beginning(text)[:_LEAST] == _beginning(each)[:_LEAST] for each in plain)


def _beginning(text: str) -> str:
    return re.split(r"\{[a-z]+\}|\d", text)[0]


def is_one_error(left: Any, right: Any) -> bool:
    """Return True if two claims are about one and the same error, which has a text."""
    if not (isinstance(left, Mapping) and isinstance(right, Mapping)):
        return False
    return bool(left.get("message")) and all(left.get(name) == right.get(name) for name in ("status", "message"))


def without_words(value: Any) -> Any:
    """Return a claimed refusal without its text; any other value as it is."""
    if not isinstance(value, Mapping):
        return value
    if isinstance(value.get("refusal"), Mapping):
        return {**value, "refusal": without_words(value["refusal"])}
    return {name: each for name, each in value.items() if name != "message"}
