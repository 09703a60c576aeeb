"""The pages that list recordings by claim, and the pages of providers that link to them."""

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.evidence import index
from conformance.evidence.index import IndexedRecording, PublicFile
from conformance.reporting.matrix.table import Inputs, Table, table
from conformance.reporting.renderers import providers, recordings
from tests.observations import inputs

LINK = "https://github.com/owner/name/blob/" + "a" * 40 + "/a%20b.yml"
DIGESTS = ("0a", "1b", "2c", "3d")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """Return a table whose recordings are in the index, all but the last one."""
    place = PublicFile("owner/name", "a" * 40, "a b.yml")
    held = {
        digest: IndexedRecording(place, number, digest, "example", date=f"2026-05-0{number + 1}")
        for number, digest in enumerate(DIGESTS[:3])
    }
    monkeypatch.setattr(index, "by_digest", lambda: held)
    given = inputs(tmp_path)
    (example,) = given.calibration.values()
    artefact = {"claim": "thinking.mode", "model": "", "value": "default-on", "artefacts": [[2, "written by hand"]]}
    calibration = {"example": {**example, "claims": [*example["claims"], artefact]}}
    return table(replace(given, calibration=calibration))


def test_each_recording_of_a_claim_is_linked_and_defined_once(made: Table) -> None:
    (page,) = recordings.publish(made).values()
    assert "## ids.format\n\n- `call_[0-9|]+`\n" in page
    assert "  - confirmed by 3 recordings: [2026-05-02 #1][1], [2026-05-01 #0][0] and 1 more\n" in page
    assert "  - contradicted by 2 recordings: [2026-05-03 #2][2], [2026-05-02 #1][1]\n" in page
    assert [f"[{number}]: {LINK}" for number in range(3)] == page.splitlines()[-3:]


def test_an_artefact_is_listed_with_its_reason(made: Table) -> None:
    (page,) = recordings.publish(made).values()
    assert "  - not counted, written by hand: 1 recording: [2026-05-03 #2][2]\n" in page
    (of_provider,) = providers.publish(made).values()
    assert "not counted: 1, written by hand" in of_provider


def test_a_page_of_a_provider_links_its_counts_to_the_list(made: Table) -> None:
    (page,) = providers.publish(made).values()
    assert "[confirmed by 3 recordings](../evidence/example.md#idsformat)" in page
    assert "[4 recordings](../evidence/example.md) of real traffic confirm 1 of them" in page


def test_a_provider_without_recordings_has_no_such_page(made: Table) -> None:
    without = Inputs(made.inputs.results, made.inputs.profiles)
    assert {} == recordings.publish(table(without))
