"""Schemas, profiles, manifests of cassettes and scenarios are valid, and bundled schemas are up to date.

python -m tests.checks.data
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from conformance import profiles, scenarios
from conformance.documents import read_json
from conformance.errors import ConformanceError
from conformance.profiles import UNKNOWN, Profile, Source
from conformance.resources import folder
from conformance.rules import load
from conformance.schemas import check_schema
from conformance.transport.shelf import CassetteFolder
from tests.checks import bundled

_RECORDED: Final = re.compile(r"\brecord(ed|ings?)\b", re.IGNORECASE)
_NOT_RECORDED: Final = re.compile(r"\b(no|not|nothing|none|never)\b[^;.]*\brecord", re.IGNORECASE)
"""What an inference may say of recordings: that there is none."""


def errors() -> Iterator[str]:
    for path in sorted(folder("schemas").rglob("*.json")):
        yield from (f"{path.name}: {error.message}" for error in check_schema(read_json(path)))
    yield from bundled.errors()
    for name in profiles.names():
        try:
            yield from without_a_place(profiles.load(name))
            yield from in_words(profiles.load(name))
            CassetteFolder(folder("cassettes"), name).manifest()
        except ConformanceError as error:
            yield str(error)
    known = {rule.id for rule in load()}
    for name in scenarios.names():
        try:
            scenario = scenarios.load(name)
        except ConformanceError as error:
            yield str(error)
            continue
        yield from (
            f"scenarios/{name}.yaml: unknown rule {probe.breaks!r}"
            for probe in scenario.probes
            if probe.breaks is not None and probe.breaks not in known
        )


def without_a_place(profile: Profile) -> Iterator[str]:
    """Yield the claims of high confidence that rest on words alone, which allow medium at most."""
    holders = [("", profile.claims), *((f" of {model.name}", model.claims) for model in profile.models)]
    for about, claim in ((about, claim) for about, each in holders for history in each.values() for claim in history):
        if claim.confidence == "high" and not any(source.has_place for source in claim.source):
            yield f"{profile.name}.yaml: {claim.name}{about}: expected a source with a place, or less confidence"


def in_words(profile: Profile) -> Iterator[str]:
    """Yield the claims and disagreements that rest on recordings which nobody can open, whatever their confidence."""
    for section in (profile, *profile.protocols.values()):
        holders = [("", section.claims), *((f" of {model.name}", model.claims) for model in section.models)]
        claims = [(about, claim) for about, each in holders for history in each.values() for claim in history]
        for about, claim in claims:
            place = f"{section.name}: {claim.name}{about}: expected the file of a recording"
            if claim.value != UNKNOWN and _are_words(claim.source):
                yield f"{place}, got {'; '.join([source.text for source in claim.source])}"
            yield from (f"{place} that disagrees" for other in claim.disagrees if other.source.recorded)


def _are_words(sources: Sequence[Source]) -> bool:
    if any(source.has_place for source in sources):
        return False
    return any(
        source.recorded or (_RECORDED.search(source.inferred) and not _NOT_RECORDED.search(source.inferred))
        for source in sources
    )


def main() -> int:
    found = list(errors())
    print("\n".join(found) or "data: valid")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
