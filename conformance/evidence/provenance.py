"""What an input is evidence of: real traffic, a real server with a scripted model, or the project's own simulator."""

from functools import lru_cache
from pathlib import Path

from conformance import profiles
from conformance.errors import InvalidDocument
from conformance.files.recognition import detected_provider
from conformance.formats import Input
from conformance.results import Evidence
from conformance.transport.client import SIMULATOR
from conformance.transport.shelf import CassetteFolder, ManifestEntry


def evidence_of(given: Input) -> Evidence:
    """Return the kind of evidence of an input, by its replies' `server` header and by the manifest of its cassettes.

    Anything else is taken for a recording of a real endpoint.
    """
    if any(exchange.headers.get("server", "").startswith(SIMULATOR) for exchange in given.conversation):
        return Evidence.SIMULATED
    entry = _entry(Path(given.path))
    return Evidence.RECORDED if entry is None or entry.evidence is Evidence.LIVE else entry.evidence


def provider_of(given: Input) -> str | None:
    """Return the provider of an input: the one it names or that of its host, else that of its cassettes."""
    if profiles.has(given.provider):
        return given.provider
    path = Path(given.path)
    named = path.parent.parent.name if _entry(path) is not None else ""
    return detected_provider(given) or (named if profiles.has(named) else None)


def _entry(path: Path) -> ManifestEntry | None:
    """Return the entry of a cassette in the manifest of its provider; None if it is not a cassette."""
    entries = _manifest(path.parent.parent)
    return next((entry.of(path.stem) for folder, entry in entries if folder == path.parent.name), None)


@lru_cache(maxsize=64)
def _manifest(folder: Path) -> tuple[tuple[str, ManifestEntry], ...]:
    """Return the entries of a provider's cassettes by the name of the model's folder; none if it has no manifest."""
    cassettes = CassetteFolder(folder.parent, folder.name)
    try:
        entries = cassettes.manifest()
    except InvalidDocument:
        # A file of that name in somebody else's folder is not a manifest of cassettes.
        return ()
    return tuple([(cassettes.path(model, "any").parent.name, entry) for model, entry in entries.items()])
