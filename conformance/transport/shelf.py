"""Shelves: the cassettes of a provider's models, and the manifest that states what they are evidence of.

A recording is staged beside the cassettes that it replaces. Once it is whole, a file says so, and the staged cassettes
take their places together with the entry of the manifest. If that is interrupted, the next reader completes it: a
reader sees the old recording or the new one.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from conformance import artifacts, definitions
from conformance.errors import InvalidDocument, Unusable
from conformance.resources import unpacked
from conformance.results import Evidence
from conformance.results.runs import RunClaim

STAGING: Final = ".recording"
"""The folder, beside the models of a provider, of recordings that have not replaced any cassette yet."""

_READY: Final = "ready.json"
"""The file that makes a staged recording replace the old one: the entry of the manifest, and what to remove."""

_SECONDS: Final = 30.0
"""How long to wait for another process that writes the manifest, which takes moments."""


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """The cassettes of one model: the kind of evidence, the day, the versions, and the command that records them again.

    `host` is what replied. `engine` holds the definition, template and flags of a recorded engine, and what was
    replaced in it. `thinking` (on or off) and `claims` are what the user set for the run, and what the run observed of
    the model; a replay needs both. `cases` are the entries of single cases that were recorded apart from the others.
    """

    evidence: Evidence
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)
    again: str = ""
    host: str = ""
    engine: Mapping[str, Any] | None = None
    thinking: str = ""
    claims: Mapping[str, RunClaim] = field(default_factory=dict)
    cases: "Mapping[str, ManifestEntry]" = field(default_factory=dict)

    def of(self, case: str) -> "ManifestEntry":
        """Return the entry of a case."""
        return self.cases.get(case, self)

    @property
    def alone(self) -> "ManifestEntry":
        """The entry as that of a single case: what a replay needs of all of them is not part of it."""
        return replace(self, thinking="", claims={}, cases={})

    @property
    def is_real(self) -> bool:
        """Whether any of the cassettes holds replies that are not the simulator's."""
        return any(each.evidence is not Evidence.SIMULATED for each in (self, *self.cases.values()))

    def to_json(self) -> dict[str, Any]:
        """Return the entry as it is written in the manifest."""
        shown: dict[str, Any] = {"evidence": self.evidence.value, "date": self.date, "versions": dict(self.versions)}
        shown["again"] = self.again
        if self.host:
            shown["host"] = self.host
        if self.engine is not None:
            shown["engine"] = dict(self.engine)
        if self.thinking:
            shown["thinking"] = self.thinking
        if self.claims:
            shown["claims"] = {name: asdict(claim) for name, claim in self.claims.items()}
        if self.cases:
            shown["cases"] = {name: entry.to_json() for name, entry in sorted(self.cases.items())}
        return shown

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ManifestEntry":
        """Return the entry that `to_json` wrote."""
        claims = {name: RunClaim(**claim) for name, claim in value.get("claims", {}).items()}
        cases = {name: cls.from_json(entry) for name, entry in value.get("cases", {}).items()}
        return cls(**{**value, "evidence": Evidence(value["evidence"]), "claims": claims, "cases": cases})


@dataclass(frozen=True, slots=True)
class CassetteFolder:
    """The cassettes of one provider: `<folder>/<provider>/<model>/<scenario>.<variant>.yaml` and their manifest."""

    folder: Path
    provider: str

    @property
    def home(self) -> Path:
        """The folder of the provider; an installed package holds it as an archive, which is unpacked for it."""
        return unpacked(self.folder / self.provider)

    @property
    def manifest_path(self) -> Path:
        """The path of the manifest."""
        return self.home / "manifest.yaml"

    def path(self, model: str, case: str) -> Path:
        """Return the path of the cassette of a case; see `artifacts.file_name`."""
        return self.home / artifacts.file_name(model) / f"{case}.yaml"

    def cases(self, model: str) -> tuple[str, ...]:
        """Return the names of the cases that a model has cassettes of."""
        return tuple(sorted([path.stem for path in self.path(model, "x").parent.glob("*.yaml")]))

    def manifest(self) -> dict[str, ManifestEntry]:
        """Return the entries by model, none if there is no manifest; raises InvalidDocument with the line.

        A recording that was interrupted while it replaced cassettes is completed first.
        """
        if (self.home / STAGING).is_dir():
            for ready in (self.home / STAGING).glob(f"*/{_READY}"):
                with artifacts.locked(self.home, _SECONDS):
                    self._complete(ready)
        return self._entries()

    def refuse_links(self) -> None:
        """Raise Unusable if anything in the folder is a link or a device: a recording would go elsewhere, or hang."""
        artifacts.refuse_links(self.folder, self.home)
        for path in self.home.rglob("*"):
            artifacts.refuse_links(self.folder, path)

    def write(self, path: Path, data: str | bytes | Iterable[bytes], *, private: bool) -> None:
        """Write a file of a recording; raises Unusable as `artifacts.write` does."""
        artifacts.write(path, data, private=private, root=self.folder)

    def add(self, model: str, entry: ManifestEntry) -> None:
        """Write a model's entry into the manifest; those of other models stay as they are."""
        with artifacts.locked(self.home, _SECONDS):
            self._write(self._entries() | {model: entry})

    def remove(self, model: str) -> None:
        """Remove a model's cassettes and its entry."""
        with artifacts.locked(self.home, _SECONDS):
            entries = self._entries()
            del entries[model]
            self._write(entries)
        shutil.rmtree(self.path(model, "x").parent, ignore_errors=True)

    def staging(self, model: str) -> Path:
        """Return the folder where a recording of a model waits until it is whole."""
        return self.home / STAGING / artifacts.file_name(model)

    def replace(self, model: str, entry: ManifestEntry, keep: Iterable[str]) -> None:
        """Let the staged cassettes of a model replace the old ones; of those that were not recorded, keep some.

        Old cassettes that stay keep what the manifest states of them. Raises Unusable, and changes nothing, if they
        need other claims than the new ones.
        """
        staged = [path.stem for path in self.staging(model).glob("*.yaml")]
        if not staged:
            return
        with artifacts.locked(self.home, _SECONDS):
            stay = [case for case in self.cases(model) if case in {*keep} - {*staged}]
            gone = [case for case in self.cases(model) if case not in {*stay, *staged}]
            merged = _merged(model, self._entries().get(model), entry, staged, stay)
            ready = self.staging(model) / _READY
            value = {"model": model, "entry": merged.to_json(), "remove": gone}
            self.write(ready, orjson.dumps(value), private=entry.evidence is Evidence.RECORDED)
            self._complete(ready)

    def _complete(self, ready: Path) -> None:
        """Let a whole recording take its place; each step can be repeated."""
        if not ready.is_file():  # Another process has completed it.
            return
        try:
            value = orjson.loads(ready.read_bytes())
            model, entry = value["model"], ManifestEntry.from_json(value["entry"])
        except (ValueError, KeyError, TypeError):
            raise InvalidDocument("no recording that waits; remove its folder", str(ready)) from None
        target = self.path(model, "x").parent
        for each in (target, ready.parent):
            artifacts.refuse_links(self.folder, each)
        try:
            target.mkdir(parents=True, exist_ok=True)
            for path in sorted(ready.parent.glob("*.yaml")):
                path.replace(target / path.name)
            for case in value["remove"]:
                self.path(model, case).unlink(missing_ok=True)
        except OSError as error:
            raise Unusable(f"cannot replace the cassettes in {target}: {error.strerror or error}") from None
        self._write(self._entries() | {model: entry})
        shutil.rmtree(ready.parent, ignore_errors=True)

    def _entries(self) -> dict[str, ManifestEntry]:
        if not self.manifest_path.exists():
            return {}
        models = definitions.read(self.manifest_path, "cassette-manifest").value["models"]
        return {model: ManifestEntry.from_json(value) for model, value in models.items()}

    def _write(self, entries: Mapping[str, ManifestEntry]) -> None:
        if not entries:
            self.manifest_path.unlink(missing_ok=True)
            return
        shown = {name: entry.to_json() for name, entry in sorted(entries.items())}
        text = yaml.safe_dump({"models": shown}, sort_keys=False, allow_unicode=True, width=120)
        private = any(entry.evidence is Evidence.RECORDED for entry in entries.values())
        self.write(self.manifest_path, text, private=private)


def _merged(
    model: str, old: ManifestEntry | None, new: ManifestEntry, staged: Sequence[str], stay: Sequence[str]
) -> ManifestEntry:
    """Return the entry for new cassettes beside old ones: that of most of them, with those of the others by case."""
    if old is None or not stay:
        return new
    if (old.thinking, old.claims) != (new.thinking, new.claims):
        cases = ", ".join(stay[:3]) + ("…" if len(stay) > 3 else "")
        raise Unusable(
            f"the cassettes of {model} that would stay ({cases}) were recorded with other claims, so nothing was "
            "replaced; record all cases, or choose another folder with --cassettes"
        )
    entries = dict.fromkeys(staged, new.alone) | {case: old.of(case).alone for case in stay}
    kinds = [orjson.dumps(entry.to_json()) for entry in entries.values()]
    ((most, _),) = Counter(kinds).most_common(1)
    base = next(entry for entry, kind in zip(entries.values(), kinds, strict=True) if kind == most)
    apart = {case: entry for (case, entry), kind in zip(entries.items(), kinds, strict=True) if kind != most}
    return replace(base, thinking=new.thinking, claims=new.claims, cases=apart)
