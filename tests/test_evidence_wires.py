"""Public recordings of other wires: indexed, checked and compared with what a profile claims of their wire alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance import baseline, load_profile, profiles
from conformance.baseline import Entry
from conformance.cli import main
from conformance.errors import Unusable
from conformance.evidence import index
from conformance.evidence.compared import Comparison, observe
from conformance.evidence.contribution import Contribution, contribute
from conformance.evidence.fetching import Cache
from conformance.evidence.index import REDACTED, IndexedRecording, PublicFile
from conformance.evidence.recorded_run import RecordedRun
from conformance.formats import read
from conformance.observations.sights import digest
from conformance.resources import folder
from conformance.results import Level, Status
from tests.loops import every

WIRE = folder("fixtures") / "wire"
GIVEN = Contribution(f"owner/name@{'0' * 40}", "MIT", date="2026-11-01")
PLACE = PublicFile("owner/name", "0" * 40, "tests/cassette.jsonl")
CHAT: dict[str, Any] = json.loads((WIRE / "plain-session.json").read_text())[0] | {
    "url": "https://api.openai.com/v1/chat/completions"
}


class Files:
    """One file of a repository."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def get(self, _place: PublicFile) -> bytes:
        """Return the file, whatever its place."""
        return self.data


def native(wire: str, host: str) -> list[dict[str, Any]]:
    """Return the exchanges of a fixture of a wire, as if they came from a host."""
    held = json.loads((WIRE / f"{wire}-session.json").read_text())
    return [each | {"url": f"https://{host}/v1/{wire}"} for each in held]


def lines(exchanges: Sequence[dict[str, Any]]) -> bytes:
    return b"".join([json.dumps(each).encode() + b"\n" for each in exchanges])


def indexed(exchanges: Sequence[dict[str, Any]]) -> list[IndexedRecording]:
    return contribute(GIVEN, [PLACE.path], Files(lines(exchanges)))


def test_an_entry_names_the_wire_of_its_exchange() -> None:
    held = [*native("messages", "api.anthropic.com"), *native("responses", "api.openai.com"), CHAT]
    providers = [each.provider for each in indexed(held)]
    assert ["anthropic.messages"] * 3 == providers[:3]
    assert {"openai.responses"} == set(providers[3:-1])
    assert "openai" == providers[-1]


def test_an_entry_has_the_model_that_stands_in_the_url() -> None:
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:generateContent"
    held = [each | {"url": url} for each in json.loads((WIRE / "gemini-session.json").read_text())]
    assert {("gemini.gemini", "gemini-3-flash")} == {(each.provider, each.model) for each in indexed(held)}


def test_a_wire_that_the_provider_has_no_claims_about_is_refused() -> None:
    with pytest.raises(Unusable, match=r"interaction 0 is on a wire that no profile has claims about: groq\.messages"):
        indexed(native("messages", "api.groq.com"))


def test_exchanges_are_compared_with_the_claims_of_their_own_wire() -> None:
    held = [CHAT, *native("responses", "api.openai.com")]
    (given,) = [each._replace(provider="openai") for each in read(json.dumps(held).encode(), "mixed.json")]
    found = observe(given)
    assert ["openai", *["openai.responses"] * (len(held) - 1)] == [each.provider for each in found]
    assert [each.provider for each in found] == [each.profile for each in found]
    assert {digest(each) for each in given.conversation} == {each.digest for each in found}
    assert "reasoning.details.types" in frozenset().union(*[each.confirmed for each in found[1:]])
    assert "reasoning.details.types" not in found[0].confirmed


def test_exchanges_of_a_wire_without_claims_are_counted_and_not_compared() -> None:
    (given,) = read(json.dumps(native("messages", "api.groq.com")).encode(), "groq.json")
    assert {("groq.messages", "", Comparison.INCOMPLETE)} == {
        (each.provider, each.profile, each.comparison) for each in observe(given)
    }


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[IndexedRecording]:
    """Put a session of Messages and an exchange of chat completions into index and cache.

    The ids of the calls are not Anthropic's, which is a SHOULD, and the second reply has a broken block.
    """
    held = native("messages", "api.anthropic.com")
    held[1]["response"]["content"].append({"type": "tool_use", "name": "get_weather", "input": {}})
    found = indexed([*held, CHAT])
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    Cache().write(PLACE, lines([*held, CHAT]))
    monkeypatch.setattr(index, "load", lambda: tuple(found))
    return found


def test_recordings_are_checked_on_their_wire_and_never_beside_those_of_another(stored: list[IndexedRecording]) -> None:
    run = RecordedRun(load_profile("anthropic").on("messages"))
    assert [each.digest for each in stored[:3]] == [each.recording.digest for each in run.played]
    failed = [{each.rule for each in played.outcomes if each.status is Status.FAILED} for played in run.played]
    assert "native/reply-shape" in failed[1]
    assert "native/reply-shape" not in failed[0] | failed[2]
    assert {"native/reply-shape", "response/finish-reason-matches-tool-calls"} <= {
        each.rule for each in run.played[0].outcomes
    }
    assert "anthropic.messages" == run.results().subject
    assert {stored[1].digest} == {played.recording.digest for played, _ in run.unexpected(Level.MUST)}


@pytest.mark.parametrize("asked", ["anthropic", "anthropic.messages", ""])
def test_the_results_of_each_wire_have_a_file_of_their_own(
    asked: str, stored: list[IndexedRecording], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--provider", asked] if asked else []
    assert 1 == main(["evidence", "check", *named, "--write", str(tmp_path / "results")])
    chat = [] if asked else ["openai.json"]
    assert ["anthropic.messages.json", *chat] == sorted(each.name for each in (tmp_path / "results").iterdir())
    assert "anthropic.messages: 3 recordings, 1 break a MUST" in capsys.readouterr().out
    assert 4 == len(stored)


def test_a_redacted_recording_is_excused_from_rules_about_ids_alone(
    stored: list[IndexedRecording], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "load", lambda: tuple([each._replace(fixture=REDACTED) for each in stored]))
    run = RecordedRun(load_profile("anthropic").on("messages"))
    assert {stored[1].digest} == {played.recording.digest for played, _ in run.unexpected(Level.MUST)}
    assert "" == run.expected(run.played[1], "native/reply-shape")
    assert REDACTED == run.expected(run.played[1], "tool-calls/id-in-claimed-format")


@every(
    ("subject", "most", "expected"),
    [
        ("anthropic.messages/native/reply-shape/{digest}", None, ""),
        ("anthropic.messages/native/reply-shape/*", 1, ""),
        ("openai/native/reply-shape", None, ""),
        ("anthropic.messages/requests/refusal-missed", None, ""),
        ("anthropic.messages/usage/adds-up", None, "{match}, which no recording shows"),
        ("anthropic.messages/native/reply-shape/*", 0, "{match} 0 times, got 1"),
    ],
)
def test_an_entry_of_the_baseline_covers_as_many_recordings_as_it_says(
    subject: str, most: int | None, expected: str, stored: list[IndexedRecording], monkeypatch: pytest.MonkeyPatch
) -> None:
    match = f"recordings/{subject.format(digest=stored[1].digest)}"
    entry = Entry(match, "Cut.", "https://example.org", max=most)
    monkeypatch.setattr(baseline, "load", lambda **_: (entry,))
    found = RecordedRun(load_profile("anthropic").on("messages")).stale()
    assert [expected.format(match=match)] * bool(expected) == list(found)


@pytest.mark.parametrize(
    "one_in", [pytest.param(8, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)]
)
def test_each_entry_about_a_rule_covers_a_recording_of_the_index(one_in: int) -> None:
    found = []
    for provider in sorted(filter(profiles.has, {each.provider for each in index.load()}))[::one_in]:
        try:
            run = RecordedRun(provider)
        except Unusable:
            pytest.skip("NOT RUN: `conformance evidence fetch` has not fetched the recordings")
        broken = [f"{played.name}: {outcome.rule}" for played, outcome in run.unexpected(Level.MUST)]
        found += [*run.stale(), *broken]
    assert [] == found
