"""Claims that were discovered beside those of a shipped profile: which are the same, and which profile is nearest."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from conformance.discovery.wires import sections
from conformance.evidence.answers import Answer, is_same
from conformance.evidence.reads import kinds
from conformance.profiles import UNKNOWN, UPSTREAM, Profile
from conformance.results import Refusal
from conformance.wire.ids import text_matching
from conformance.wire.native import CHAT

_SAMPLES: Final = 20
_ANSWERED: Final = ("accepted", "ignored", "damaged")
_LEAST: Final = 10


class Relation(StrEnum):
    """How a discovered claim relates to one of a profile.

    `FITS`: the same as far as answers can show it, such as accepted and ignored, or a part of a list. `UNCLAIMED`: the
    profile claims nothing.
    """

    EQUAL = "equal"
    FITS = "fits"
    UNCLAIMED = "unclaimed"
    DIFFERENT = "different"


class Similarity(NamedTuple):
    """How much a shipped profile is like what was discovered: the claims that are the same, and those that differ."""

    provider: str
    model: str
    same: tuple[str, ...]
    different: tuple[str, ...]

    @property
    def share(self) -> float:
        """Return the share of the claims that both make which are the same."""
        return len(self.same) / max(1, len(self.same) + len(self.different))


def relation(name: str, found: Any, claimed: Any) -> Relation:
    """Return how a discovered value relates to the value that a profile claims (None: it claims none)."""
    if claimed is None or claimed in (UNKNOWN, UPSTREAM):
        return Relation.UNCLAIMED
    if _same(found, claimed):
        return Relation.EQUAL
    return Relation.FITS if _fits(kinds().get(name, ""), found, claimed) else Relation.DIFFERENT


def _same(found: Any, claimed: Any) -> bool:
    if isinstance(found, list) and isinstance(claimed, list):
        return sorted(map(str, found)) == sorted(map(str, claimed))
    return isinstance(found, bool) is isinstance(claimed, bool) and bool(found == claimed)


def _fits(kind: str, found: Any, claimed: Any) -> bool:
    if kind == "pattern":
        return _matches(found, claimed)
    if isinstance(found, Mapping) and isinstance(claimed, Mapping):
        if "refusal" in found and "refusal" in claimed:
            limits = [{**each, "refusal": None} for each in (found, claimed)]
            return limits[0] == limits[1] and _fits("verdict", found["refusal"], claimed["refusal"])
        return "status" in found and "status" in claimed and _is_same_refusal(found, claimed)
    if isinstance(found, str) and isinstance(claimed, str):
        return found in _ANSWERED and claimed in _ANSWERED
    return _is_part(found, claimed)


def _is_part(found: Any, claimed: Any) -> bool:
    """Return True if what was found is a part of what is claimed: one of several forms, or some of many names."""
    claims = claimed if isinstance(claimed, list) else [claimed]
    return all(any(_same(each, other) for other in claims) for each in (found if isinstance(found, list) else [found]))


def _is_same_refusal(found: Mapping[str, Any], claimed: Mapping[str, Any]) -> bool:
    if found["status"] != claimed["status"]:
        return False
    if "message" not in found or not ({"message", "also", "body"} & claimed.keys()):
        return True
    text = str(found["message"]).replace("{{", "{").replace("}}", "}")
    given = Refusal(found["status"], claimed.get("message"))
    answer = Answer(rejected=True, status=found["status"], texts=(text,), body=None)
    return is_same(given, claimed, answer) or _begins_alike(text, claimed)


def _begins_alike(text: str, claimed: Mapping[str, Any]) -> bool:
    """Return True if a text that was cut or generalized begins as a claimed one."""
    wordings = [each for each in (claimed.get("message"), *claimed.get("also", ())) if each]
    plain = [each.replace("{{", "{").replace("}}", "}") for each in wordings]
    return "body" in claimed or any(_beginning(text)[:_LEAST] == _beginning(each)[:_LEAST] for each in plain)


def _beginning(text: str) -> str:
    return re.split(r"\{[a-z]+\}|\d", text)[0]


def _matches(found: Any, claimed: Any) -> bool:
    """Return True if ids of the claimed format match what was found."""
    patterns = found if isinstance(found, list) else [found]
    ids = [
        text_matching(each, str(number).encode())
        for each in (claimed if isinstance(claimed, list) else [claimed])
        for number in range(_SAMPLES)
    ]
    return any(all(re.fullmatch(pattern, each) for pattern in patterns) for each in ids)


def similarity(found: Mapping[str, Any], profile: Profile) -> Similarity:
    """Return how much a profile is like what was discovered, for its default model."""
    claimed = profile.at(profile.model)
    relations = {name: relation(name, value, claimed.get(name)) for name, value in found.items()}
    same = [name for name, each in relations.items() if each in (Relation.EQUAL, Relation.FITS)]
    different = [name for name, each in relations.items() if each is Relation.DIFFERENT]
    return Similarity(profile.name, profile.model, tuple(same), tuple(different))


def nearest(found: Mapping[str, Any], wire: str = CHAT) -> Similarity:
    """Return the shipped profile that is most like what was discovered; of several, the one that claims more of it."""
    every: Iterator[Similarity] = (similarity(found, profile) for profile in sections(wire))
    return max(every, key=lambda each: (len(each.same) - 2 * len(each.different), each.share))
