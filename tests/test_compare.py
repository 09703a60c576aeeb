"""`conformance provider compare`: what the wires of one provider tell and show a model, beside each other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance import profiles
from conformance.cli import main
from conformance.simulator import Simulator
from conformance.suite.agreement import agreement
from conformance.suite.options import Options
from conformance.suite.run import Run
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving

PROVIDER = "deepseek"


def differences(answer: Any, tmp_path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield what differs between chat completions and Messages of a server."""
    with serving(answer) as url:
        runs = {
            wire: Run(Options(PROVIDER, tmp_path, "", base_url=f"{url}/v1", protocol=wire)) for wire in ("", "messages")
        }
        try:
            for case in agreement(runs):
                for each in case.differences:
                    yield each.case, each.turn, each.what
        finally:
            for run in runs.values():
                run.close()


@pytest.mark.slow
def test_wires_that_agree_differ_in_nothing_but_ids(tmp_path: Path) -> None:
    simulator = Simulator(profiles.load(PROVIDER))
    found = [*differences(simulator.answer, tmp_path)]
    # A call that the request forces ends with `stop` on chat completions alone.
    assert {"ids", "prompt tokens"} >= {what for case, _, what in found if not case.startswith("echo-")}
    assert {"ids", "prompt tokens", "finish"} >= {what for *_, what in found}


@pytest.mark.slow
def test_reasoning_that_one_wire_drops_is_named_with_its_turns(tmp_path: Path) -> None:
    simulator = Simulator(profiles.load(PROVIDER))

    def answer(request: HttpRequest) -> HttpReply:
        reply = simulator.answer(request)
        body: Any = orjson.loads(reply.body) if isinstance(reply.body, bytes) else {}
        if not request.path.endswith("/messages") or "content" not in body:
            return reply
        body["content"] = [each for each in body["content"] if each["type"] != "thinking"]
        return HttpReply(reply.status, orjson.dumps(body), {"content-type": "application/json"})

    found = list(differences(answer, tmp_path))
    assert ("reasoning-without-tools.plain", 1, "reasoning") in found
    assert ("one-tool-call.plain", 0, "reasoning-on-tool-turns") in found
    assert not [case for case, _, what in found if what == "reasoning" and case.endswith(".stream")]


@pytest.mark.slow
def test_cassettes_of_an_engine_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["provider", "compare", "--provider", "llamacpp", "--protocols", "chat,messages,responses"])
    out = capsys.readouterr().out
    assert out.startswith("llamacpp: chat, messages, responses; model scripted-qwen3-0.002b; evidence: engine\n")
    assert ["ids differs"] == [line for line in out.splitlines() if line.endswith(" differs")]
    assert "36 of 40 cases compared, 24 differ" in out


def test_a_gateway_is_compared_by_a_model_that_all_wires_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["provider", "compare", "--provider", "litellm"])
    out = capsys.readouterr().out
    title = "litellm: chat, messages, responses; model openai/scripted-qwen3-0.002b; evidence: engine"
    assert out.startswith(f"{title}\n")
    assert "messages   It is 18 degrees in Paris. My earlier reasoning was not visible to me." in out
    assert "responses  It is 18 degrees in Paris. My earlier reasoning was visible to me." in out


def test_the_differences_are_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(
        ["provider", "compare", "--provider", "llamacpp", "--protocols", "chat,messages", "--format", "json"]
    )
    value = orjson.loads(capsys.readouterr().out)
    assert ["engine"] == value["evidence"]
    assert {"chat": "scripted-qwen3-0.002b", "messages": "scripted-qwen3-0.002b"} == value["models"]
    assert "two-tool-turns.plain" in [case["case"] for case in value["cases"] if case["left_out"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--provider", "llamacpp", "--protocols", "chat"], "name at least two wires"),
        (["--provider", "mistral"], "the profile mistral has chat"),
        (["--provider", "llamacpp", "--protocols", "chat,gemini"], "has no claims about 'gemini'"),
        (["--provider", "nobody"], "nobody"),
    ],
)
def test_wires_that_cannot_be_compared_are_an_error(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["provider", "compare", *words])
    assert message in capsys.readouterr().err
