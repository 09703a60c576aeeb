"""OpenAI's Responses: generated traffic comes back, what belongs together is joined, and streams are assembled."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.convert import dialects
from conformance.documents import read_json
from conformance.errors import InvalidDocument
from conformance.resources import folder
from conformance.wires.responses.reading import assembled
from tests.losses import COMPACT, TEXT_VALUES, WORDS, goes_and_returns
from tests.sampling import examples

DIALECT = dialects.load("responses")
to_canonical, to_native = DIALECT.to_canonical, DIALECT.to_native


def message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def thinking(**held: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], **held}


def called(ident: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": ident, "name": "f", "arguments": "{}"}


def said(text: str) -> dict[str, Any]:
    return message("assistant", [{"type": "output_text", "text": text}])


def lost(*items: Any) -> list[str]:
    return [loss.pointer for loss in to_canonical({"input": list(items)}).lost]


TEXT = WORDS.map(lambda text: {"type": "input_text", "text": text})
SHOWN = st.sampled_from(
    [
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_image", "image_url": "https://example.org/cat.png", "detail": "high"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERg==", "filename": "a.pdf"},
        {"type": "input_file", "file_id": "file-1"},
    ]
)
USER = (WORDS | st.lists(TEXT | SHOWN, min_size=1, max_size=3)).map(lambda content: message("user", content))
DEVELOPER = (WORDS | st.lists(TEXT, min_size=1, max_size=2)).map(lambda content: message("developer", content))
SAID = TEXT_VALUES.map(said)
CALL = st.builds(
    lambda ident, name, text: {"type": "function_call", "call_id": ident, "name": name, "arguments": text},
    WORDS,
    TEXT_VALUES,
    COMPACT | WORDS,
)
OUTPUT = st.builds(
    lambda ident, output: {"type": "function_call_output", "call_id": ident, "output": output},
    WORDS,
    WORDS | st.lists(TEXT, min_size=1, max_size=2),
)


@st.composite
def reasoning(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """Draw a reasoning item with an id of its own: texts, a blob, both, or only the id."""
    item = thinking(id=f"rs_{number}")
    item["summary"] = [{"type": "summary_text", "text": text} for text in draw(st.lists(TEXT_VALUES, max_size=2))]
    if texts := draw(st.lists(TEXT_VALUES, max_size=2)):
        item["content"] = [{"type": "reasoning_text", "text": text} for text in texts]
    return item | draw(st.just({}) | TEXT_VALUES.map(lambda blob: {"encrypted_content": blob}))


@st.composite
def turn(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw what the assistant does: reasoning anywhere, no text behind a call; and what follows."""
    items = [*draw(st.lists(SAID, max_size=2)), *draw(st.lists(CALL, max_size=2))]
    for number in range(draw(st.integers(0, 3))):
        items.insert(draw(st.integers(0, len(items))), draw(reasoning(draw(st.integers(0, 9)) * 10 + number)))
    return [*items, *draw(st.lists(OUTPUT, max_size=2)), draw(USER | DEVELOPER)]


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a request that the transcript can hold in full."""
    turns = draw(st.lists(turn(), max_size=3))
    instructions = draw(st.just({}) | TEXT_VALUES.map(lambda text: {"instructions": text}))
    return {**instructions, "input": [item for items in turns for item in items]}


@settings(max_examples=examples(150))
@given(requests())
def test_a_request_that_the_transcript_can_hold_comes_back_equal(native: dict[str, Any]) -> None:
    goes_and_returns(DIALECT, native)


@pytest.mark.parametrize(
    ("items", "count"),
    [
        ([thinking(id="rs_1", encrypted_content="a"), thinking(id="rs_2", encrypted_content="b")], 2),
        ([thinking(encrypted_content="a"), thinking(encrypted_content="b")], 2),
        ([thinking(id="rs_1"), thinking(encrypted_content="b")], 2),
        ([thinking(id="rs_1"), thinking(id="rs_2")], 2),
        ([thinking(id="rs_1", encrypted_content="a"), said("x"), thinking(encrypted_content="b")], 2),
    ],
)
def test_reasoning_of_two_items_stays_that_of_two(items: list[Any], count: int) -> None:
    converted = to_canonical({"input": items})
    assert () == converted.lost
    back = to_native(converted.value).value["input"]
    assert items == back
    assert count == sum(item["type"] == "reasoning" for item in back)


def test_reasoning_that_nothing_separates_comes_back_in_one_item_and_is_named() -> None:
    first = thinking(content=[{"type": "reasoning_text", "text": "a"}])
    second = thinking(content=[{"type": "reasoning_text", "text": "b"}], encrypted_content="c")
    assert ["/input/1"] == lost(first, second)
    back = to_native(to_canonical({"input": [first, second]}).value).value["input"]
    assert [{**second, "content": [*first["content"], *second["content"]]}] == back


def test_a_summary_without_an_id_belongs_to_the_blob_behind_it() -> None:
    details = [
        {"type": "reasoning.summary", "summary": "Look.", "format": "openai-responses-v1", "index": 0},
        {"type": "reasoning.encrypted", "data": "YmxvYg==", "id": "rs_1", "index": 1},
    ]
    found = to_native([{"role": "assistant", "content": "x", "reasoning_details": details}])
    expected = {"summary": [{"type": "summary_text", "text": "Look."}], "encrypted_content": "YmxvYg=="}
    assert thinking(id="rs_1", **expected) == found.value["input"][0]


@pytest.mark.parametrize("kind", ["reasoning_content", "reasoning"])
def test_plain_reasoning_becomes_the_text_of_an_item_without_an_id(kind: str) -> None:
    found = to_native([{"role": "assistant", "content": "x", kind: "Look."}])
    assert thinking(content=[{"type": "reasoning_text", "text": "Look."}]) == found.value["input"][0]


def test_no_item_gets_an_id() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    found = to_native([{"role": "assistant", "content": "x", "reasoning_content": "y", "tool_calls": [call]}])
    assert ["reasoning", "message", "function_call"] == [item["type"] for item in found.value["input"]]
    assert not any("id" in item for item in found.value["input"])


def test_text_behind_a_call_moves_and_is_named_with_the_reasoning_beside_it() -> None:
    items = [thinking(id="rs_1"), called("call_1"), thinking(id="rs_2"), said("x"), called("call_2")]
    assert ["/input/2", "/input/3"] == lost(*items)


def test_a_refusal_comes_last_and_is_one() -> None:
    refusals = [message("assistant", [{"type": "refusal", "refusal": text}]) for text in ("No.", "Never.")]
    assert [] == lost(refusals[0])
    assert ["/input/0"] == lost(refusals[0], said("x"))
    assert ["/input/0", "/input/1"] == lost(*refusals)
    assert "No.Never." == to_canonical({"input": refusals}).value[0]["refusal"]


@pytest.mark.parametrize(
    ("item", "pointers"),
    [
        ({"type": "item_reference", "id": "rs_1"}, ["/input/0"]),
        ({"type": "compaction", "encrypted_content": "x"}, ["/input/0"]),
        ({"type": "web_search_call", "id": "ws_1", "status": "completed"}, ["/input/0"]),
        ({**called("c"), "id": "fc_1", "status": "completed", "namespace": "n"}, [f"/input/0/{key}" for key in
         ("id", "status", "namespace")]),
        ({**called("c"), "id": None}, []),
        (thinking(), ["/input/0"]),
        (thinking(encrypted_content=""), ["/input/0/encrypted_content", "/input/0"]),
        (thinking(id="rs_1", summary=[{"type": "summary_text", "text": ""}]), ["/input/0/summary/0"]),
        (thinking(id="rs_1", content=[{"type": "text", "text": "x", "more": 1}]), [
            "/input/0/content/0/type", "/input/0/content/0/more"]),
        ({"role": "assistant", "content": ""}, ["/input/0/content", "/input/0/content", "/input/0"]),
        ({"role": "assistant", "content": []}, ["/input/0"]),
        ({**said("x"), "id": "msg_1", "phase": "final_answer"}, ["/input/0/id", "/input/0/phase"]),
        (message("user", [{"type": "text", "text": "x"}]), ["/input/0/content/0/type"]),
        (message("developer", [{"type": "input_image", "image_url": "x"}]), ["/input/0/content/0"]),
        (message("user", [{"type": "input_image", "file_id": "file-1"}]), ["/input/0/content/0"]),
        (message("tool", "x"), ["/input/0"]),
        ({**message("user", "x"), "id": "msg_1", "status": "completed"}, ["/input/0/id", "/input/0/status"]),
    ],
)  # fmt: skip
def test_what_the_wire_cannot_hold_is_named_as_lost(item: dict[str, Any], pointers: list[str]) -> None:
    assert pointers == lost(item)


@pytest.mark.parametrize(("stored", "pointers"), [(None, []), (True, ["/store"]), (False, ["/store", "/input/0"])])
def test_an_id_alone_stands_for_reasoning_unless_nothing_is_stored(stored: Any, pointers: list[str]) -> None:
    found = to_canonical({"store": stored, "input": [thinking(id="rs_1"), called("call_1")]})
    assert pointers == [loss.pointer for loss in found.lost]
    assert ("/input/0" in pointers) == ("reasoning_details" not in found.value[0])


def test_an_empty_blob_is_named_as_left_out() -> None:
    item = thinking(summary=[{"type": "summary_text", "text": "x"}], encrypted_content="")
    assert [("/input/0/encrypted_content", "an empty blob is left out")] == [
        (loss.pointer, loss.reason) for loss in to_canonical({"input": [item]}).lost
    ]


def test_instructions_that_are_not_a_text_are_named_as_lost() -> None:
    found = to_canonical({"instructions": [message("system", "A")], "input": "Hi"})
    assert ["/instructions", "/input"] == [loss.pointer for loss in found.lost]
    assert [{"role": "user", "content": "Hi"}] == found.value


def test_a_text_without_an_id_may_be_any_models_and_a_blob_or_an_id_is_of_this_wire() -> None:
    texts = {"content": [{"type": "reasoning_text", "text": "Look."}]}
    plain, own = [
        to_canonical({"input": [item]}).value[0] for item in (thinking(**texts), thinking(id="rs_1", **texts))
    ]
    assert "Look." == plain["reasoning_content"]
    detail = {"type": "reasoning.text", "text": "Look.", "id": "rs_1", "format": "openai-responses-v1", "index": 0}
    assert [detail] == own["reasoning_details"]


@pytest.mark.parametrize("key", ["previous_response_id", "conversation", "prompt"])
def test_what_stands_for_a_history_at_the_server_is_named_as_such(key: str) -> None:
    (loss,) = to_canonical({key: "x", "input": []}).lost
    assert (f"/{key}", "stands for what only the server has") == loss


def test_only_the_first_system_message_in_one_text_becomes_the_instructions() -> None:
    systems: list[dict[str, Any]] = [{"role": "system", "content": text} for text in ("A", "B")]
    assert {"instructions": "A", "input": [message("system", "B")]} == to_native(systems).value
    parts = [{"role": "system", "content": [{"type": "text", "text": "A"}]}]
    assert {"input": [message("system", [{"type": "input_text", "text": "A"}])]} == to_native(parts).value
    assert ["/input/0"] == lost({"role": "system", "content": "A"})
    nothing = {"role": "assistant", "content": ""}
    assert {"instructions": "A", "input": []} == to_native([nothing, systems[0]]).value


EVENTS = read_json(folder("fixtures") / "dialects" / "responses" / "stream.json")


def stream(*without: str) -> str:
    assert isinstance(EVENTS, dict)
    events = str(EVENTS["native"]).split("\n\n")
    return "\n\n".join(event for event in events if not any(word in event for word in without))


def test_a_cut_off_stream_gives_what_it_has() -> None:
    reply = assembled(stream("arguments.done", '"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":'
                             '"call_1","name":"get_weather","arguments":"{', "completed"))  # fmt: skip
    assert ["ZW5jcnlwdGVk", None] == [item.get("encrypted_content") for item in reply["output"]]
    assert '{"city":"Oslo"}' == reply["output"][1]["arguments"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ('{"type":"error","code":"rate_limit","message":"Slow down."}', "Slow down."),
        ('{"type":"error","error":{"message":"Slow down."}}', "Slow down."),
    ],
)
def test_the_error_of_a_stream_is_its_reply(event: str, message: str) -> None:
    assert message == assembled(f"data: {event}\n\n")["error"]["message"]
    assert [] == to_canonical(f"data: {event}\n\n").value


@pytest.mark.parametrize("text", ["upstream connect error", "data:\n"])
def test_a_text_that_is_not_an_event_stream_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match=r"x\.sse: in the event stream: expected events"):
        to_canonical(text, "x.sse")


def test_a_stream_with_invalid_items_is_refused_with_its_pointer() -> None:
    begun = 'data: {"type":"response.created","response":{"output":[{"type":"function_call"}]}}\n\n'
    with pytest.raises(InvalidDocument, match=r"in the event stream: .* \(at /output/0\)"):
        to_canonical(begun)
