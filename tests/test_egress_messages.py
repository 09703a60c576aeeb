"""Egress of messages: forms of content, keys, roles and their order; what cannot be fixed is noted."""

from typing import Any

import pytest

from conformance.convert import egress

REFUSED = {"status": 400, "message": "no"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "18"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
Message = dict[str, Any]


def text(words: str) -> Message:
    return {"type": "text", "text": words}


def says(role: str, content: Any, **more: Any) -> Message:
    return {"role": role, "content": content, **more}


USER, SYSTEM, PLAIN = says("user", "Hi"), says("system", "Be brief."), says("assistant", "Hello")


@pytest.mark.parametrize(
    ("message", "claim", "expected"),
    [
        (says("system", [text("a"), text("b")]), "content.parts-on-system", "ab"),
        (says("user", [text("a"), text("b")]), "content.parts-on-user", "ab"),
        (says("user", [text("a"), text("")]), "content.empty-text-part", [text("a")]),
        (says("user", [text("")]), "content.empty-text-part", ""),
    ],
)
def test_parts_are_changed_to_what_the_provider_accepts(message: Message, claim: str, expected: Any) -> None:
    prepared = egress.prepare([message], {claim: REFUSED})
    assert [{**message, "content": expected}] == prepared.messages
    assert [("/0/content", claim)] == [(note.pointer, note.claim) for note in prepared.notes]
    assert [message] == egress.prepare([message], {}).messages


@pytest.mark.parametrize(
    ("own", "refused", "expected"),
    [
        ("", (), {"content": ""}),
        (None, (), {"content": None}),
        (None, ("null",), {"content": ""}),
        (None, ("null", "empty"), {}),
        ([], ("empty-list",), {"content": ""}),
        ([text("a")], ("parts",), {"content": "a"}),
        ("a", ("empty", "null"), {"content": "a"}),
    ],
)
def test_content_beside_calls_has_a_form_that_is_accepted(own: Any, refused: tuple[str, ...], expected: Any) -> None:
    claims = {f"content.{form}-on-tool-turn": REFUSED for form in refused}
    sent, _ = egress.prepare([says("assistant", own, tool_calls=[CALL]), RESULT], claims).messages
    assert expected == {key: value for key, value in sent.items() if key == "content"}


@pytest.mark.parametrize(
    ("message", "claims", "expected"),
    [
        (says("assistant", ""), {}, []),
        (says("assistant", None), {"content.null-on-plain-turn": REFUSED}, []),
        (says("assistant", ""), {"content.empty-on-plain-turn": "accepted"}, [says("assistant", "")]),
        (says("assistant", None), {"content.empty-on-plain-turn": "accepted"}, [says("assistant", "")]),
        (says("assistant", ""), {"content.absent-on-plain-turn": "accepted"}, [{"role": "assistant"}]),
        (says("assistant", None, refusal="No."), {}, [says("assistant", None, refusal="No.")]),
        (says("assistant", [{"type": "thinking", "thinking": [text("Hm.")]}]), {}, []),
    ],
)
def test_an_empty_answer_is_sent_only_if_that_is_tolerated(
    message: Message, claims: dict[str, Any], expected: list[Message]
) -> None:
    prepared = egress.prepare([USER, message], claims)
    assert [USER, *expected] == prepared.messages
    assert ([message] == expected) is not bool(prepared.notes)


def test_an_empty_result_gets_a_text_if_one_is_required() -> None:
    transcript = [says("assistant", "", tool_calls=[CALL]), {**RESULT, "content": ""}]
    assert transcript == egress.prepare(transcript, {}).messages
    assert (
        "The tool gave no output."
        == egress.prepare(transcript, {"results.content-empty": REFUSED}).messages[1]["content"]
    )


@pytest.mark.parametrize(
    ("message", "claims", "expected"),
    [
        (says("user", "Hi", timestamp=1), {}, USER),
        (says("user", "Hi", timestamp=1), {"request.unknown-message-field": "accepted"}, USER),
        (says("user", "Hi", cache=1), {"request.known-message-fields": ["cache"]}, says("user", "Hi", cache=1)),
        (says("user", "Hi", reasoning_content="Hm."), {}, USER),
        (says("user", [text("a") | {"cache_control": {}}]), {}, says("user", [text("a")])),
        (says("assistant", "Hello", tool_calls=[]), {}, PLAIN),
        (says("assistant", "Hello", tool_calls=None), {}, PLAIN),
        (says("assistant", "Hello", refusal=None), {"request.null-message-fields": REFUSED}, PLAIN),
    ],
)
def test_keys_of_the_client_are_left_out(message: Message, claims: dict[str, Any], expected: Message) -> None:
    prepared = egress.prepare([message], claims)
    assert [expected] == prepared.messages
    assert (message == expected) is not bool(prepared.notes)


def test_a_part_keeps_the_keys_that_its_provider_accepts() -> None:
    message = says("user", [text("a") | {"cache_control": {"type": "ephemeral"}}])
    assert [message] == egress.prepare([message], {"request.unknown-part-field": "accepted"}).messages


@pytest.mark.parametrize(
    ("transcript", "refused", "expected"),
    [
        ([USER, SYSTEM], ["request.system-position"], [SYSTEM, USER]),
        ([SYSTEM, USER, SYSTEM], ["request.several-system"], [says("system", "Be brief.\n\nBe brief."), USER]),
        ([says("developer", "x"), USER], ["request.developer-role"], [says("system", "x"), USER]),
        ([SYSTEM, USER], ["request.system-role"], [says("developer", "Be brief."), USER]),
        ([SYSTEM, USER], ["request.system-role", "request.developer-role"], [says("user", "Be brief."), USER]),
        ([SYSTEM], ["request.no-user"], [says("user", "Be brief.")]),
        ([USER, USER], ["request.successive-same-role"], [says("user", "Hi\n\nHi")]),
        ([USER, says("user", [IMAGE])], ["request.successive-same-role"], [says("user", [text("Hi"), IMAGE])]),
        ([USER, PLAIN, PLAIN], ["request.several-last-assistant"], [USER, says("assistant", "Hello\n\nHello")]),
        (
            [PLAIN, says("assistant", "", tool_calls=[CALL]), RESULT],
            ["request.calls-after-assistant"],
            [says("assistant", "Hello", tool_calls=[CALL]), RESULT],
        ),
        (
            [PLAIN, PLAIN, says("assistant", "", tool_calls=[CALL]), RESULT],
            ["request.calls-after-assistant"],
            [says("assistant", "Hello\n\nHello", tool_calls=[CALL]), RESULT],
        ),
        (
            [says("user", "a", name="ada"), says("user", "b", name="bob")],
            ["request.successive-same-role"],
            [says("user", "a\n\nb")],
        ),
    ],
)
def test_roles_are_changed_to_what_the_provider_accepts(
    transcript: list[Message], refused: list[str], expected: list[Message]
) -> None:
    prepared = egress.prepare(transcript, dict.fromkeys(refused, REFUSED))
    assert expected == prepared.messages
    assert prepared.notes
    assert () == prepared.unfixed
    assert transcript == egress.prepare(transcript, {}).messages


@pytest.mark.parametrize(
    ("transcript", "claim", "pointer"),
    [
        ([], "request.no-messages", ""),
        ([PLAIN], "request.no-user", ""),
        ([USER, PLAIN], "request.last-assistant", "/1"),
        ([USER, says("assistant", "", tool_calls=[CALL]), RESULT], "request.last-tool", "/2"),
        ([says("assistant", "", tool_calls=[CALL]), RESULT, USER], "results.user-after", "/2"),
        ([says("user", [IMAGE])], "request.image-parts", "/0/content/0"),
        ([says("assistant", "Hi", tool_calls=[CALL]), RESULT], "content.text-on-tool-turn", "/0/content"),
    ],
)
def test_what_cannot_be_fixed_stays_and_is_noted(transcript: list[Message], claim: str, pointer: str) -> None:
    prepared = egress.prepare(transcript, {claim: REFUSED})
    assert transcript == prepared.messages
    assert [(pointer, claim)] == [(note.pointer, note.claim) for note in prepared.unfixed]


def test_a_prefilled_answer_is_noted_for_a_thinking_model_that_rejects_it() -> None:
    claims = {"request.prefill-while-thinking": REFUSED, "thinking.mode": "always"}
    assert ["/1"] == [note.pointer for note in egress.prepare([USER, PLAIN], claims).unfixed]
    assert () == egress.prepare([USER, PLAIN], claims | {"thinking.mode": "never"}).unfixed


def test_a_note_is_one_line_with_its_claim() -> None:
    assert "/1/id: sent as x (ids.foreign)" == str(egress.Note("/1/id", "sent as x", "ids.foreign"))
    assert "/: cannot be fixed: nothing" == str(egress.Note("", "nothing", fixed=False))
