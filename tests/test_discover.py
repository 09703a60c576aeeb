"""`conformance provider discover`: it finds what is claimed of an endpoint, or the difference is explained."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import load_profile, profiles
from conformance.cli import main
from conformance.discovery.discovering import Discovery, discover
from conformance.discovery.exploring import all_cases
from conformance.discovery.interview import Interview
from conformance.discovery.recording import read_exchanges, write_exchanges
from conformance.discovery.shipped import nearest
from conformance.discovery.writing import profile_text, quoted
from conformance.documents import parse_yaml
from conformance.errors import Unusable
from conformance.observations.collected import values
from conformance.observations.comparing import Relation, relation
from conformance.observations.id_patterns import pattern
from conformance.observations.sights import digest
from conformance.results import Evidence
from conformance.simulator import Simulator, simulated
from conformance.suite.play import play
from conformance.suite.rehearsal import failures
from conformance.suite.turns import Subject
from conformance.transport.client import Client, Endpoint, Inconclusive, UnusableReply
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.wire.exchange import Exchange
from tests.loops import every

LIMIT = 600
DAY = "2026-11-22"

NAME = "the simulator gives the name that was requested"
ALWAYS = "that no known switch turned thinking off does not show that none can"
NEEDS_NOTHING = "the model thinks without being asked to, so nothing needs to be sent"
FIRST = "several switches do it; the one that most providers know is tried first"
ONE_SWITCH = "the search ends with the first switch that has an effect"
OTHER_RULE = "the simulator rejects it by the rule that the request breaks first"

DIFFERENT: Mapping[str, Mapping[str, str]] = {
    "anthropic_openai_compat": {
        "stream.after-finish": "the suite asks for usage, which the claim is not about",
        "thinking.switches": ONE_SWITCH,
        "usage.fields": "the simulator counts reasoning tokens while the model thinks",
    },
    "deepseek": {"reply.model": NAME, "results.without-id": OTHER_RULE, "thinking.on": NEEDS_NOTHING},
    "gemini_openai_compat": {"stream.usage": "in a stream of two chunks, the last one looks like every one"},
    "groq": {
        "error.code-type": "the simulator writes null where no claim gives the code of an error",
        "thinking.mode": ALWAYS,
    },
    "llamacpp": {
        "request.unknown-model": "the simulator serves no model of one name, so that clients can test for it",
        "stream.call-shape": "the arguments are so short that the simulator sends them in one piece",
        "thinking.off": FIRST,
        "thinking.on": NEEDS_NOTHING,
    },
    "mistral": {
        "content.in-tool-stream": "the claim is not about a reply whose call a tool choice demanded",
        "results.unknown-id": OTHER_RULE,
        "results.without-id": OTHER_RULE,
        "thinking.switches": ONE_SWITCH,
    },
    "mlx_lm": {"thinking.on": NEEDS_NOTHING},
    "moonshot": {"thinking.mode": ALWAYS},
    "openai": {
        "reply.model": NAME,
        "request.max-tokens-fields": "the simulator takes the other parameter, too",
        "results.without-id": OTHER_RULE,
        "thinking.on": FIRST,
        "thinking.switches": ONE_SWITCH,
    },
    "openrouter": {"reply.model": NAME, "thinking.off": FIRST, "thinking.on": NEEDS_NOTHING},
    "sglang": {
        "request.unknown-model": "the simulator serves no model of one name, so that clients can test for it",
        "thinking.on": NEEDS_NOTHING,
    },
    "vllm": {"thinking.off": FIRST, "thinking.on": NEEDS_NOTHING},
    "xai": {"reply.model": NAME, "thinking.mode": ALWAYS},
    "zai": {
        "thinking.mode": ALWAYS,
        "tools.choices": "the simulator rejects no tool choice without a claim that says so",
    },
}
"""By provider, the claims that are discovered of its simulator and differ from its profile, with the reason.

All others are equal, fit as far as answers can show it, or are not claimed by the profile.
"""


def marked() -> Iterator[Any]:
    """One is tried by CI, the others by the nightly run, since each takes some seconds."""
    for name in DIFFERENT:
        yield pytest.param(name, marks=pytest.mark.slow if name == "deepseek" else pytest.mark.exhaustive)


def different(found: Discovery, provider: str) -> list[str]:
    profile = load_profile(provider)
    claimed = profile.at(profile.model)
    relations = {name: relation(name, each.value, claimed.get(name)) for name, each in found.claims.items()}
    return sorted(name for name, each in relations.items() if each is Relation.DIFFERENT)


@pytest.mark.parametrize("name", list(marked()))
def test_what_is_found_of_a_simulated_provider_is_what_is_claimed_of_it(name: str, tmp_path: Path) -> None:
    model = load_profile(name).model
    with simulated(load_profile(name)) as url, Client(Endpoint(f"{url}/v1")) as client:
        session = Interview(client.send, LIMIT)
        found = discover(session, model)
        assert sorted(DIFFERENT[name]) == different(found, name)
        assert name == nearest(values(found.claims)).provider
        assert ([], {}) == (found.broken, found.skipped)
        path = tmp_path / "mine.yaml"
        path.write_text(profile_text("Mine", f"{url}/v1", "", [found], DAY), "utf-8")
        subject = Subject(load_profile(path), model, client.send, Evidence.LIVE)
        cases = [play(scenario, variant, subject) for scenario, variant in all_cases()]
    assert [] == [line for case in cases if case.outcomes for line in failures(case)]
    assert {digest(each) for each in session.exchanges} >= {each.digest for each in found.claims.values()}


def test_every_explained_difference_has_a_reason_and_ten_providers_are_tried() -> None:
    assert len(DIFFERENT) >= 10
    assert all(reason for reasons in DIFFERENT.values() for reason in reasons.values())


@pytest.fixture(scope="module")
def found() -> tuple[Interview, Discovery]:
    """A discovery of one simulated provider, in process."""
    profile = load_profile("gemini_openai_compat")
    session = Interview(Simulator(profile).send, LIMIT)
    return session, discover(session, profile.model)


@pytest.mark.slow
def test_the_claims_of_a_hidden_reasoner_stay_unknown(found: tuple[Interview, Discovery]) -> None:
    _, discovery = found
    assert "thinking.mode" in discovery.open
    assert "none" == discovery.claims["reasoning.response-field"].value


@pytest.mark.slow
def test_a_discovered_profile_says_where_each_claim_is_from(found: tuple[Interview, Discovery], tmp_path: Path) -> None:
    session, discovery = found
    path = tmp_path / "mine.yaml"
    path.write_text(profile_text("It: mine", "http://127.0.0.1:9/v1", "MY_KEY", [discovery], DAY), "utf-8")
    profile = load_profile(path)
    assert ("It: mine", "MY_KEY", DAY) == (profile.title, profile.key, profile.as_of)
    digests = {digest(each) for each in session.exchanges}
    for name, (claim,) in profile.claims.items():
        (source,) = claim.source
        assert (name, True) == (name, source.exchange in digests if source.exchange else claim.value == "unknown")


@pytest.mark.slow
def test_a_further_model_gets_only_what_differs(found: tuple[Interview, Discovery], tmp_path: Path) -> None:
    _, discovery = found
    claims = dict(discovery.claims)
    claims["stream.done"] = claims["stream.done"]._replace(value=False)
    path = tmp_path / "mine.yaml"
    other = Discovery("other", claims, dict(discovery.open))
    path.write_text(profile_text("Mine", "http://127.0.0.1:9/v1", "", [discovery, other], DAY), "utf-8")
    (model,) = load_profile(path).models
    assert ("other", ["stream.done"]) == (model.name, list(model.claims))


@pytest.mark.exhaustive
def test_the_exchanges_of_a_discovery_answer_again(tmp_path: Path) -> None:
    session = Interview(Simulator(load_profile("openai")).send, LIMIT)
    discovery = discover(session, "gpt-5.4-mini")
    path = tmp_path / "mine.exchanges.jsonl"
    write_exchanges(path, session.exchanges, DAY)
    recorded = read_exchanges(path)
    assert DAY == recorded.day
    assert values(discovery.claims) == values(discover(Interview(recorded.send, LIMIT), discovery.model).claims)
    with pytest.raises(Inconclusive):
        recorded.send({"model": "another"})


PATTERNS = [
    (["call_" + 24 * "a", "call_" + 24 * "B", "call_" + 24 * "7"], "call_x1Y2x1Y2x1Y2x1Y2x1Y2x1Y2", "call_"),
    (["call_0", "call_1"], "call_17", "call_x"),
    (["0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"], "ffffffff-aaaa-bbbb-cccc-dddddddddddd", "x"),
    (["abcDEF123"], "zzzYYY999", "abc"),
    (["a-_b", "ab"], "a--b", ""),
    (["chatcmpl-Zx9" + 20 * "q"], "chatcmpl-" + 23 * "A", "cmpl-" + 23 * "A"),
]


@pytest.mark.parametrize(("seen", "other", "foreign"), PATTERNS)
def test_a_pattern_matches_the_ids_that_were_seen_and_others_of_their_form(
    seen: list[str], other: str, foreign: str
) -> None:
    import re

    expression = re.compile(pattern((each, "") for each in seen))
    assert [True] * (len(seen) + 1) == [expression.fullmatch(each) is not None for each in (*seen, other)]
    assert expression.fullmatch(foreign) is None


def test_an_id_with_the_name_of_its_function_fits_any_function() -> None:
    import re

    expression = pattern([("functions.get_weather:0", "get_weather"), ("functions.get_time:1", "get_time")])
    assert re.fullmatch(expression, "functions.list_cities:12")


@every("value", ["plain", "true", "1e5", "a: b", "- x", "\x85\u2028\ufeff", "\ud83d", "😀", None, [1, {}]])
def test_a_value_is_written_as_yaml_that_reads_as_the_same(value: Any) -> None:
    expected = "\ufffd" if value == "\ud83d" else value
    assert {"a": expected} == parse_yaml(f"a: {quoted(value)}\n".encode()).value


Answer = Callable[[HttpRequest], HttpReply]
JSON = {"content-type": "application/json"}
ODD = {"id": 7, "object": [], "choices": [{"message": {"content": {}, "tool_calls": [{"id": {}}]}, "index": "x"}]}


def hello(content: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": content, "finish_reason": "stop"}]}).encode()


BROKEN: list[tuple[str, Answer, str]] = [
    ("no API", lambda _: HttpReply(200, b"<html>hi</html>", {"content-type": "text/html"}), "HTML page"),
    ("no path", lambda _: HttpReply(404, b"{}", JSON), "/chat/completions"),
    ("no key", lambda _: HttpReply(401, b"{}", JSON), "--key-env"),
    ("other JSON", lambda _: HttpReply(200, b'{"ok": true}', JSON), "is not a reply of the wire chat"),
    ("no JSON", lambda _: HttpReply(200, b"\xff\xfe\x00", JSON), "is not a reply of the wire chat"),
    ("down", lambda _: HttpReply(500, b"{}", JSON), "HTTP 500"),
    ("all rejected", lambda _: HttpReply(400, b'{"error": {"message": "no"}}', JSON), "rejects a plain question"),
]


@pytest.mark.parametrize(("answer", "message"), [each[1:] for each in BROKEN], ids=[each[0] for each in BROKEN])
def test_an_endpoint_that_gives_no_completions_is_an_error_that_says_why(
    answer: Answer, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine.yaml"
    with serving(answer) as url:
        code = main(["provider", "discover", f"{url}/v1", "--model", "m", "--yes", "--out", str(out)])
    assert (2, True, False) == (code, message in capsys.readouterr().err, out.exists())


def test_an_endpoint_that_says_the_same_to_everything_is_described(tmp_path: Path) -> None:
    def answer(_: HttpRequest) -> HttpReply:
        return HttpReply(200, hello({"role": "assistant", "content": "\x1b[31mhi"}), JSON)

    out = tmp_path / "mine.yaml"
    with serving(answer) as url:
        code = main(["provider", "discover", f"{url}/v1", "--model", "m", "--yes", "--out", str(out)])
    assert code in (0, 1)
    claims = load_profile(out).at("m")
    assert ("unknown", "accepted") == (claims["tools.supported"], claims["request.unknown-top-field"])


def test_a_further_model_that_fails_costs_only_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(request: HttpRequest) -> HttpReply:
        if json.loads(request.body)["model"] == "bad":
            return HttpReply(400, b'{"error": {"message": "no such model"}}', JSON)
        return HttpReply(200, hello({"role": "assistant", "content": "hi"}), JSON)

    out = tmp_path / "mine.yaml"
    with serving(answer) as url:
        code = main(
            [
                "provider",
                "discover",
                f"{url}/v1",
                "--model",
                "m",
                "--model",
                "bad",
                "--yes",
                "--out",
                str(out),
            ]
        )
    assert (2, True) == (code, "bad: the endpoint rejects a plain question" in capsys.readouterr().err)
    assert "m" == load_profile(out).model


def test_odd_replies_do_not_break_a_discovery() -> None:
    def ask(body: Mapping[str, Any]) -> Exchange:
        return Exchange.of_plain(request=dict(body), response=ODD, status=200, model="m")

    assert any("shape/choice" in line for line in discover(Interview(ask, LIMIT), "m").broken)


@pytest.mark.slow
def test_an_endpoint_that_streams_unasked_is_asked_not_to() -> None:
    found = discover(
        Interview(Simulator(load_profile("openai").with_claims({"stream.default": True})).send, LIMIT), "m"
    )
    assert ([], True) == (found.broken, found.claims["stream.default"].value)


@pytest.mark.slow
def test_a_rejection_with_404_is_one_like_any_other() -> None:
    simulator = Simulator(load_profile("openai"))

    def ask(body: Mapping[str, Any]) -> Exchange:
        exchange = simulator.send(body)
        if exchange.status != 400:
            return exchange
        raise UnusableReply("HTTP 404", Exchange.of_plain(dict(body), exchange.response, 404, model="m"))

    found = discover(Interview(ask, LIMIT), "gpt-5.4-mini")
    assert ([], 404) == (found.broken, found.claims["results.missing-at-end"].value["status"])


def test_nothing_more_is_sent_at_the_limit() -> None:
    session = Interview(Simulator(load_profile("openai")).send, 5)
    with pytest.raises(Unusable, match="limit of 5 requests"):
        discover(session, "gpt-5.4-mini")
    assert 5 == session.sent


def test_an_endpoint_that_stops_answering_ends_a_discovery() -> None:
    simulator, sent = Simulator(load_profile("openai")), []

    def ask(body: Mapping[str, Any]) -> Exchange:
        sent.append(body)
        if len(sent) > 3:
            message = "gave no HTTP reply"
            raise Inconclusive(message)
        return simulator.send(body)

    with pytest.raises(Unusable, match="no usable answer 8 times in a row"):
        discover(Interview(ask, LIMIT), "gpt-5.4-mini")


def test_nothing_is_sent_without_consent_and_the_plan_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code = main(["provider", "discover", "http://127.0.0.1:9/v1", "--model", "m"])
    err = capsys.readouterr().err
    assert (2, True, True) == (code, "plan: every scenario and probe" in err, "--yes" in err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("ftp://x",), "expected a URL"),
        (("http://127.0.0.1:9/v1", "--key-env", "NO_SUCH_VARIABLE_HERE"), "not set"),
        (("http://127.0.0.1:9/v1", "--key-env", "my_key"), "capital letters"),
        (("http://127.0.0.1:9/v1", "--out", "deepseek.yaml"), "shipped profile"),
        (("http://127.0.0.1:9/v1", "--out", "mine.json"), "ends in .yaml"),
        (("http://127.0.0.1:9/v1",), "nothing listens on that port"),
        (("http://127.0.0.1:9/v1", "--model", "m", "--yes"), "cannot connect"),
    ],
)
def test_a_call_that_cannot_work_is_refused(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (2, True) == (main(["provider", "discover", *options]), message in capsys.readouterr().err)


def test_the_key_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "sekret-0123456789abcdef")
    seen: list[str] = []

    def answer(request: HttpRequest) -> HttpReply:
        seen.append(request.headers.get("authorization", ""))
        return HttpReply(200, hello({"role": "assistant", "content": f"you sent {seen[-1]}"}), JSON)

    out = tmp_path / "mine.yaml"
    with serving(answer) as url:
        main(
            [
                "provider",
                "discover",
                f"{url}/v1",
                "--model",
                "m",
                "--yes",
                "--key-env",
                "MY_SECRET",
                "--out",
                str(out),
            ]
        )
    assert "Bearer sekret-0123456789abcdef" in seen
    written = [each.read_text("utf-8") for each in tmp_path.iterdir() if each.is_file()]
    assert (2, False) == (len(written), any("sekret" in text for text in written))
    assert "key: MY_SECRET\n" in out.read_text("utf-8").replace('"', "")


def test_the_nearest_of_the_claims_of_a_profile_is_the_profile() -> None:
    profile = profiles.load("sambanova")
    known = {name: value for name, value in profile.at(profile.model).items() if value != "unknown"}
    assert "sambanova" == nearest(known).provider
