"""A reply that a client retold as text, or dropped, comes back as it was, with the results in its own calls."""

from typing import Any

from conformance import fixes, wires
from conformance.documents.patch import apply
from conformance.formats.records import exchange
from conformance.judge import check
from conformance.results import Finding, Status
from conformance.wire.exchange import Conversation, Exchange
from tests import scripted
from tests.checking import BASES
from tests.loops import every

RULE = "transcript/reply-resent"
IDS = ("call_a", "call_b")
TWO = "Paris: 18 degrees\nRome: 24 degrees"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_9", "role": "assistant", "status": "completed", "content": [part]}


def content(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def output(identity: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": text}


def answered(identity: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": text}


def responded(text: str) -> dict[str, Any]:
    return {"functionResponse": {"name": "get_weather", "response": {"output": text}}}


def results(*texts: str) -> dict[str, Any]:
    blocks = [
        {"type": "tool_result", "tool_use_id": f"toolu_0{at}", "content": text} for at, text in enumerate(texts, 1)
    ]
    return {"role": "user", "content": blocks}


REACT = 'Action: get_weather\nAction Input: {"city": "Paris"}\nAction: get_weather\nAction Input: {"city": "Rome"}'
PYTHON = "Calling tools:\n[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]"
MARKUP = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
TAGGED = "<tool_response>\n18\n</tool_response>"
CASES: list[tuple[str, list[Any], list[Any]]] = [
    ("stream-thinking-session", [said(PYTHON), user("Observation: 18")], [answered("call_a", "18")]),
    ("stream-thinking-session", [user("get_weather says: 18")], [answered("call_a", "get_weather says: 18")]),
    ("stream-thinking-session", [said(MARKUP), user(TAGGED)], [answered("call_a", TAGGED)]),
    (
        "thinking-session",
        [said(REACT), user(f"Observation:\n{TWO}")],
        [answered("call_a", "Paris: 18 degrees"), answered("call_b", "Rome: 24 degrees")],
    ),
    ("thinking-session", [said(REACT), user("Results: 18, 24")], [answered(each, "18, 24") for each in IDS]),
    ("messages-session", [said(REACT), user(f"Tool results:\n{TWO}")], [results(*TWO.splitlines())]),
    ("messages-session", [user(f"get_weather:\n{TWO}")], [results(*[f"get_weather:\n{TWO}"] * 2)]),
    (
        "responses-session",
        [message(REACT), user(f"Tool output:\n{TWO}")],
        [output("call_a", "Paris: 18 degrees"), output("call_b", "Rome: 24 degrees")],
    ),
    ("responses-session", [user("get_weather: mild")], [output(each, "get_weather: mild") for each in IDS]),
    (
        "gemini-session",
        [content("model", REACT), content("user", f"Function results:\n{TWO}")],
        [{"role": "user", "parts": [responded("Paris: 18 degrees"), responded("Rome: 24 degrees")]}],
    ),
    (
        "gemini-session",
        [content("user", "get_weather returned: mild")],
        [{"role": "user", "parts": [responded("get_weather returned: mild")] * 2}],
    ),
]  # fmt: skip
"""A session, what a client sends in place of its first reply and the results, and the results in the fixed request."""


def session(base: str, units: list[Any], *, streamed: bool) -> tuple[str, Conversation]:
    """Return the member that holds the history, and two exchanges: the second one continues with some units."""
    first, second = BASES[base][:2]
    key = next(each for each in ("messages", "input", "contents") if each in second["request"])
    if streamed and isinstance(first["response"], dict):
        first = {
            **first,
            "response": scripted.streamed(
                base.split("-", maxsplit=1)[0].replace("thinking", "chat"), first["response"]
            ),
        }
    request = {**second["request"], key: [*first["request"][key], *units]}
    return key, tuple([exchange(each, base) for each in (first, {**second, "request": request})])


def found(given: Conversation) -> list[tuple[str, Finding]]:
    return [(each.rule, one) for each in check(given) if each.status is Status.FAILED for one in each.findings]


@every(("base", "units", "expected"), CASES)
def test_the_reply_comes_back_with_its_results(base: str, units: list[Any], expected: list[Any]) -> None:
    for streamed in (False, True):
        key, given = session(base, units, streamed=streamed)
        finding = next(each for rule, each in found(given) if rule == RULE)
        fixed = fixes.fix(given, RULE, finding, None)
        assert fixed is not None
        request = apply(given[1].request, fixed.patch)
        assert expected == request[key][-len(expected) :]
        assert "/0/response" == fixed.origin
        after = (given[0], Exchange(request=request, response=given[1].response, url=given[1].url))
        assert set() == {rule for rule, _ in found(after)} - {rule for rule, _ in found(given)}
        (sent,) = [each for each in wires.translate(after)[1].request["messages"] if each.get("tool_calls")]
        assert ["get_weather"] * len(sent["tool_calls"]) == [each["function"]["name"] for each in sent["tool_calls"]]


def test_what_the_user_says_is_no_result_of_a_call() -> None:
    _, given = session("stream-thinking-session", [said(PYTHON), user("Never mind, thank you.")], streamed=False)
    fixed = [fixes.fix(given, rule, each, None) for rule, each in found(given) if rule == RULE]
    assert [()] == [each.patch for each in fixed if each is not None]


def test_what_the_client_adds_to_a_reply_is_not_dropped() -> None:
    more = f"{PYTHON}\nThe user lives in Lyon, so the forecast for Lyon matters as well."
    _, given = session("stream-thinking-session", [said(more), user("Observation: 18")], streamed=False)
    fixed = [fixes.fix(given, rule, each, None) for rule, each in found(given) if rule == RULE]
    assert [()] == [each.patch for each in fixed if each is not None]
