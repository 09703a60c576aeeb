"""Gemini: recognised, translated with the places of its parts, calls and results paired, streams added up, judged."""

import gzip
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import Exchange, Status, check, wires
from conformance.formats.records import exchange
from conformance.resources import folder
from conformance.results import Level
from conformance.wire.sse import render
from conformance.wires.gemini.stream import assemble


def session() -> list[Any]:
    value: list[Any] = json.loads((folder("fixtures") / "wire" / "gemini-session.json").read_text("utf-8"))
    return value


@pytest.mark.parametrize("body", [{"model": "tuned/a b:c"}, {"model": "gemini-3-pro-preview", "stream": True}])
def test_the_url_says_which_model_is_asked_and_whether_for_a_stream(body: dict[str, Any]) -> None:
    protocol = wires.by_name("gemini")
    sent = Exchange(request={"contents": []}, url=f"https://api.example.com/v1beta{protocol.path(body)}")
    assert body | {"messages": []} == protocol.translate_one(sent).request


def test_a_tool_without_a_list_around_it_is_read_and_accepted() -> None:
    declared = {"functionDeclarations": [{"name": "get_weather"}, {"name": "get_time"}]}
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}], "tools": declared}
    (translated,) = wires.translate((Exchange(request=body),))
    assert ["get_weather", "get_time"] == [tool["function"]["name"] for tool in translated.request["tools"]]
    assert translated.native is not None
    assert ("request", "tools", "functionDeclarations", 1) == translated.native.places["request", "tools", 1]
    outcomes = {each.rule: each for each in check((translated,))}
    assert "passed" == outcomes["native/request-shape"].status


def test_calls_without_ids_and_their_results_get_the_same_ids() -> None:
    (translated,) = wires.translate((exchange(session()[1], "test"),))
    called, *results = translated.request["messages"][2:]
    ids = [each["id"] for each in called["tool_calls"]]
    assert ids == ["turn-0.0", "turn-0.1"]
    assert [each["tool_call_id"] for each in results] == ids


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([{"text": "And?"}], "And?"),
        ([{"text": "And"}, {"text": "now?"}], [{"type": "text", "text": "And"}, {"type": "text", "text": "now?"}]),
    ],
)
def test_what_the_user_says_beside_results_is_a_message_after_them(said: list[Any], expected: Any) -> None:
    record = session()[1]
    record["request"]["contents"][2]["parts"] += said
    (translated,) = wires.translate((exchange(record, "test"),))
    *_, called, first, second, last = translated.request["messages"]
    assert ["assistant", "tool", "tool"] == [each["role"] for each in (called, first, second)]
    assert {"role": "user", "content": expected} == last


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        (lambda parts: parts[:1], "transcript/calls-answered"),
        (lambda parts: [*parts, parts[0]], "transcript/result-answers-call"),
    ],
)
def test_the_numbers_of_calls_and_results_have_to_agree(parts: Any, rule: str) -> None:
    record = session()[1]
    answers = record["request"]["contents"][2]
    answers["parts"] = parts(answers["parts"])
    assert rule in [each.rule for each in check(exchange(record, "test")) if each.status is Status.FAILED]


@pytest.mark.parametrize(
    ("signature", "rule", "claim"),
    [
        (None, "reasoning/signatures-resent", "Function call is missing a thought_signature in functionCall parts."),
        ("b3RoZXI=", "reasoning/signatures-resent", "Corrupted thought signature."),
        (None, "gemini/signature-on-first-call", "Function call is missing a thought_signature in functionCall parts."),
    ],
)
def test_a_signature_that_is_lost_or_changed_is_predicted_to_be_rejected(
    signature: str | None, rule: str, claim: str
) -> None:
    records = session()
    call = records[1]["request"]["contents"][1]["parts"][0]
    if signature is None:
        del call["thoughtSignature"]
    else:
        call["thoughtSignature"] = signature
    for each in records:
        each["model"] = "gemini-3-pro-preview"
    (outcome,) = (each for each in check([exchange(each, "test") for each in records], "gemini") if each.rule == rule)
    (finding,) = outcome.findings
    assert (finding.at, finding.level) == ("/1/request/contents/1/parts/0", Level.MUST)
    assert finding.refusal is not None
    assert (finding.refusal.message or "").startswith(claim)


def chunk(*parts: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


@given(st.data())
def test_however_a_text_is_split_the_reply_is_the_same(data: st.DataObject) -> None:
    text = "Paris has 18 degrees, Rome 24."
    cuts = sorted({0, len(text), *data.draw(st.sets(st.integers(0, len(text))))})
    pieces = [{"text": text[start:end]} for start, end in pairwise(cuts)]
    signed = {"text": "", "thoughtSignature": "c2lnbg=="}
    made = assemble(render([*map(chunk, pieces), chunk(signed, finish="STOP")]))
    whole = assemble(render([chunk({"text": text}), chunk(signed, finish="STOP")]))
    assert (made.reply, made.complete) == (whole.reply, True)


def test_a_stream_without_a_finish_reason_is_not_complete() -> None:
    sent = Exchange(response=render([chunk({"text": "Paris has"})]), status=200, url="/v1/m:streamGenerateContent")
    failed = [each.rule for each in check(sent) if each.status is Status.FAILED]
    assert failed == ["native/stream-complete"]


def test_an_array_of_chunks_is_a_stream_too() -> None:
    sent = Exchange(response=[chunk({"text": "Paris "}), chunk({"text": "has 18."}, finish="STOP")], status=200)
    (translated,) = wires.translate((Exchange(**{**_fields(sent), "url": "/v1/m:streamGenerateContent"}),))
    assert translated.response["choices"][0]["message"]["content"] == "Paris has 18."


def _fields(sent: Exchange) -> dict[str, Any]:
    return {"response": sent.response, "status": sent.status}


@pytest.mark.slow
def test_every_recording_is_recognised_and_judged_and_what_it_breaks_is_explained(shared: Path) -> None:
    broken = []
    with gzip.open(shared / "recordings" / "gemini_native.jsonl.gz") as lines:
        records = [json.loads(line) for line in lines]
    single = [record for record in records if ":batchGenerateContent" not in record["url"]]
    assert (len(records), len(single)) == (198, 197)
    for record in single:
        sent = exchange(record, "test")
        found = wires.of(sent)
        assert found is not None
        assert found.name == "gemini"
        for outcome in check(sent):
            assert outcome.status is not Status.ERRORED, outcome
            musts = [each for each in outcome.findings if each.level is Level.MUST]
            broken += [(record["ref"], record["status"], outcome.rule, each.side) for each in musts]
    assert broken == [
        ("gemini_native.jsonl:864", 200, "http/body-is-object-or-stream", "provider"),
        ("gemini_native.jsonl:936", 200, "gemini/content-present", "provider"),
        ("gemini_native.jsonl:1638", 200, "http/body-is-object-or-stream", "provider"),
        # A client sends ids as the names of functions; these models answered all the same.
        ("gemini_native.jsonl:3205", 200, "gemini/response-named-as-its-call", "client"),
        ("gemini_native.jsonl:3414", 200, "gemini/response-named-as-its-call", "client"),
        ("gemini_native.jsonl:4099", 200, "gemini/response-named-as-its-call", "client"),
        ("gemini_native.jsonl:4167", 200, "gemini/response-named-as-its-call", "client"),
        ("gemini_native.jsonl:4260", 200, "gemini/response-named-as-its-call", "client"),
        ("gemini_native.jsonl:4260", 200, "gemini/response-named-as-its-call", "client"),
        ("gemini_native.jsonl:4940", 200, "gemini/content-present", "provider"),
        ("gemini_native.jsonl:5994", 400, "native/request-shape", "client"),
        ("gemini_native.jsonl:7097", 200, "tool-calls/name-declared", "provider"),
    ]


SIGNED_TEXT = {"text": "I look.", "thoughtSignature": "c2lnbmVk"}


@pytest.mark.parametrize(
    ("back", "expected"),
    [
        (SIGNED_TEXT, []),
        ({"text": "I look."}, []),
        ({"text": "I look.", "thought_signature": "b3RoZXI="}, ["/1/request/contents/1/parts/0/thought_signature"]),
        ({"text": "I say more.", "thoughtSignature": "b3RoZXI="}, []),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_signature_of_a_text_is_judged_only_if_it_comes_back_changed(
    back: dict[str, Any], expected: list[str], *, streamed: bool
) -> None:
    words = {"role": "user", "parts": [{"text": "Hello"}]}
    reply: Any = {"candidates": [{"content": {"role": "model", "parts": [SIGNED_TEXT]}, "finishReason": "STOP"}]}
    first = Exchange(request={"contents": [words]}, response=f"data: {json.dumps(reply)}\n\n" if streamed else reply)
    second = Exchange(request={"contents": [words, {"role": "model", "parts": [back]}, words]})
    (outcome,) = check((first, second), rules=["gemini/text-signature-unchanged"])
    assert expected == [each.at for each in outcome.findings]


def test_the_signature_of_a_call_is_not_that_of_an_empty_text_beside_it() -> None:
    words, name = {"role": "user", "parts": [{"text": "Hello"}]}, {"functionCall": {"name": "f", "args": {}}}
    said = [{"text": "", "thoughtSignature": "c2lnbmVk"}, {**name, "thoughtSignature": "Y2FsbA=="}]
    reply = {"candidates": [{"content": {"role": "model", "parts": said}, "finishReason": "STOP"}]}
    back = {"role": "model", "parts": [said[0], {**name, "thoughtSignature": "b3RoZXI="}]}
    second = Exchange(request={"contents": [words, back]})
    (outcome,) = check(
        (Exchange(request={"contents": [words]}, response=reply), second), rules="gemini/text-signature-unchanged"
    )
    assert (1, ()) == (outcome.judged, outcome.findings)


def translated(request: Any = None, response: Any = None) -> Exchange:
    sent = Exchange(request=request, response=response, status=200, url="/v1beta/models/m:generateContent")
    return wires.by_name("gemini").translate_one(sent)


@pytest.mark.parametrize("key", ["functionCall", "function_call"])
def test_a_call_and_its_arguments_have_the_place_and_the_spelling_of_the_native_body(key: str) -> None:
    parts = [{"text": "I look."}, {key: {"name": "f", "args": {"city": "Oslo"}}}]
    asked = translated({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": parts}]})
    assert asked.native is not None
    call = (0, "request", "messages", 1, "tool_calls", 0)
    place = (0, "request", "contents", 1, "parts", 1)
    assert place == asked.native.place(call)
    assert (*place, key, "args") == asked.native.place((*call, "function", "arguments"))
    assert (0, "request", "contents", 1, "parts", 0) == asked.native.place((*call[:4], "content"))


def test_a_call_behind_several_texts_of_a_plain_reply_has_its_own_place() -> None:
    parts = [{"text": "a"}, {"text": "b"}, {"functionCall": {"name": "f", "args": {}}}]
    reply = translated(
        response={"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    )
    assert "ab" == reply.response["choices"][0]["message"]["content"]
    assert reply.native is not None
    called = reply.native.place((0, "response", "choices", 0, "message", "tool_calls", 0))
    assert (0, "response", "candidates", 0, "content", "parts", 2) == called


def test_one_content_or_part_without_its_list_is_read_and_valid() -> None:
    body = {
        "system_instruction": {"parts": {"text": "Be brief."}},
        "contents": {"role": "user", "parts": {"text": "Hi"}},
    }
    (asked,) = wires.translate((Exchange(request=body),))
    assert ["Be brief.", "Hi"] == [message["content"] for message in asked.request["messages"]]
    assert asked.native is not None
    assert (0, "request", "contents") == asked.native.place((0, "request", "messages", 1))
    assert (0, "request", "system_instruction") == asked.native.place((0, "request", "messages", 0))
    (shape,) = check((asked,), rules=["native/request-shape"])
    assert Status.PASSED is shape.status


def test_a_system_instruction_that_is_a_text_is_reported() -> None:
    body = {"systemInstruction": "Be brief.", "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    (shape,) = check((Exchange(request=body),), rules=["native/request-shape"])
    assert ["/0/request/systemInstruction"] == [finding.at for finding in shape.findings]


def test_each_candidate_of_a_stream_adds_up_by_its_index() -> None:
    def piece(index: int, text: str) -> dict[str, Any]:
        return {"candidates": [{"index": index, "content": {"role": "model", "parts": [{"text": text}]}}]}

    made = assemble(render([piece(1, "b"), piece(0, "a"), piece(1, "B"), piece(0, "A")]))
    assert made.reply is not None
    texts = [[part["text"] for part in each["content"]["parts"]] for each in made.reply["candidates"]]
    assert [["aA"], ["bB"]] == texts
    assert {0: 1} == made.begins


def test_a_signed_text_of_a_stream_is_not_merged_with_the_text_before_it() -> None:
    signed = {"text": "b", "thoughtSignature": "c2ln"}
    made = assemble(render([chunk({"text": "a"}), chunk(signed), chunk({"text": "c"}, finish="STOP")]))
    assert made.reply is not None
    assert [{"text": "a"}, signed, {"text": "c"}] == made.reply["candidates"][0]["content"]["parts"]


@pytest.mark.parametrize(
    ("identity", "expected"), [("call_1", "call_1"), (None, "call_1"), ("other", "other"), ("earlier", "earlier")]
)
def test_a_result_belongs_to_the_call_of_its_id_or_else_of_its_name(identity: str | None, expected: str) -> None:
    def answer(ident: str | None) -> dict[str, Any]:
        given = {} if ident is None else {"id": ident}
        return {"role": "user", "parts": [{"functionResponse": {**given, "name": "f", "response": {"output": "9"}}}]}

    def called(ident: str) -> dict[str, Any]:
        return {"role": "model", "parts": [{"functionCall": {"id": ident, "name": "f", "args": {}}}]}

    contents = [called("earlier"), answer("earlier"), called("call_1"), answer(identity)]
    assert expected == translated({"contents": contents}).request["messages"][3]["tool_call_id"]


@pytest.mark.parametrize(
    ("ids", "names", "expected"),
    [
        (("f-1", "f-2"), ("f", "f"), ("turn-0.0", "turn-0.1")),
        (("f-1", "f-1", "f-2", "f-2"), ("f",) * 4, ("turn-0.0", "turn-0.0", "turn-0.1", "turn-0.1")),
        (("f-1", "g-1"), ("f", "g"), ("turn-0.0", "g-1")),
        ((None, "f-2"), ("f", "f"), ("turn-0.0", "turn-0.1")),
    ],
)
def test_a_result_with_an_id_belongs_to_a_call_of_its_name_without_one(
    ids: tuple[str | None, ...], names: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    call = {"functionCall": {"name": "f", "args": {}}}
    answers = [
        {"functionResponse": {**({"id": ident} if ident else {}), "name": name, "response": {"output": "9"}}}
        for ident, name in zip(ids, names, strict=True)
    ]
    contents = [{"role": "model", "parts": [call, call]}, {"role": "user", "parts": answers}]
    messages = translated({"contents": contents}).request["messages"]
    assert expected == tuple([each["tool_call_id"] for each in messages if each["role"] == "tool"])
