"""Calibration: real exchanges compared with predictions and claims, for made-up recordings and real ones."""

import contextlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import baseline, profiles, rules
from conformance.cli import main
from conformance.evidence import index
from conformance.evidence.calibration import Calibration, calibrate
from conformance.evidence.compared import ComparedExchange, Comparison, compare
from conformance.evidence.conversations import cached_inputs
from conformance.evidence.fetching import Cache, State
from conformance.formats import Input
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side
from tests.checking import BASES, jsonl, write
from tests.loops import every

REFUSAL = {"status": 400, "message": "The {field} at {index} must be passed back.", "also": ["Pass {field} back!"]}
IMAGES = {"status": 422, "body": {"detail": [{"loc": ["messages", "{index}"], "msg": "{reason}"}]}}
CLAIMS: Mapping[str, Any] = {
    "thinking.mode": "always",
    "reasoning.omitted-on-tool-turn": REFUSAL,
    "reasoning.request-field": "reasoning_content",
    "request.image-parts": IMAGES,
    "request.developer-role": "accepted",
    "request.system-position": "unknown",
    "error.unauthorized": {"status": 401, "message": "Your key {value} is wrong."},
    "ids.format": "call_[a-z]",
    "stream.done": True,
}
REQUEST = BASES["tool-result"][0]["request"]
REPLY = BASES["plain"][0]["response"]
CALLED = BASES["tool-call"][0]["response"]
STREAM = BASES["stream-plain"][0]["response"]
MESSAGE = "The reasoning_content at 1 must be passed back."
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/paris.png"}}


def asking(**changes: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **changes}


def after(role: str, content: Any = "Hi") -> dict[str, Any]:
    return asking(messages=[{"role": "user", "content": "Hi"}, {"role": role, "content": content}])


def error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "t", "param": None, "code": "c"}}


def observe(
    request: Any, response: Any, status: int | None = 200, claims: Mapping[str, Any] = CLAIMS
) -> ComparedExchange:
    exchange = Exchange(request, response, status, model="m", date="2026-01-01")
    (found,) = compare(Input("a.jsonl", 1, "exchange", (exchange,)), profiles.of(claims, "fake"))
    return found


@every(
    ("request_", "response", "status", "expected"),
    [
        (asking(), REPLY, 200, Comparison.ACCEPTED),
        (asking(), REPLY, None, Comparison.ACCEPTED),
        (REQUEST, error(MESSAGE), 400, Comparison.REJECTED),
        (REQUEST, error("Pass something back!"), 400, Comparison.REJECTED),
        (REQUEST, error(MESSAGE), 200, Comparison.OTHER_WORDS),
        (REQUEST, error(MESSAGE), 422, Comparison.OTHER_WORDS),
        (REQUEST, error("No reasoning, no answer."), 400, Comparison.OTHER_WORDS),
        (REQUEST, REPLY, 200, Comparison.FALSE_POSITIVE),
        (asking(), error("Nobody knows why."), 400, Comparison.FALSE_NEGATIVE),
        (asking(), error("Nobody knows why."), 200, Comparison.FALSE_NEGATIVE),
        (None, REPLY, 200, Comparison.INCOMPLETE),
        (asking(), None, None, Comparison.INCOMPLETE),
        (None, error("Nobody knows why."), 400, Comparison.INCOMPLETE),
    ],
)
def test_a_request_is_compared_with_its_real_answer(
    request_: Any, response: Any, status: int | None, expected: Comparison
) -> None:
    assert expected is observe(request_, response, status).comparison


def test_a_body_that_only_a_template_gives_may_hold_more_than_that() -> None:
    details = [{"loc": ["body"]}, {"loc": ["body", "messages", 0, "user"], "msg": "No.", "input": {}}]
    found = observe(asking(messages=[{"role": "user", "content": [IMAGE]}]), {"detail": details}, 422)
    assert Comparison.REJECTED is found.comparison
    assert {"request.image-parts"} == found.confirmed


def test_the_text_of_an_upstream_counts_if_a_gateway_quotes_it() -> None:
    body = {
        "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(error(MESSAGE))}}
    }
    assert Comparison.REJECTED is observe(REQUEST, body, 400).comparison


@every(
    ("status", "message", "expected"),
    [
        (401, "No.", "key"),
        (403, "No.", "key"),
        (400, "Incorrect API key provided: ab***cd.", "key"),
        (402, "No.", "quota"),
        (429, "No.", "quota"),
        (404, "No.", "model name"),
        (400, "The model `m` has been decommissioned.", "model name"),
        (400, "Unknown model: m", "model name"),
        (400, "This model's maximum context length is 8 tokens.", "context length"),
        (400, "Unsupported parameter: 'max_tokens' is not supported with this model.", "sampling parameter"),
        (400, "The prompt triggered our content management policy.", "content filter"),
        (400, "Tool choice is required, but model did not call a tool", "what the model wrote"),
        (400, "One of the image(s) could not be processed", "media"),
        (408, "upstream request timeout", "provider's own failure"),
        (503, "No.", "provider's own failure"),
    ],
)
def test_a_refusal_for_a_cause_other_than_the_wire_is_out_of_scope(status: int, message: str, expected: str) -> None:
    for request in (asking(), REQUEST):
        found = observe(request, error(message), status)
        assert (Comparison.OUT_OF_SCOPE, expected) == (found.comparison, found.cause)


def test_an_error_with_status_200_has_the_status_that_it_names() -> None:
    found = observe(asking(), {"error": {"message": "No.", "code": 502}})
    assert (Comparison.OUT_OF_SCOPE, "provider's own failure") == (found.comparison, found.cause)


def test_an_error_as_the_only_event_of_a_stream_is_a_refusal() -> None:
    event = json.dumps({"error": {"message": "tool call validation failed", "status_code": 400}})
    found = observe(asking(), f"event: error\ndata: {event}\n\n")
    assert (Comparison.OUT_OF_SCOPE, "what the model wrote") == (found.comparison, found.cause)
    assert Comparison.REJECTED is observe(REQUEST, f"data: {json.dumps(error(MESSAGE))}\n\n", 400).comparison


def test_an_error_after_a_stream_has_begun_is_no_refusal() -> None:
    chunks = "".join(f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n" for each in STREAM[:2])
    assert Comparison.ACCEPTED is observe(asking(), f"{chunks}data: {json.dumps(error('No.'))}\n\n").comparison


def test_a_claim_about_a_deviation_is_confirmed_only_by_that_deviation() -> None:
    assert {"request.developer-role"} == observe(after("developer"), REPLY).confirmed
    assert set() == observe(asking(), REPLY).confirmed
    assert set() == observe(after("developer"), error("No."), 401).confirmed


def test_a_refusal_is_confirmed_by_its_text_whatever_the_request() -> None:
    assert {"error.unauthorized"} == observe(asking(), error("Your key sk-1 is wrong."), 401).confirmed
    assert {"error.unauthorized"} == observe(None, error("Your key sk-1 is wrong."), 401).confirmed
    assert set() == observe(asking(), error("Your key sk-1 is wrong."), 403).confirmed


def test_a_false_positive_contradicts_its_claim() -> None:
    found = observe(REQUEST, REPLY)
    assert {"reasoning.omitted-on-tool-turn"} == found.contradicted
    assert ("reasoning.omitted-on-tool-turn", f"400 {MESSAGE}") == (found.claim, found.expected)


def test_an_accepted_deviation_is_counted_if_its_claim_is_unknown() -> None:
    found = observe(after("system"), REPLY)
    assert {"request.system-position"} == found.answered
    assert set() == found.confirmed


def test_a_claim_about_replies_is_confirmed_or_contradicted_by_those_that_it_applies_to() -> None:
    asked = BASES["tool-call"][0]["request"]
    assert {"ids.format"} == observe(asked, CALLED, claims={"ids.format": "call_[a-z]"}).confirmed
    assert set() == observe(asked, REPLY, claims={"ids.format": "call_[a-z]"}).confirmed
    found = observe(asked, CALLED, claims={"ids.format": r"\d+"})
    assert {"ids.format"} == found.contradicted
    assert set() == found.confirmed
    assert [("tool-calls/id-in-claimed-format", ("ids.format",))] == [
        (each.rule, each.claims) for each in found.mismatches
    ]


def test_a_claimed_departure_from_the_canonical_wire_confirms_its_claim() -> None:
    reply = {**REPLY, "choices": [{**REPLY["choices"][0], "finish_reason": ""}]}
    assert {"finish.missing"} == observe(asking(), reply, claims={"finish.missing": True}).confirmed


def test_an_unclaimed_departure_contradicts_nothing() -> None:
    found = observe(asking(), {**REPLY, "object": "reply"})
    assert [("shape/response", ())] == [(each.rule, each.claims) for each in found.mismatches]
    assert set() == found.contradicted


def test_each_exchange_is_compared_with_the_claims_of_its_own_day() -> None:
    text = (
        "title: T\nkind: host\nclaims:\n  request.developer-role:\n"
        "  - {value: {status: 400, message: No developer.}, until: 2026-01, source: {inferred: S}, confidence: low}\n"
        "  - {value: accepted, since: 2026-01, source: {inferred: S}, confidence: low}\n"
    )
    with contextlib.ExitStack() as stack:
        path = Path(stack.enter_context(_folder())) / "fake.yaml"
        path.write_text(text, "utf-8")
        profile = profiles.read(path)
    days = {"2025-12-31": Comparison.FALSE_POSITIVE, "2026-01-01": Comparison.ACCEPTED}
    for day, expected in days.items():
        exchange = Exchange(after("developer"), REPLY, 200, model="m", date=day)
        (found,) = compare(Input("a", None, "exchange", (exchange,)), profile)
        assert expected is found.comparison


def _folder() -> contextlib.AbstractContextManager[str]:
    import tempfile

    return tempfile.TemporaryDirectory()


def test_an_exchange_that_occurs_twice_counts_once_and_its_session_knows_more() -> None:
    calibration = Calibration()
    alone = ComparedExchange("fake", "fake", "d", "a:1", Comparison.FALSE_NEGATIVE, confirmed=frozenset({"x", "y"}))
    calibration.add([alone])
    calibration.add([alone._replace(comparison=Comparison.REJECTED, ref="s:1", contradicted=frozenset({"y"}))])
    assert 1 == len(calibration)
    assert () == calibration.failures()


def test_an_exception_in_a_rule_is_listed_with_its_recording() -> None:
    calibration = Calibration()
    calibration.add(
        [ComparedExchange("fake", "fake", "d", "a:1", Comparison.ACCEPTED, errored=("stream/x: KeyError: 'y'",))]
    )
    assert ["a:1: stream/x: KeyError: 'y'"] == calibration.errored


def record(provider: str, request: Any, response: Any, status: int | None = 200, **more: Any) -> dict[str, Any]:
    return {"provider": provider, "request": request, "response": response, "status": status, **more}


GOOD = record("deepseek", asking(model="deepseek-chat"), STREAM, recorded_at="2026-05-01", stream=True)
CUT = GOOD | {"response": STREAM[:-1], "model": "deepseek-chat"}
UNKNOWN_PROVIDER = record("nobody", asking(), REPLY)


def run(*arguments: object) -> tuple[int, str, str]:
    out, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaints):
        code = main(["evidence", "calibrate", *map(str, arguments)])
    return code, out.getvalue(), complaints.getvalue()


@pytest.fixture
def nothing_expected(tmp_path: Path) -> list[object]:
    return ["--expected", write(tmp_path / "none.yaml", "[]\n")]


def test_recordings_that_match_give_no_failures(tmp_path: Path, nothing_expected: list[object]) -> None:
    code, out, _ = run(write(tmp_path / "a.jsonl", jsonl(GOOD, UNKNOWN_PROVIDER)), *nothing_expected)
    assert 0 == code
    assert "without profile: nobody 1" in out
    assert "nothing unexpected" in out


def test_a_contradiction_is_printed_with_its_place_rule_and_claim(
    tmp_path: Path, nothing_expected: list[object]
) -> None:
    file = write(tmp_path / "a.jsonl", jsonl(GOOD, CUT))
    code, out, _ = run(file, "--format", "json", *nothing_expected)
    (failure,) = json.loads(out)["failures"]
    expected = (f"{file}:2", "stream/ends-with-done", ["stream.done"], "/0/response")
    assert 1 == code
    assert expected == (failure["ref"], failure["rule"], failure["claims"], failure["at"])
    code, out, _ = run(file, *nothing_expected)
    assert f"{file}:2 at /0/response: claim contradicted stream.done (by stream/ends-with-done)" in out
    assert "1 unexpected" in out


@pytest.mark.parametrize("subject", ["stream/ends-with-done", "stream.done", "**"])
def test_what_the_baseline_covers_is_printed_and_does_not_count(tmp_path: Path, subject: str) -> None:
    file, entries = write(tmp_path / "a.jsonl", jsonl(CUT)), tmp_path / "expected.yaml"
    entries.write_text(
        f"- match: recordings/deepseek/{subject}\n  reason: The fixture is cut.\n  link: https://example.org\n"
        f"  until: 2027-01-01\n{'  max: 9' if '*' in subject else ''}\n"
    )
    code, out, _ = run(file, "--expected", entries)
    assert 0 == code
    assert "The fixture is cut." in out
    (expected,) = json.loads(run(file, "--expected", entries, "--format", "json")[1])["expected"]
    entries.write_text(
        f"- match: recordings/deepseek/*/*/{expected['recording']}\n  reason: Cut.\n  link: https://example.org\n"
        "  until: 2027-01-01\n  max: 9\n"
    )
    assert 0 == run(file, "--expected", entries)[0]


def test_what_cannot_be_read_or_compared_is_unusable(tmp_path: Path, nothing_expected: list[object]) -> None:
    code, _, complaint = run(write(tmp_path / "a.jsonl", jsonl(GOOD, "{")), *nothing_expected)
    assert (2, True) == (code, "a.jsonl:2" in complaint)
    code, _, complaint = run(write(tmp_path / "b.jsonl", jsonl(UNKNOWN_PROVIDER)), *nothing_expected)
    assert (2, True) == (code, "nothing was checked" in complaint)
    code, _, complaint = run(tmp_path / "a.jsonl", "--provider", "deepsek", *nothing_expected)
    assert (2, True) == (code, "did you mean deepseek" in complaint)


def test_a_provider_can_be_given_for_recordings_without_one(tmp_path: Path, nothing_expected: list[object]) -> None:
    file = write(tmp_path / "a.jsonl", jsonl(UNKNOWN_PROVIDER, UNKNOWN_PROVIDER))
    (row,) = json.loads(run(file, "--provider", "deepseek", "--format", "json", *nothing_expected)[1])["providers"]
    assert ("deepseek", 1, {"accepted": 1}) == (row["provider"], row["recordings"], row["requests"])


def test_the_evidence_is_only_counts_and_the_same_for_any_number_of_processes(
    tmp_path: Path, nothing_expected: list[object]
) -> None:
    file = write(tmp_path / "a.jsonl", jsonl(GOOD, CUT, UNKNOWN_PROVIDER))
    written = []
    for jobs in (1, 2):
        run(file, "--write", tmp_path / f"out{jobs}", "--jobs", jobs, *nothing_expected)
        written.append({path.name: path.read_text() for path in (tmp_path / f"out{jobs}").glob("*.json")})
    assert written[0] == written[1]
    assert ["deepseek.json"] == list(written[0])
    evidence = json.loads(written[0]["deepseek.json"])
    (done,) = [each for each in evidence["claims"] if each["claim"] == "stream.done"]
    assert {"claim": "stream.done", "model": "", "value": True, "confirmed": [0], "contradicted": [1]} == done
    tested = {each["claim"] for each in evidence["claims"] if {"confirmed", "contradicted"} & each.keys()}
    assert not tested & {*evidence["unseen"], *evidence["unread"]}
    assert str(tmp_path) not in written[0]["deepseek.json"]


SOME = pytest.param(8, id="some")
ALL = pytest.param(1, id="all", marks=pytest.mark.exhaustive)


@pytest.fixture(scope="module", params=[SOME, ALL])
def real(request: pytest.FixtureRequest) -> Calibration:
    """Return what the recordings of the index show: one in so many in CI, and all in the nightly run."""
    found, missing = cached_inputs(index.load(), Cache())
    if {each.state for each in missing} - {State.UNVERIFIED}:
        pytest.skip("NOT RUN: `conformance evidence fetch` has not fetched the recordings, so none were compared")
    return calibrate((), recordings=found[:: request.param])


@pytest.mark.slow
def test_real_traffic_contradicts_nothing_that_is_not_expected(real: Calibration) -> None:
    covered = baseline.cover(real.failures(), baseline.load(recordings=True))
    found = [f"{each.names[0]}: {each.message} ({each.ref})" for each in covered.unexpected]
    assert [] == found


def _is_about_a_provider(entry: baseline.Entry) -> bool:
    """Return whether an entry names a rule about providers: `evidence check` reports whether it still occurs."""
    rule = rules.by_id().get(entry.match.split("/", 2)[2].rpartition("/")[0])
    return rule is not None and rule.on.side is Side.PROVIDER


@pytest.mark.parametrize("real", [ALL], indirect=True)
def test_every_expected_failure_of_a_recording_occurs(real: Calibration) -> None:
    unused = baseline.cover(real.failures(), baseline.load(recordings=True)).unused
    assert [] == [each.match for each in unused if not _is_about_a_provider(each)]


@pytest.mark.slow
def test_no_rule_raises_on_real_traffic_and_all_of_it_is_read(real: Calibration) -> None:
    assert ([], []) == (real.errored, real.unreadable)
    assert len(real) > 400
