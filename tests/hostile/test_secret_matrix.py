"""No secret at any place, in any encoding, is in anything that proxy, recorder and commands write or print."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.proxy.tape import Tape
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.files import write as write_results
from conformance.results.runs import Case, Results
from conformance.secrets import Scrubber, learning, scrubber
from conformance.transport.interaction import RawInteraction
from conformance.wire import sse
from tests.checking import BASES
from tests.hostile.planted import leaks
from tests.hostile.secret_matrix import URL, Planted, matrix
from tests.traffic import checked

PLANTED = tuple(matrix())
FORMATS = ("console", "json", "junit", "sarif", "github")


STEPS = (pytest.param(7, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive))
"""One of how many is planted."""


def joined(body: str) -> list[str]:
    """Return the texts of a stream, each put together from its deltas; none for any other body."""
    if not body.startswith("data:"):
        return []
    events = [json.loads(each.data) for each in sse.read(body).events if each.data != "[DONE]"]
    deltas = [choice["delta"] for each in events for choice in each["choices"]]
    return ["".join([each.get(name) or "" for each in deltas]) for name in ("content", "reasoning_content")]


def known(planted: Planted) -> Scrubber:
    copy = planted.copy
    return scrubber(
        [
            *learning.of_headers(copy.sent_headers),
            *learning.of_url(copy.url),
            *learning.of_text(copy.sent.decode()),
        ]
    )


def found_in(artefacts: dict[str, str], secret: str) -> list[str]:
    return [name for name, text in artefacts.items() if leaks(text, secret)]


@pytest.mark.parametrize("step", STEPS)
def test_no_planted_secret_is_recorded(step: int) -> None:
    found = []
    for planted in PLANTED[::step]:
        copy, secrets = planted.copy, known(planted)
        sent = secrets.text(copy.sent.decode()).encode()
        whole = RawInteraction(
            copy.url, tuple(copy.sent_headers), sent, copy.status, "OK", tuple(copy.headers), copy.received
        )
        kept = whole.without_secrets(secrets)
        written = "\n".join([kept.url, kept.sent.decode(), kept.content.decode(), *joined(kept.content.decode())])
        found += [planted.name] if leaks(written, planted.secret) else []
    assert [] == found
    assert 1700 < len(PLANTED)


@pytest.mark.parametrize("step", STEPS)
def test_no_planted_secret_is_in_what_the_proxy_writes_and_prints(step: int, tmp_path: Path) -> None:
    each_place = {planted.name.partition(", ")[0] + planted.secret: planted for planted in PLANTED}
    assert 80 < len(each_place)
    chosen = list(each_place.values())[::step]
    with Tape(tmp_path / "tapes", URL, "deepseek", "2026-11-22", print) as tape:
        given = [planted.copy for planted in chosen]
        run, lines = checked(given, "deepseek", tape=tape, results=str(tmp_path / "results"))
    artefacts = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    artefacts |= {"names": "\n".join(artefacts), "lines": run.scrubber.text("\n".join(lines))}
    assert {"names", "lines", "tapes/deepseek/manifest.yaml"} < set(artefacts)
    assert {} == {each.name: names for each in chosen if (names := found_in(artefacts, each.secret))}


def records(planted: Sequence[Planted]) -> list[dict[str, object]]:
    """Return exchanges that break a rule, and quote a secret where rules look at it."""
    made = []
    for each in planted:
        copy = each.copy
        (exchange,) = json.loads(json.dumps(BASES["plain"]))
        request = {**exchange["request"], **json.loads(copy.sent), f"x_{each.secret}": 1}
        request["messages"][0]["role"] = each.secret
        made.append({"request": request, "response": copy.received.decode(), "status": copy.status, "url": copy.url})
    return made


@pytest.mark.slow
def test_no_shape_is_in_what_check_and_others_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_secret: dict[str, Planted] = {}
    for planted in PLANTED:
        if planted.name.startswith("text, "):
            by_secret.setdefault(planted.secret, planted)
    chosen = list(by_secret.values())
    path = tmp_path / "planted.jsonl"
    path.write_text("".join([json.dumps(each) + "\n" for each in records(chosen)]))
    artefacts = {}
    for name in FORMATS:
        assert 1 == main(["check", "--provider", "none", "--format", name, str(path)])
        artefacts[f"check --format {name}"] = capsys.readouterr().out
    assert all("redacted" in text for text in artefacts.values())
    shrunk = ["shrink", str(path), "--rule", "shape/message", "-o", str(tmp_path / "smallest.jsonl")]
    assert 0 == main([*shrunk, "--max-checks", "20"])
    artefacts["shrink"] = capsys.readouterr().err + (tmp_path / "smallest.jsonl").read_text()
    assert 0 == main(["scrub", str(path), "-o", str(tmp_path / "shared.jsonl")])
    artefacts["scrub"] = capsys.readouterr().out + (tmp_path / "shared.jsonl").read_text()
    for number, each in enumerate(chosen):
        main(["explain", f"400 Bad Request: Incorrect API key provided: {each.secret} for role 'x'"])
        printed = capsys.readouterr()
        artefacts[f"explain {number}"] = printed.out + printed.err
    assert {} == {each.name: names for each in chosen if (names := found_in(artefacts, each.secret))}


def test_no_planted_secret_is_in_results_or_in_their_names(tmp_path: Path) -> None:
    each_secret = {planted.secret: planted for planted in PLANTED if planted.name.startswith("model, ")}
    for secret in each_secret:
        finding = Finding(f"/0/request/{secret}", f"expected a role, got {secret!r}", Level.MUST)
        outcome = Outcome("request/no-unknown-fields", Status.FAILED, Level.MUST, 1, (finding,))
        results = Results("deepseek", secret, (Case("traffic", "plain", Evidence.LIVE, (outcome,)),), further=True)
        write_results(tmp_path, results)
    paths = list(tmp_path.iterdir())
    assert len(each_secret) == len(paths)
    artefacts = {str(path): f"{path.name}\n{path.read_text()}" for path in paths}
    assert [] == [each for each in each_secret if found_in(artefacts, each)]
