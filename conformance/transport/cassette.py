"""Cassettes: files in which vcrpy records exchanges, and the manifest that states what they are evidence of.

A cassette holds the body, the status and three headers. Keys, cookies and everything else that a client or a host
sends never reach the file.
"""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import vcr
import yaml
from vcr.errors import CannotOverwriteExistingCassetteException
from vcr.request import Request
from vcr.serialize import serialize
from vcr.serializers import yamlserializer

from conformance import artifacts, definitions
from conformance.errors import Unusable
from conformance.results import Evidence, RunClaim
from conformance.transport.interaction import Interaction, Keep
from conformance.wire.exchange import CUT

REQUEST_HEADERS = frozenset({"content-type"})
REPLY_HEADERS = frozenset({"content-type", "retry-after", "server", CUT})
_SAME_BYTES = "bytes"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """The cassettes of one model: the kind of evidence, the day, the versions, and the command that records them again.

    `engine` holds the definition, template and flags of a recorded engine, and what was replaced in it. `thinking` (on
    or off) and `claims` are what the user set for the run, and what the run observed of the model; a replay needs both.
    """

    evidence: Evidence
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)
    again: str = ""
    engine: Mapping[str, Any] | None = None
    thinking: str = ""
    claims: Mapping[str, RunClaim] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the entry as it is written in the manifest."""
        shown: dict[str, Any] = {"evidence": self.evidence.value, "date": self.date, "versions": dict(self.versions)}
        shown["again"] = self.again
        if self.engine is not None:
            shown["engine"] = dict(self.engine)
        if self.thinking:
            shown["thinking"] = self.thinking
        if self.claims:
            shown["claims"] = {name: asdict(claim) for name, claim in self.claims.items()}
        return shown


@dataclass(frozen=True, slots=True)
class CassetteFolder:
    """The cassettes of one provider: `<folder>/<provider>/<model>/<scenario>.<variant>.yaml` and their manifest."""

    folder: Path
    provider: str

    @property
    def manifest_path(self) -> Path:
        """Return the path of the manifest."""
        return self.folder / self.provider / "manifest.yaml"

    def path(self, model: str, case: str) -> Path:
        """Return the path of the cassette of a case; characters that no file name may hold become two hyphens."""
        return self.folder / self.provider / _folder_name(model) / f"{case}.yaml"

    def manifest(self) -> dict[str, ManifestEntry]:
        """Return the entries by model, none if there is no manifest; raises InvalidDocument with the line."""
        if not self.manifest_path.exists():
            return {}
        models = definitions.read(self.manifest_path, "cassette-manifest").value["models"]
        return {model: _entry(value) for model, value in models.items()}

    def add(self, model: str, entry: ManifestEntry) -> None:
        """Write a model's entry into the manifest; those of other models stay as they are."""
        self._write(self.manifest() | {model: entry})

    def remove(self, model: str) -> None:
        """Remove a model's cassettes and its entry."""
        entries = self.manifest()
        del entries[model]
        shutil.rmtree(self.path(model, "x").parent, ignore_errors=True)
        if entries:
            self._write(entries)
        else:
            self.manifest_path.unlink()

    def _write(self, entries: Mapping[str, ManifestEntry]) -> None:
        shown = {name: entry.to_json() for name, entry in sorted(entries.items())}
        text = yaml.safe_dump({"models": shown}, sort_keys=False, allow_unicode=True, width=120)
        artifacts.write(self.manifest_path, text)


def _entry(value: Mapping[str, Any]) -> ManifestEntry:
    claims = {name: RunClaim(**claim) for name, claim in value.get("claims", {}).items()}
    return ManifestEntry(**{**value, "evidence": Evidence(value["evidence"]), "claims": claims})


def _folder_name(model: str) -> str:
    """Return a model's name as a folder name that every file system accepts."""
    return re.sub(r'[/:\\<>"|?*]', "--", model)


@contextmanager
def replaying(path: Path) -> Iterator[None]:
    """Answer every request of httpx from a cassette; raises Unusable for a request that it does not hold."""
    if not path.exists():
        message = f"there is no cassette {path.name} in {path.parent}; record it with --record, or use --live"
        raise Unusable(message)
    try:
        with _replayer().use_cassette(str(path)):
            yield
    except CannotOverwriteExistingCassetteException:
        message = f"{path} does not hold the request that the suite sends; record it again with --record"
        raise Unusable(message) from None


@contextmanager
def recording(path: Path, hidden: Mapping[str, str] = MappingProxyType({})) -> Iterator[Keep]:
    """Yield what keeps interactions, and write them to a cassette in the end; it replaces what was there before.

    `hidden` maps texts that a cassette must not hold, such as the folders of a machine, to what is written instead.
    """
    kept: list[Interaction] = []
    try:
        yield kept.append
    finally:
        if kept:
            artifacts.write(path, cassette_text(kept, hidden))


def cassette_text(kept: Sequence[Interaction], hidden: Mapping[str, str]) -> str:
    """Return the text of a cassette, in the format of vcrpy."""
    interactions = {
        "requests": [_scrubbed_request(Request("POST", each.url, each.sent, dict(each.sent_headers))) for each in kept],
        "responses": [_reply(each, hidden) for each in kept],
    }
    text: str = serialize(interactions, yamlserializer)
    return text


def _reply(kept: Interaction, hidden: Mapping[str, str]) -> dict[str, Any]:
    """Return a reply as vcrpy has it, with the allowed headers."""
    headers: dict[str, list[str]] = {}
    for name, value in kept.headers:
        if name.lower() in REPLY_HEADERS:
            headers.setdefault(name.lower(), []).append(value)
    content = kept.content
    for text, replacement in hidden.items():
        content = content.replace(text.encode(), replacement.encode())
    return {
        "status": {"code": kept.status, "message": kept.reason},
        "headers": headers,
        "body": {"string": content},
    }


def _replayer() -> vcr.VCR:
    replayer = vcr.VCR(record_mode="none", match_on=("method", _SAME_BYTES), before_record_request=_scrubbed_request)
    replayer.register_matcher(_SAME_BYTES, _has_same_bytes)
    return replayer


def _has_same_bytes(sent: Any, recorded: Any) -> bool:
    """Return True if two requests have the same bytes; vcrpy's own matcher prints how all others differ."""
    return bytes(sent.body or b"") == bytes(recorded.body or b"")


def _scrubbed_request(request: Any) -> Any:
    """Keep the allowed headers; of the URL drop the user, the query and the port of a loopback address."""
    request.headers = {name: value for name, value in request.headers.items() if name.lower() in REQUEST_HEADERS}
    parts = urlsplit(request.uri)
    host = "localhost" if parts.hostname in LOOPBACK else parts.netloc.rpartition("@")[2]
    request.uri = urlunsplit((parts.scheme, host, parts.path, "", ""))
    return request
