"""Claims of a run, by the user or from the question whether the model thinks: real pytest runs with a served model."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from conformance import profiles
from conformance.errors import Unusable
from conformance.results import Evidence
from conformance.results.files import read
from conformance.results.runs import RunClaim
from conformance.simulator import Simulator, simulated
from conformance.suite.run_claims import ThinkingAnswer, ask, given_claims
from conformance.suite.turns import Subject
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.wire.exchange import Exchange
from tests.forks import run_pytest
from tests.sampling import some

pytestmark = pytest.mark.slow

MODEL = "my-finetune"
THINKS = {"thinking.mode": "default-on"}
SILENT = {"thinking.mode": "never"}
FEW = ("-k", "reasoning-without-tools.plain")
REQUESTS = 7
"""The requests of these cases."""


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VLLM_API_KEY", "CONFORMANCE_API_KEY", "CONFORMANCE_BASE_URL", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


Play = Callable[..., tuple[int, str]]


@pytest.fixture
def play(pytester: pytest.Pytester) -> Play:
    """Return a function that runs pytest against vLLM with a model that its profile does not know."""

    def play(*arguments: str) -> tuple[int, str]:
        result = run_pytest(pytester, "--provider=vllm", f"--model={MODEL}", *arguments)
        text = result.stdout.str() + result.stderr.str()
        assert "Traceback" not in text
        assert "INTERNALERROR" not in text
        return int(result.ret), " ".join(text.split())

    return play


def served(stack: ExitStack, claims: Mapping[str, Any]) -> str:
    """Serve the simulator of vLLM with some claims, and return its option."""
    return f"--base-url={stack.enter_context(simulated(profiles.load('vllm').with_claims(claims)))}/v1"


def test_a_live_run_asks_whether_an_unknown_model_thinks(play: Play, stack: ExitStack) -> None:
    code, text = play("--live", served(stack, THINKS), f"--max-requests={REQUESTS + 1}", "--results=out", *FEW)
    assert 0 == code, text
    assert f"conformance: whether {MODEL} thinks is unknown, so the run first asks it one plain question" in text
    assert f"vllm, {MODEL}: at most {REQUESTS + 1} requests" in text
    assert (
        f"Asked whether {MODEL} thinks: the reply carries reasoning in reasoning. "
        "For this run: thinking.mode: default-on (observed)." in text
    )
    assert re.search(r"DECLARED +Field that carries reasoning claimed .*thinking.mode: default-on \(observed\)", text)


def test_the_question_counts_against_the_limit(play: Play) -> None:
    endpoint = "--base-url=http://127.0.0.1:9/v1"
    code, text = play(endpoint, f"--max-requests={REQUESTS}", *FEW)
    assert pytest.ExitCode.USAGE_ERROR == code
    assert f"{REQUESTS + 1} requests are more than --max-requests {REQUESTS} allows" in text
    code, text = play(endpoint, "--plan", *FEW)
    assert 0 == code
    assert "thinking-question 1 request, to see whether the model thinks" in text


def test_a_replay_takes_the_claims_of_the_recording(play: Play, stack: ExitStack, pytester: pytest.Pytester) -> None:
    folder = "--cassettes=cassettes"
    url = stack.enter_context(simulated(profiles.load("vllm").with_claims(THINKS)))
    code, text = play("--live", f"--base-url={url}/v1", "--record", folder, "--results=one")
    assert 0 == code, text
    manifest = yaml.safe_load(Path(pytester.path, "cassettes", "vllm", "manifest.yaml").read_text("utf-8"))
    claimed = {"thinking.mode": {"value": "default-on", "by": "question"}}
    assert claimed == manifest["models"][MODEL]["claims"]
    assert "How many primes" in Path(pytester.path, "cassettes/vllm", MODEL, "thinking-question.plain.yaml").read_text()
    code, text = play(folder, "--results=two")
    assert 0 == code, text
    assert "conformance: claims of this run: thinking.mode: default-on (observed)" in text
    (one,), (two,) = (tuple(Path(pytester.path, each).glob("*.json")) for each in ("one", "two"))
    first, second = (json.loads(path.read_bytes()) for path in (one, two))
    assert claimed == first["claims"] == second["claims"]
    assert first["passed"] == second["passed"]
    played, replayed = (
        [case for case in each["cases"] if "not played" not in case["note"]] for each in (first, second)
    )
    assert played == replayed
    assert "interleaved-thinking" in [case["scenario"] for case in played]
    assert {"thinking.mode": RunClaim("default-on", "question")} == read(one).claims


def test_thinking_on_asks_nothing(play: Play, stack: ExitStack) -> None:
    code, text = play("--live", served(stack, THINKS), "--thinking=on", f"--max-requests={REQUESTS}", *FEW)
    assert 0 == code, text
    assert "conformance: claims of this run: thinking.mode: default-on (yours)" in text
    assert "Asked whether" not in text
    assert re.search(r"Field that carries reasoning claimed .*thinking.mode: default-on \(yours\)", text)


def test_thinking_on_is_not_believed_of_a_silent_model(play: Play, stack: ExitStack) -> None:
    code, text = play("--live", served(stack, SILENT), "--conformance-thinking=on", *FEW)
    assert 1 == code, text
    assert "UNTESTED Field that carries reasoning" in text


def test_thinking_off_makes_the_facts_about_reasoning_not_applicable(play: Play, stack: ExitStack) -> None:
    code, text = play("--live", served(stack, SILENT), "--thinking", "off", "-k", "one-tool-call.plain")
    assert 0 == code, text
    assert re.search(r"NOT APPLICABLE +Field that carries reasoning .*because thinking.mode: never \(yours\)", text)


def test_thinking_off_is_not_believed_of_a_model_that_reasons(play: Play, stack: ExitStack) -> None:
    _, text = play("--live", served(stack, THINKS), "--thinking=off", "-k", "one-tool-call.plain")
    assert re.search(r"UNTESTED +Field that carries reasoning", text)
    assert "because thinking.mode: never (yours), but replies carry reasoning in reasoning" in text


def test_a_model_that_shows_no_reasoning_stays_unknown_with_advice(play: Play, stack: ExitStack) -> None:
    code, text = play("--live", served(stack, SILENT), "-k", "one-tool-call.plain")
    assert 0 == code, text
    assert f"Asked whether {MODEL} thinks: the reply carries no reasoning, and the profile does not know how" in text
    assert "because thinking.mode: unknown; to test it, add --thinking on or --thinking off" in text


def test_claims_of_the_user_are_over_those_of_the_profile(
    play: Play, stack: ExitStack, pytester: pytest.Pytester
) -> None:
    moved = {**THINKS, "reasoning.response-field": "reasoning_content"}
    given = ["--claim", "reasoning.response-field=reasoning_content", "--conformance-claim=thinking.mode=default-on"]
    code, text = play("--live", served(stack, moved), *given, "--results=out", *FEW)
    assert 0 == code, text
    assert (
        "claims of this run: reasoning.response-field: reasoning_content (yours); thinking.mode: default-on (yours)"
        in text
    )
    (path,) = Path(pytester.path, "out").glob("*.json")
    assert {"reasoning.response-field": "reasoning_content", "thinking.mode": "default-on"} == {
        name: claim.value for name, claim in read(path, []).claims.items()
    }


def test_a_recording_of_the_simulator_obeys_the_claims(play: Play, pytester: pytest.Pytester) -> None:
    given = ["--thinking=on", "--claim=reasoning.response-field=[reasoning, reasoning_content]"]
    code, text = play("--record", "--cassettes=cassettes", *given, *FEW)
    assert 0 == code, text
    (entry,) = yaml.safe_load(Path(pytester.path, "cassettes/vllm/manifest.yaml").read_text("utf-8"))["models"].values()
    assert "on" == entry["thinking"]
    again = f"pytest --provider=vllm --model={MODEL} --record --thinking=on --claim '{given[1][8:]}'"
    assert again == entry["again"]
    assert "reasoning_content" in Path(pytester.path, "cassettes/vllm", MODEL, f"{FEW[1]}.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    some(
        [
            (["--claim=thinking.mode=sometimes"], '--claim thinking.mode: expected "always", "never", "default-on" or'),
            (["--claim=thinking.mod=never"], "--claim thinking.mod: unknown claim 'thinking.mod'; did you mean"),
            (["--claim=tools.parallel"], "--claim: expected NAME=VALUE, got 'tools.parallel'"),
            (
                ["--claim=results.reversed={status: 7}"],
                "--claim results.reversed: expected at least 200, got 7 at /status",
            ),
            (["--claim=ids.format=("], "--claim ids.format: expected"),
            (["--thinking=on", "--claim=thinking.mode=never"], "--thinking on and --claim thinking.mode exclude"),
            (["--thinking=auto"], "--thinking auto needs a real endpoint to ask: add --live or --base-url"),
            (["--thinking=maybe"], "invalid choice: 'maybe'"),
        ],
        4,
        mark=pytest.mark.exhaustive,
    ),
)
def test_a_wrong_claim_is_a_usage_error_that_says_what_is_allowed(play: Play, arguments: list[str], words: str) -> None:
    code, text = play(*arguments)
    assert pytest.ExitCode.USAGE_ERROR == code
    assert words in text


def test_a_server_without_an_answer_leaves_the_mode_unknown(play: Play, stack: ExitStack) -> None:
    """A 400 to the question says nothing of the model; the run goes on."""
    simulator = Simulator(profiles.load("vllm").with_claims(THINKS))

    def answer(request: HttpRequest) -> HttpReply:
        is_question = b"How many primes" in request.body
        return HttpReply(400, b'{"error":{"message":"no"}}') if is_question else simulator.answer(request)

    endpoint = f"--base-url={stack.enter_context(serving(answer))}/v1"
    code, text = play("--live", endpoint, "-k", "one-tool-call.plain")
    assert 0 == code, text
    assert "thinks: there was no usable reply: ended at turn 1: HTTP 400" in text
    assert "thinking.mode stays unknown; to set it, add --thinking on or --thinking off." in text


def test_the_users_mode_keeps_what_the_profile_says_of_always() -> None:
    assert {"thinking.mode": RunClaim("always", "user")} == given_claims({"thinking.mode": "always"}, "on", ())
    with pytest.raises(Unusable, match="expected NAME=VALUE"):
        given_claims({}, "", ["x"])


@pytest.mark.parametrize(
    ("message", "usage", "claims", "expected"),
    [
        ({"reasoning": "I see."}, {}, {}, {"thinking.mode": "default-on", "reasoning.response-field": "reasoning"}),
        (
            {"content": "<think>\nI see.\n</think>\n\n4"},
            {},
            {},
            {"thinking.mode": "default-on", "reasoning.response-field": "think-tags"},
        ),
        (
            {"reasoning": "I see.", "reasoning_content": "I see."},
            {},
            {},
            {"thinking.mode": "default-on", "reasoning.response-field": ["reasoning_content", "reasoning"]},
        ),
        ({"reasoning": "I see."}, {}, {"reasoning.response-field": "reasoning"}, {"thinking.mode": "default-on"}),
        ({"thinking_text": "I see."}, {}, {}, {"thinking.mode": "default-on"}),
        (
            {},
            {"completion_tokens_details": {"reasoning_tokens": 9}},
            {},
            {"thinking.mode": "default-on", "reasoning.response-field": "none"},
        ),
        ({}, {}, {"thinking.on": {"think": True}}, {"thinking.mode": "default-off"}),
        ({}, {}, {}, {}),
    ],
)
def test_the_reply_to_the_question_gives_the_claims(
    message: dict[str, Any], usage: dict[str, Any], claims: dict[str, Any], expected: dict[str, Any]
) -> None:
    unknown = {"thinking.mode": "unknown", "reasoning.response-field": "unknown"}

    def send(body: Mapping[str, Any]) -> Exchange:
        said = {"role": "assistant", "content": "4", **message}
        reply = {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}], "usage": usage}
        return Exchange.of_plain(request=body, response=orjson.loads(orjson.dumps(reply)), status=200, model="m")

    answer = ask(Subject(profiles.of({**unknown, **claims}, "p"), "m", send, Evidence.LIVE))
    assert ThinkingAnswer(expected, answer.note) == answer
    assert answer.note
