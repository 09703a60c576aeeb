"""Cassettes: exchanges kept in files by vcrpy, and the manifest that says what they are evidence of.

What goes into a cassette is allowed by name: the body, the status and three headers. Keys, cookies and whatever else
a client or a host sends never reach the file.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import vcr
import yaml
from vcr.errors import CannotOverwriteExistingCassetteException

from conformance import definitions
from conformance.errors import Unusable
from conformance.results import Evidence

REQUEST_HEADERS = frozenset({"content-type"})
REPLY_HEADERS = frozenset({"content-type", "retry-after", "server"})
_SAME = "bytes"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Entry:
    """What the cassettes of one model are: the kind of evidence, the day, what took part, how to record again.

    `engine` says of an engine by which definition, template and flags it ran, and what was replaced in it.
    """

    evidence: Evidence
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)
    again: str = ""
    engine: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the entry as the manifest holds it."""
        shown: dict[str, Any] = {"evidence": self.evidence.value, "date": self.date, "versions": dict(self.versions)}
        shown["again"] = self.again
        return shown if self.engine is None else shown | {"engine": dict(self.engine)}


@dataclass(frozen=True, slots=True)
class Shelf:
    """The cassettes of one provider: `<folder>/<provider>/<model>/<scenario>.<variant>.yaml` and their manifest."""

    folder: Path
    provider: str

    @property
    def manifest_path(self) -> Path:
        """Return where the manifest stands."""
        return self.folder / self.provider / "manifest.yaml"

    def path(self, model: str, case: str) -> Path:
        """Return where the cassette of a case stands; what no file name may hold becomes two hyphens."""
        return self.folder / self.provider / _folder_name(model) / f"{case}.yaml"

    def manifest(self) -> dict[str, Entry]:
        """Return the entries by model; empty without a manifest. Raises InvalidDocument with the line."""
        if not self.manifest_path.exists():
            return {}
        models = definitions.read(self.manifest_path, "cassette-manifest").value["models"]
        return {model: Entry(**{**entry, "evidence": Evidence(entry["evidence"])}) for model, entry in models.items()}

    def note(self, model: str, entry: Entry) -> None:
        """Write a model's entry into the manifest, leaving those of the other models as they are."""
        self._write(self.manifest() | {model: entry})

    def drop(self, model: str) -> None:
        """Remove a model's cassettes and its entry."""
        entries = self.manifest()
        del entries[model]
        shutil.rmtree(self.path(model, "x").parent, ignore_errors=True)
        if entries:
            self._write(entries)
        else:
            self.manifest_path.unlink()

    def _write(self, entries: Mapping[str, Entry]) -> None:
        shown = {name: entry.to_json() for name, entry in sorted(entries.items())}
        self.manifest_path.parent.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump({"models": shown}, sort_keys=False, allow_unicode=True, width=120)
        self.manifest_path.write_text(text, encoding="utf-8")


def _folder_name(model: str) -> str:
    """Return a model's name as every file system takes it."""
    return re.sub(r'[/:\\<>"|?*]', "--", model)


@contextmanager
def replaying(path: Path) -> Iterator[None]:
    """Answer every request of httpx from a cassette; raises Unusable for one that it does not hold."""
    if not path.exists():
        message = f"there is no cassette {path.name} in {path.parent}; record it with --record, or ask for --live"
        raise Unusable(message)
    try:
        with _vcr("none").use_cassette(str(path)):
            yield
    except CannotOverwriteExistingCassetteException:
        message = f"{path} does not hold the request that the suite sends now; record it again with --record"
        raise Unusable(message) from None


@contextmanager
def recording(path: Path, hidden: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """Keep every exchange of httpx in a cassette, in the place of what it held.

    `hidden` are words that replies may hold and a cassette must not, such as the folders of a machine, and what is
    written instead.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with _vcr("all", hidden).use_cassette(str(path)):
        yield


def _vcr(mode: str, hidden: Mapping[str, str] = MappingProxyType({})) -> vcr.VCR:
    found = vcr.VCR(
        record_mode=mode,
        match_on=("method", _SAME),
        before_record_request=_scrubbed_request,
        before_record_response=lambda reply: _scrubbed_reply(reply, hidden),
        decode_compressed_response=True,
    )
    found.register_matcher(_SAME, _is_same)
    return found


def _is_same(asked: Any, kept: Any) -> bool:
    """Say whether two requests have the same bytes; vcrpy's own matcher writes out how all others differ."""
    return bytes(asked.body or b"") == bytes(kept.body or b"")


def _scrubbed_request(request: Any) -> Any:
    """Keep the allowed headers, and of a loopback address neither port nor query."""
    request.headers = {name: value for name, value in request.headers.items() if name.lower() in REQUEST_HEADERS}
    parts = urlsplit(request.uri)
    host = "localhost" if parts.hostname in LOOPBACK else parts.netloc.rpartition("@")[2]
    request.uri = urlunsplit((parts.scheme, host, parts.path, "", ""))
    return request


def _scrubbed_reply(reply: dict[str, Any], hidden: Mapping[str, str]) -> dict[str, Any]:
    kept = {name.lower(): values for name, values in reply["headers"].items() if name.lower() in REPLY_HEADERS}
    content = reply["body"]["string"]
    for word, instead in hidden.items():
        content = content.replace(word.encode(), instead.encode())
    return reply | {"headers": kept, "body": {"string": content}}
