"""The index of recordings as columns, as a wheel holds it: one key of all lines stands together and packs better.

The build hook of the wheel runs this file before anything is installed, so it needs the standard library alone.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

NAME: Final = "recordings.columns"
"""The file of the columns, in the place of the files of JSON Lines."""

_FILE: Final = ("repository", "commit", "path", "licence")
_EXCHANGE: Final = ("number", "digest", "provider", "model", "date", "status", "fixture")
_NUMBERS: Final = ("number", "status")
_COLUMN: Final = "\x1e"


def packed(lines: Iterable[bytes]) -> bytes:
    """Return the columns of lines of the index: of each key its values, and how many exchanges each file has."""
    files = [json.loads(line) for line in lines]
    # Commits cannot be compressed, so each stands once.
    commits = list(dict.fromkeys(each["commit"] for each in files))
    places = {commit: number for number, commit in enumerate(commits)}
    counts = [len(each["exchanges"]) for each in files]
    held = [each | {"commit": places[each["commit"]]} for each in files]
    exchanges = [exchange for each in files for exchange in each["exchanges"]]
    columns = [commits, counts, *_columns(held, _FILE), *_columns(exchanges, _EXCHANGE)]
    return _COLUMN.join("\n".join(map(str, column)) for column in columns).encode()


def positions(lines: Iterable[bytes]) -> dict[str, int]:
    """Return at which position of the index each digest stands first."""
    found: dict[str, int] = {}
    for number, each in enumerate(exchange for line in lines for exchange in json.loads(line)["exchanges"]):
        found.setdefault(each["digest"], number)
    return found


def numbered(calibration: bytes, places: Mapping[str, int]) -> bytes:
    """Return a calibration with the positions of its exchanges in the index, which pack better than their digests."""
    value = json.loads(calibration)
    value["exchanges"] = [places.get(digest, digest) for digest in value["exchanges"]]
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _columns(rows: list[dict[str, Any]], keys: Iterable[str]) -> list[list[Any]]:
    return [[row.get(key, "") for row in rows] for key in keys]


def unpacked(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the lines that were packed, each as its object."""
    commits, counts, *columns = [column.split("\n") for column in data.decode().split(_COLUMN)]
    files = zip(counts, *columns[: len(_FILE)], strict=True)
    exchanges = zip(*columns[len(_FILE) :], strict=True)
    for count, repository, commit, path, licence in files:
        held = [_exchange(next(exchanges)) for _ in range(int(count))]
        yield {
            "repository": repository,
            "commit": commits[int(commit)],
            "path": path,
            "licence": licence,
            "exchanges": held,
        }


def _exchange(values: Iterable[str]) -> Mapping[str, Any]:
    """Return an exchange without the keys that it does not have."""
    named = zip(_EXCHANGE, values, strict=True)
    return {
        key: int(value) if key in _NUMBERS else value for key, value in named if value or key in ("digest", "provider")
    }
