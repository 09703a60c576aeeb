"""Gemini played: chat completions rendered as this wire and back, the simulator, Google's SDK, and the suite."""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import Exchange, Status, check, scenarios, wires
from conformance.core_facts import core_facts
from conformance.profiles import Profile, load_profile
from conformance.resources import folder
from conformance.results import Evidence, Verdict
from conformance.simulator import Simulator, simulated
from conformance.suite.play import play
from conformance.suite.turns import Subject, converse
from conformance.transport.client import Client, Endpoint
from conformance.transport.http import HttpRequest
from conformance.wire.native import CHAT
from conformance.wire.sse import render
from conformance.wires.gemini import writing
from tests.sampling import examples
from tests.test_protocols_any import ODD, holders

GEMINI = wires.by_name("gemini")
MODEL = "gemini-3-pro-preview"
SHOWN = {"thinkingConfig": {"includeThoughts": True}}
PLAYED = [name for name in scenarios.names() if not scenarios.load(name).for_clients]
SESSION = folder("fixtures") / "wire" / "gemini-session.json"
COUNTED = ("id", "model", "usage")


def canonical() -> Profile:
    """Return the profile of Gemini's wire, played as chat completions.

    Schemas stand in `parameters` there, which on Gemini's wire takes no list of types as `parametersJsonSchema` does.
    """
    played = load_profile("gemini").on("gemini").with_claims({"tools.type-list": "accepted"})
    return replace(played, wire=CHAT)


def there_and_back(request: Mapping[str, Any], response: Any = None, *, streamed: bool = False) -> Exchange:
    """Return an exchange of chat completions after it was rendered as Gemini and translated back."""
    native: Any = None if response is None else writing.reply(response, {})
    if streamed:
        native = render([event.value for event in writing.events(native)])
    sent = Exchange(writing.request(request), native, 200, url=f"https://api.example.com{GEMINI.path(request)}")
    return GEMINI.translate_one(sent)


def without_blank(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message; on this wire, empty content beside calls is the same as none, and arguments are an object."""
    made = {key: value for key, value in message.items() if key != "index"}
    if "tool_calls" not in made:
        return made
    calls = [
        call | {"function": call["function"] | {"arguments": json.loads(call["function"]["arguments"])}}
        for call in made["tool_calls"]
    ]
    return made | {"content": made.get("content") or None, "tool_calls": calls}


def written(request: Mapping[str, Any]) -> dict[str, Any]:
    return {**request, "messages": [without_blank(each) for each in request["messages"]]}


@pytest.mark.parametrize("variant", ["plain", "stream"])
@pytest.mark.parametrize("name", PLAYED)
def test_what_scenarios_hold_is_the_same_after_it_was_rendered_and_translated(name: str, variant: str) -> None:
    scenario = scenarios.load(name)
    simulator = Simulator(canonical())
    played = converse(scenario, "plain", Subject(canonical(), MODEL, simulator.send, Evidence.SIMULATED))
    assert [None] * len(scenario.turns) == [exchange.native for exchange in played.exchanges]
    for exchange in played.exchanges:
        asked = exchange.request | ({"stream": True} if variant == "stream" else {})
        back = there_and_back(asked, exchange.response, streamed=variant == "stream")
        assert written(asked) == written(back.request)
        expected, got = exchange.response["choices"][0], back.response["choices"][0]
        assert without_blank(expected["message"]) == without_blank(got["message"])
        # A call that the request forces ends with `stop` on chat completions; Gemini has one reason for both.
        is_forced = "tool_calls" in expected["message"] and expected["finish_reason"] == "stop"
        assert ("tool_calls" if is_forced else expected["finish_reason"]) == got["finish_reason"]
        assert {key: exchange.response[key] for key in COUNTED} == {key: back.response[key] for key in COUNTED}


TEXTS = st.text(min_size=1, max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def calls(draw: st.DrawFn, turn: int) -> list[dict[str, Any]]:
    made = []
    for number in range(draw(st.integers(1, 3))):
        arguments = draw(st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
        text = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
        identity = draw(st.sampled_from([f"turn-{turn}.{number}", f"call_{turn}{number}"]))
        call: dict[str, Any] = {
            "id": identity,
            "type": "function",
            "function": {"name": f"f{number}", "arguments": text},
        }
        if draw(st.booleans()):
            call["extra_content"] = {"google": {"thought_signature": "c2lnbg+/"}}
        made.append(call)
    return made


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": draw(TEXTS)}] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 3))):
        messages.append({"role": "user", "content": draw(TEXTS)})
        message: dict[str, Any] = {"role": "assistant", "content": draw(TEXTS)}
        if draw(st.booleans()):
            message["reasoning_content"] = draw(TEXTS)
        messages.append(message)
        if draw(st.booleans()):
            message["tool_calls"] = draw(calls(turn))
            results = [{"role": "tool", "tool_call_id": call["id"]} for call in message["tool_calls"]]
            messages += [{**result, "content": draw(st.text(max_size=30))} for result in results]
    return messages


@given(messages=histories())
def test_any_history_is_the_same_after_it_was_rendered_and_translated(messages: list[dict[str, Any]]) -> None:
    assert messages == there_and_back({"model": "m", "messages": messages}).request["messages"]


@given(messages=histories())
def test_any_reply_is_the_same_after_it_was_streamed(messages: list[dict[str, Any]]) -> None:
    at = max(number for number, each in enumerate(messages) if each["role"] == "assistant")
    finish = "tool_calls" if "tool_calls" in messages[at] else "stop"
    reply = {"choices": [{"index": 0, "message": messages[at], "finish_reason": finish}], "usage": {}}
    request = {"model": "m", "messages": messages[:at], "stream": True}
    plain, streamed = (there_and_back(request, reply, streamed=each) for each in (False, True))
    assert reply["choices"] == plain.response["choices"] == streamed.response["choices"]
    assert plain.native is not None
    assert streamed.native is not None
    assert plain.native.reply == streamed.native.reply


@pytest.mark.parametrize("choice", ["auto", "required", "none", {"type": "function", "function": {"name": "f"}}])
def test_a_tool_choice_is_the_same_after_it_was_rendered_and_translated(choice: Any) -> None:
    assert choice == there_and_back({"messages": [], "tool_choice": choice}).request["tool_choice"]


def test_the_schema_of_a_function_is_read_in_the_notation_of_this_wire() -> None:
    given = {"type": "OBJECT", "properties": {"type": {"type": "STRING", "nullable": True}}, "required": ["type"]}
    declared = {"functionDeclarations": [{"name": "f", "parameters": given}]}
    sent = Exchange(request={"contents": [], "tools": [declared]}, url="/v1beta/models/m:generateContent")
    (tool,) = GEMINI.translate_one(sent).request["tools"]
    expected = {"type": "object", "properties": {"type": {"type": ["string", "null"]}}, "required": ["type"]}
    assert {"name": "f", "parameters": expected} == tool["function"]


@pytest.mark.parametrize(("total", "failed"), [(111, []), (81, ["usage/adds-up"])])
def test_the_total_of_the_tokens_includes_the_reasoning(total: int, failed: list[str]) -> None:
    counts = {"promptTokenCount": 61, "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "totalTokenCount": total}
    candidate = {"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}
    sent = Exchange(response={"candidates": [candidate], "usageMetadata": counts}, status=200)
    assert failed == [each.rule for each in check(sent) if each.status is Status.FAILED]


@pytest.mark.parametrize("said", [5, {}, [], [5], [{"type": "text", "text": "18"}], None, "18", {"output": "18"}])
def test_an_output_of_any_form_is_what_a_result_says(said: Any) -> None:
    part = {"functionResponse": {"name": "f", "response": {"output": said}}}
    sent = Exchange(request={"contents": [{"role": "user", "parts": [part]}]}, url="/v1/models/m:generateContent")
    (message,) = GEMINI.translate_one(sent).request["messages"]
    is_kept = type(said) is str or said is None or said == [{"type": "text", "text": "18"}]
    assert message["content"] == (said if is_kept else json.dumps(said, separators=(",", ":")))


@pytest.mark.parametrize("ids", [("a", "b", "c", "d"), ()])
def test_results_take_the_calls_of_their_names_in_order(ids: Sequence[str]) -> None:
    called: list[dict[str, Any]] = [{"name": name} for name in ("f", "g", "f", "h")]
    for call, identity in zip(called, ids, strict=False):
        call["id"] = identity
    results = [called[number] | {"response": {}} for number in (3, 1, 0, 2)]
    contents = [
        {"role": "model", "parts": [{"functionCall": each | {"args": {}}} for each in called]},
        {"role": "user", "parts": [{"functionResponse": each} for each in results]},
    ]
    sent = Exchange(request={"contents": contents}, url="/v1/models/m:generateContent")
    message, *found = GEMINI.translate_one(sent).request["messages"]
    made = [call["id"] for call in message["tool_calls"]]
    assert [made[number] for number in (3, 1, 0, 2)] == [each["tool_call_id"] for each in found]


def question(name: str) -> str:
    return str(scenarios.load(name).turns[0].user)


@pytest.fixture
def url() -> Iterator[str]:
    with simulated(load_profile("gemini")) as served:
        yield served


def post(url: str, contents: Any, method: str = "generateContent", model: str = MODEL) -> httpx.Response:
    tools = [{"functionDeclarations": [{"name": "get_weather", "parameters": {"type": "OBJECT"}}]}]
    body = {"contents": contents, "tools": tools}
    return httpx.post(f"{url}/v1beta/models/{model}:{method}", json=body, headers={"x-goog-api-key": "unused"})


def tool_turn(url: str, model: str = MODEL, name: str = "one-tool-call") -> tuple[list[Any], list[Any]]:
    """Return the contents up to the calls of a model, and the results of these."""
    asked = {"role": "user", "parts": [{"text": question(name)}]}
    called = post(url, [asked], model=model).json()["candidates"][0]["content"]
    responses = [{**part["functionCall"], "response": {"output": "18"}} for part in called["parts"]]
    for response in responses:
        del response["args"]
    return [asked, called], [{"functionResponse": response} for response in responses]


def test_a_signature_has_to_come_back_in_its_part(url: str) -> None:
    history, results = tool_turn(url, name="parallel-tool-calls")
    first, second = history[1]["parts"]
    assert ("thoughtSignature" in first, "thoughtSignature" in second) == (True, False)
    assert post(url, [*history, {"role": "user", "parts": results}]).status_code == 200
    second["thoughtSignature"] = first.pop("thoughtSignature")
    refused = post(url, [*history, {"role": "user", "parts": results}])
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert error["message"].startswith("Function call is missing a thought_signature in functionCall parts.")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("+", "-").replace("/", "_"),
        lambda _text: "skip_thought_signature_validator",
    ],
)
def test_a_signature_may_come_back_in_either_alphabet_of_base64_or_be_bypassed(url: str, change: Any) -> None:
    history, results = tool_turn(url)
    part = history[1]["parts"][0]
    part["thoughtSignature"] = change(part["thoughtSignature"])
    assert post(url, [*history, {"role": "user", "parts": results}]).status_code == 200


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (lambda results: results[:1], "Please ensure that the number of function response parts is equal"),
        (lambda results: [*results, results[0]], "Please ensure that the number of function response parts is equal"),
        (
            lambda results: [{"text": "Go on."}, *results[:0]],
            "Please ensure that the number of function response parts",
        ),
    ],
)
def test_the_results_have_to_be_as_many_as_the_calls(url: str, parts: Any, message: str) -> None:
    history, results = tool_turn(url, name="parallel-tool-calls")
    refused = post(url, [*history, {"role": "user", "parts": parts(results)}])
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith(message)


def test_calls_without_ids_are_paired_by_their_order(url: str) -> None:
    model = "gemini-2.5-flash"
    history, results = tool_turn(url, model, "parallel-tool-calls")
    assert [part["functionCall"].keys() for part in history[1]["parts"]] == [{"name", "args"}] * 2
    assert [result["functionResponse"].keys() for result in results] == [{"name", "response"}] * 2
    for order in (results, results[::-1]):
        contents = [*history, {"role": "user", "parts": order}]
        assert post(url, contents, model=model).status_code == 200
        sent = Exchange(request={"contents": contents}, url=f"/v1beta/models/{model}:generateContent")
        paired = GEMINI.translate_one(sent).request["messages"][2:]
        assert ["turn-0.0", "turn-0.1"] == [message["tool_call_id"] for message in paired]


def test_a_stream_comes_as_events_or_as_an_array(url: str) -> None:
    asked = [{"role": "user", "parts": [{"text": question("one-tool-call")}]}]
    events = post(url, asked, "streamGenerateContent?alt=sse")
    array = post(url, asked, "streamGenerateContent")
    assert events.headers["content-type"] == "text/event-stream"
    lines = [line.removeprefix("data: ") for line in events.text.splitlines() if line]
    assert array.json() == [json.loads(line) for line in lines]
    refused = post(url, [{"role": "system", "parts": [{"text": "Hello."}]}], "streamGenerateContent")
    assert [400] == [each["error"]["code"] for each in refused.json()]


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["gemini", "vertex"])
def test_the_core_facts_are_answered(provider: str) -> None:
    played = load_profile(provider).on("gemini")
    subject = Subject(played, MODEL, Simulator(played).send, Evidence.SIMULATED)
    every = [scenarios.load(name) for name in PLAYED]
    cases = [play(each, variant, subject) for each in every for variant in each.variants]
    field, omitted, ids, parallel = core_facts(cases, subject.claims)
    assert [Verdict.DECLARED] * 3 == [fact.verdict for fact in (field, omitted, parallel)]
    assert (Verdict.NOT_APPLICABLE, ("ids.optional: true",)) == (ids.verdict, ids.reasons)
    observed = "absent accepted; signatures-dropped refused with 400; signatures-altered refused with 400"
    assert observed == omitted.observed


@pytest.mark.parametrize("sent", [b"{", b"[]", b"{}"])
def test_a_body_that_is_no_request_is_refused_in_the_shape_of_google(url: str, sent: bytes) -> None:
    address = f"{url}/v1beta/models/{MODEL}:generateContent"
    refused = httpx.post(address, content=sent, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_any_request_is_answered(data: st.DataObject) -> None:
    body = copy.deepcopy(data.draw(st.sampled_from(json.loads(SESSION.read_text("utf-8"))))["request"])
    for _ in range(data.draw(st.integers(1, 3))):
        every = list(holders(body))
        if every:
            holder, key = data.draw(st.sampled_from(every))
            holder[key] = copy.deepcopy(data.draw(ODD))
    method = data.draw(st.sampled_from(["generateContent", "streamGenerateContent", "streamGenerateContent?alt=sse"]))
    path, headers = f"/v1beta/models/{MODEL}:{method}", {"content-type": "application/json"}
    answered = Simulator(load_profile("gemini")).answer(HttpRequest("POST", path, headers, json.dumps(body).encode()))
    assert answered.status in (200, 400)


@pytest.mark.parametrize("variant", ["plain", "stream"])
def test_the_client_speaks_gemini_and_returns_chat_completions(url: str, variant: str) -> None:
    asked = {"model": MODEL, "stream": variant == "stream", "generationConfig": SHOWN}
    asked["messages"] = [{"role": "user", "content": question("plain-answer")}]
    with Client(Endpoint(f"{url}/v1", wire="gemini")) as client:
        answered = client.send(asked)
    message = answered.response["choices"][0]["message"]
    assert (answered.protocol, answered.model) == ("gemini", MODEL)
    assert scenarios.load("plain-answer").turns[0].says == message["content"]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["plain", "stream"])
def test_the_sdk_of_google_plays_a_tool_turn_and_gets_the_refusals(url: str, variant: str) -> None:
    genai = pytest.importorskip("google.genai")
    types = genai.types
    client = genai.Client(api_key="unused", http_options=types.HttpOptions(base_url=url))
    schema = types.Schema(type="OBJECT", properties={"city": types.Schema(type="STRING")}, required=["city"])
    declared = types.FunctionDeclaration(name="get_weather", description="The weather.", parameters=schema)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])],
        thinking_config=types.ThinkingConfig(include_thoughts=True),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )

    def ask(contents: list[Any]) -> Any:
        given = {"model": MODEL, "contents": contents, "config": config}
        if variant == "plain":
            return client.models.generate_content(**given).candidates[0].content
        streamed = client.models.generate_content_stream(**given)
        return types.Content(
            role="model", parts=[part for each in streamed for part in each.candidates[0].content.parts]
        )

    asked = types.Content(role="user", parts=[types.Part(text=question("one-tool-call"))])
    called = ask([asked])
    *summaries, call = called.parts
    assert (bool(summaries), all(part.thought for part in summaries)) == (True, True)
    made = types.FunctionResponse(id=call.function_call.id, name="get_weather", response={"output": "18"})
    result = types.Content(role="user", parts=[types.Part(function_response=made)])
    said = "".join(part.text for part in ask([asked, called, result]).parts if not part.thought)
    assert scenarios.load("one-tool-call").turns[1].says == said
    for signature, message in ((None, "missing a thought_signature"), (b"other", "Corrupted thought signature.")):
        call.thought_signature = signature
        with pytest.raises(genai.errors.ClientError, match=message):
            ask([asked, called, result])
