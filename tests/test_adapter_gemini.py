"""Adapters on Gemini: what a loop sends back there is checked in contents, parts and signatures."""

from collections.abc import Callable
from typing import Any, TypeAlias

import orjson

from conformance.adapters.loop import DriverAnswer
from conformance.results import Level, Status
from conformance.simulator.sessions import ScenarioSession
from tests.test_adapter_wires import AGENT, PATHS, asked, opened, outcomes, post

Content: TypeAlias = dict[str, Any]
SIGNED = "gemini/signature-on-first-call"
UNCHANGED = "transcript/reply-resent-unchanged"
BAD = (Status.FAILED, Status.ERRORED, Status.UNTESTED)


def loop(session: ScenarioSession, edit: Callable[[Content], list[Content]], *, ids: bool = True) -> DriverAnswer:
    """Hold the conversation of a plain Gemini loop; `edit` returns what the history gets for a content of the model."""
    system = {"systemInstruction": {"parts": [{"text": AGENT.system}]}}
    history: list[Content] = []
    texts: list[str] = []
    for prompt in AGENT.prompts:
        history.append({"role": "user", "parts": [{"text": prompt}]})
        while True:
            status, text = post(session, PATHS["gemini"], {**asked("gemini"), **system, "contents": history})
            if status != 200:
                return DriverAnswer(tuple(texts))
            content = orjson.loads(text)["candidates"][0]["content"]
            history += edit(content)
            calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            if not calls:
                break
            history.append({"role": "user", "parts": [result(call, ids=ids) for call in calls]})
        texts.append("".join([part["text"] for part in content["parts"] if "text" in part and not part.get("thought")]))
    return DriverAnswer(tuple(texts))


def result(call: dict[str, Any], *, ids: bool) -> dict[str, Any]:
    behaviour = {
        orjson.dumps(arguments): text
        for turn, after in zip(AGENT.turns, AGENT.turns[1:], strict=False)
        for (_, arguments), text in zip(turn.calls, after.results, strict=False)
    }
    identity = {"id": call["id"]} if ids else {}
    text = behaviour[orjson.dumps(call["args"])]
    return {"functionResponse": {**identity, "name": call["name"], "response": {"result": text}}}


def edited(content: Content, change: Callable[[dict[str, Any]], dict[str, Any]]) -> list[Content]:
    return [{**content, "parts": [change(part) for part in content["parts"]]}]


def without_signature(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "thoughtSignature"}


def without_id(part: dict[str, Any]) -> dict[str, Any]:
    if "functionCall" not in part:
        return part
    return {**part, "functionCall": {key: value for key, value in part["functionCall"].items() if key != "id"}}


def test_a_conforming_loop_breaks_nothing_and_leaves_nothing_untested() -> None:
    session = opened("gemini")
    found = outcomes(session, loop(session, lambda content: [content]))
    assert [] == [(rule, each.findings) for rule, each in found.items() if each.status in BAD]
    assert found["loop/every-prompt-answered"].judged == len(AGENT.prompts)
    assert found[SIGNED].judged
    assert found["loop/result-matches-call"].judged


def test_a_signature_that_is_left_out_is_found_at_its_part() -> None:
    session = opened("gemini")
    found = outcomes(session, loop(session, lambda content: edited(content, without_signature)))
    first = found[SIGNED].findings[0]
    assert "/1/request/contents/1/parts/" in first.at
    assert "functionCall" in first.excerpt


def test_parallel_calls_in_contents_of_their_own_are_steps_without_a_signature() -> None:
    session = opened("gemini")
    found = outcomes(session, loop(session, lambda content: [{**content, "parts": [p]} for p in content["parts"]]))
    assert "expected a thoughtSignature beside this functionCall, got none" == found[SIGNED].findings[0].message


def test_calls_and_results_without_ids_only_differ() -> None:
    session = opened("gemini")
    found = outcomes(session, loop(session, lambda content: edited(content, without_id), ids=False))
    assert {UNCHANGED} == {rule for rule, each in found.items() if each.status in BAD}
    assert {Level.MAY} == {each.level for each in found[UNCHANGED].findings}
    assert found[UNCHANGED].findings[0].message.endswith(", got none")


def test_results_without_ids_are_paired_by_order() -> None:
    session = opened("gemini")
    found = outcomes(session, loop(session, lambda content: [content], ids=False))
    assert [] == [(rule, each.findings) for rule, each in found.items() if each.status in BAD]


def test_a_strict_session_refuses_in_the_words_of_the_wire() -> None:
    session = opened("gemini", strict=True)
    loop(session, lambda content: edited(content, without_signature))
    (refused,) = session.refusals
    assert (1, SIGNED) == (refused.exchange, refused.rule)
    error = session.exchanges[-1].response["error"]
    assert (400, "INVALID_ARGUMENT") == (error["code"], error["status"])
    assert error["message"].startswith("Function call is missing a thought_signature in functionCall parts.")
