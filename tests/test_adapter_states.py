"""What clients of Responses leave to the server: stored items, and replies that they continue."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance import scenarios
from conformance.adapters import definition
from conformance.adapters.case import check_session, client_session
from conformance.adapters.job import job_of
from conformance.adapters.loop import DriverAnswer
from conformance.cli import main
from conformance.errors import InvalidDocument
from conformance.results import Level, Status
from conformance.simulator.sessions import ScenarioSession
from conformance.wires import NAMES
from tests.loops import every
from tests.test_adapter_definitions import folder
from tests.test_adapter_wires import PATHS, asked, opened, post

STATES = ("items-not-stored", "items-stored", "response-continued")


def referring(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "item_reference", "id": item["id"]}


def whole(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in item.items() if key != "status"}


def without_id(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in whole(item).items() if key != "id"}


FORMS = {"references": referring, "whole": whole, "twice": whole, "twice without ids": without_id}


def reply_of(session: ScenarioSession, body: Mapping[str, Any]) -> dict[str, Any]:
    status, text = post(session, PATHS["responses"], body)
    assert 200 == status, text
    if not body["stream"]:
        return dict(orjson.loads(text))
    last = [line for line in text.splitlines() if line.startswith("data: ") and '"response.completed"' in line][-1]
    return dict(orjson.loads(last.removeprefix("data: "))["response"])


def converse(session: ScenarioSession, how: str) -> DriverAnswer:
    """Hold the conversation of a loop that sends items by id, whole, or not at all; `twice`: also what is held."""
    job, texts = job_of(session), []
    results = {orjson.dumps(each["arguments"]): each["text"] for each in job["tools"][0]["results"]}
    fixed = {**asked("responses", streams=job["stream"]), "store": True, "instructions": job["system"]}
    fixed.pop("include", None)
    history: list[Any] = []
    for prompt in job["prompts"]:
        history.append({"role": "user", "content": prompt})
        for _ in range(job["max_turns"]):
            reply = reply_of(session, {**fixed, "input": history})
            if how.startswith(("response", "twice")):
                fixed["previous_response_id"] = reply["id"]
            if how == "response":
                history = []
            else:
                history += [FORMS[how](each) for each in reply["output"]]
            calls = [each for each in reply["output"] if each["type"] == "function_call"]
            for call in calls:
                text = results[orjson.dumps(orjson.loads(call["arguments"]))]
                history.append({"type": "function_call_output", "call_id": call["call_id"], "output": text})
            if not calls:
                break
        texts.append("".join([part["text"] for part in reply["output"][-1]["content"]]))
    return DriverAnswer(tuple(texts))


def broken(name: str, how: str, variant: str) -> dict[str, Level]:
    """Return the rules that a loop breaks or leaves untested, with their severity."""
    session = opened("responses", name, variant)
    answer = converse(session, how)
    checked = check_session(client_session(session, job_of(session), answer), session.profile)
    found = [each for each in checked if each.status in (Status.FAILED, Status.UNTESTED)]
    return {
        each.rule: max(
            [finding.level for finding in each.findings], key=lambda level: level.severity, default=each.level
        )
        for each in found
    }


def test_only_clients_that_take_a_state_are_driven_through_one() -> None:
    for wire in NAMES:
        without = {each.name for each in scenarios.played_by_clients(wire)}
        added = {each.name for each in scenarios.played_by_clients(wire, states=scenarios.STATES)} - without
        assert (set(STATES) if wire == "responses" else set()) == added
    assert ("response-continued",) == tuple(
        [each.name for each in scenarios.played_by_clients("responses", ("*-*",), states=("response",)) if each.state]
    )
    taking = {name: set(definition.load(name).states) for name in definition.names() if definition.load(name).states}
    assert {"items"} == taking["aisdk-openai"]
    assert {"items", "response"} == taking["openai-sdk-responses"]
    assert {"responses"} == {definition.load(name).protocol for name in taking}


@every(
    ("name", "how", "expected"),
    [
        ("items-stored", "references", {}),
        ("items-stored", "whole", {}),
        ("items-not-stored", "whole", {}),
        ("items-not-stored", "references", {"responses/items-at-the-server": Level.MUST}),
        ("response-continued", "response", {}),
        ("response-continued", "twice", {"responses/history-sent-once": Level.MUST}),
        ("response-continued", "twice without ids", {"responses/history-sent-once": Level.SHOULD}),
    ],
)
@pytest.mark.parametrize("variant", ["plain", "stream"])
def test_what_a_client_may_refer_to(name: str, how: str, expected: dict[str, Level], variant: str) -> None:
    assert expected == broken(name, how, variant)


def test_a_server_without_a_store_says_so_in_its_replies() -> None:
    for name, expected in (("items-not-stored", False), ("items-stored", True)):
        session = opened("responses", name)
        reply = reply_of(session, {**asked("responses"), "store": True})
        assert expected is reply["store"]
        assert "items" == job_of(session)["state"]
    assert "state" not in job_of(opened("responses"))


def test_only_a_wire_whose_servers_keep_replies_has_states(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match=r"expected a protocol whose servers keep replies, got 'chat'") as caught:
        definition.load("sdk", folder(tmp_path, states=["items"]))
    assert "/states" in str(caught.value)


def test_takes_state_is_for_drivers_of_responses(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["adapter", "run", "reference", "--takes-state", "items"])
    assert "--takes-state is for --driver" in capsys.readouterr().err
    assert 2 == main(["adapter", "run", "--driver", "x", "--provider", "deepseek", "--takes-state", "items"])
    assert "no server of chat keeps replies" in capsys.readouterr().err
