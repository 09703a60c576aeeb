"""What a run did: when, with what, how much of all there is, what it sent, and whether it came to its end.

A file of results begins with it and ends with a digest of itself and `complete`, so that whoever reads the file knows
what it proves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import orjson

from conformance.wire.native import CHAT

FORMAT: Final = 1
"""The version of the format of results files."""

DIGEST: Final = "digest"
COMPLETE: Final = "complete"

_SIZE: Final = 2**256


@dataclass(frozen=True, slots=True)
class Selection:
    """How many cases a run selected of how many, and how many test items; None: there are none, or it is not known.

    `by`: the options that left some out, as on the command line; empty if all were selected.
    """

    cases: int
    of_cases: int
    items: int | None = None
    of_items: int | None = None
    by: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return True if nothing was left out."""
        return not self.by and self.cases >= self.of_cases

    def __str__(self) -> str:
        """Return the selection in words: `2 of 42 cases, 9 of 380 items (-k plain)`."""
        items = "" if self.items is None else f", {_of(self.items, self.of_items)} items"
        by = f" ({', '.join(self.by)})" if self.by else ""
        return f"{self.cases} of {self.of_cases} cases{items}{by}"

    def to_json(self) -> dict[str, Any]:
        """Return the selection as results files have it."""
        items = {} if self.items is None else {"items": self.items, "of_items": self.of_items}
        return {"cases": self.cases, "of_cases": self.of_cases, **items, "by": list(self.by)}


def _of(count: int, total: int | None) -> str:
    return f"{count}" if total is None else f"{count} of {total}"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run did.

    `version` is that of this package. `date` is the ISO 8601 day on which the replies came: of the recording, if
    cassettes replied. `host` is what replied, without port for this machine; never a path or credentials. `requests` is
    the number that was sent or replayed, and `exchanges` their digest (see `ExchangesDigest`). `ended` says why the run
    did not come to its end; empty if it did. `problems` are what is wrong with the run as a whole, whatever its cases
    show: contradicted and missing claims, and core facts that were not tested. What is empty or None is not known.
    """

    version: str = ""
    date: str = ""
    protocol: str = CHAT
    host: str = ""
    selection: Selection | None = None
    requests: int | None = None
    exchanges: str = ""
    ended: str = ""
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the record as results files have it, without `ended` if the run came to its end."""
        shown = {
            "version": self.version or None,
            "date": self.date or None,
            "protocol": self.protocol,
            "host": self.host or None,
            "selected": None if self.selection is None else self.selection.to_json(),
            "requests": self.requests,
            "exchanges": self.exchanges or None,
        }
        shown |= {"ended": self.ended} if self.ended else {}
        return shown | ({"problems": list(self.problems)} if self.problems else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RunRecord":
        """Return the record that `to_json` wrote."""
        selected = value["selected"]
        selection = None if selected is None else Selection(**{**selected, "by": tuple(selected["by"])})
        named = {name: value[name] or "" for name in ("version", "date", "protocol", "host", "exchanges")}
        ended, problems = value.get("ended", ""), tuple(value.get("problems", ()))
        return cls(**named, selection=selection, requests=value["requests"], ended=ended, problems=problems)


@dataclass(slots=True)
class ExchangesDigest:
    """A digest of exchanges in any order, in constant memory: the sum of the SHA-256 of each, modulo 2^256.

    The order does not count, since the cases of one run may be played in any.
    """

    count: int = 0
    _sum: int = field(default=0, repr=False)

    def add(self, exchange: str) -> None:
        """Add the digest of an exchange."""
        self.count += 1
        self._sum = (self._sum + int.from_bytes(sha256(exchange.encode()).digest())) % _SIZE

    def hexdigest(self) -> str:
        """Return the digest in hexadecimal digits; empty without exchanges."""
        return f"{self._sum:064x}" if self.count else ""


def package_version() -> str:
    """Return the version of this package; empty if it is not installed."""
    try:
        return version("wire-conformance")
    except PackageNotFoundError:
        return ""


def sealed(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return results with a digest of their content and, as the last key, whether they are complete."""
    content = {key: each for key, each in value.items() if key not in (DIGEST, COMPLETE)}
    return {**content, DIGEST: content_digest(content), COMPLETE: "ended" not in content["run"]}


def content_digest(value: Mapping[str, Any]) -> str:
    """Return the SHA-256 of results without their seal, which does not depend on spaces or the order of keys."""
    content = {key: each for key, each in value.items() if key not in (DIGEST, COMPLETE)}
    return sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
