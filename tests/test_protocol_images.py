"""Images on other wires: each has the form that the vendor's SDK sends, and comes back as it was."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from conformance import wires
from conformance.convert.native import native_request
from conformance.wire.media import image_at, media_of
from conformance.wires import NATIVE

DATA = "iVBORw0KGgo="
PNG = image_at(f"data:image/png;base64,{DATA}")
CAT = image_at("https://example.org/cat.png")
SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
TEXT = {"type": "text", "text": "What is this?"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
FORMS: Mapping[str, Mapping[str, Any]] = {
    "messages": {
        "data": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
        "url": {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}},
    },
    "responses": {
        "data": {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
        "url": {"type": "input_image", "image_url": "https://example.org/cat.png"},
    },
    "gemini": {
        "data": {"inlineData": {"mimeType": "image/png", "data": DATA}},
        "url": {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/cat.png"}},
    },
}
IMAGES = {"data": PNG, "url": CAT}


def body(*parts: Mapping[str, Any], result: Any = "9") -> dict[str, Any]:
    """Return a request of chat completions whose user and whose tool show something."""
    messages = [
        {"role": "user", "content": [TEXT, *parts]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]
    return {"model": "m", "messages": messages}


def native(wire: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of chat completions as it is sent on a wire."""
    return wires.by_name(wire).writing.request(given)


def shown(wire: str, sent: Mapping[str, Any]) -> Any:
    """Return the last part of what the user of a native request says."""
    said = {"messages": "messages", "responses": "input", "gemini": "contents"}[wire]
    return sent[said][0]["parts" if wire == "gemini" else "content"][-1]


@pytest.mark.parametrize("kind", IMAGES)
@pytest.mark.parametrize("wire", NATIVE)
def test_an_image_is_sent_in_the_form_of_the_wire(wire: str, kind: str) -> None:
    sent = native_request(body(IMAGES[kind]), (0, 1, 2), wire)
    assert (FORMS[wire][kind], ()) == (shown(wire, sent.body), sent.notes)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", IMAGES)
def test_the_forms_are_those_of_the_vendors_sdks(kind: str) -> None:
    from anthropic.types import ImageBlockParam
    from google.genai.types import Part
    from openai.types.responses import ResponseInputImageParam

    assert FORMS["messages"][kind] == TypeAdapter(ImageBlockParam).validate_python(FORMS["messages"][kind])
    # The SDK demands a detail, which the server does not.
    image = {**FORMS["responses"][kind], "detail": "auto"}
    assert image == TypeAdapter(ResponseInputImageParam).validate_python(image)
    part = Part.model_validate(FORMS["gemini"][kind])
    inline, file = part.inline_data, part.file_data
    kinds = [each.mime_type for each in (inline, file) if each is not None]
    assert ["image/png"] == kinds


@pytest.mark.parametrize("result", ["9", [TEXT, PNG], [PNG], [TEXT, PNG, PNG], [TEXT]], ids=repr)
@pytest.mark.parametrize("wire", NATIVE)
def test_images_come_back_as_they_were(wire: str, result: Any) -> None:
    given = body(PNG, CAT, result=result)
    translated = wires.as_sent(given, wire).request
    said = [message.get("content") for message in translated["messages"]]
    assert [[TEXT, PNG, CAT], None, result] == said


@pytest.mark.parametrize("wire", NATIVE)
@given(parts=st.lists(st.sampled_from([PNG, CAT, TEXT]), min_size=2, max_size=5))
def test_the_order_of_what_a_user_shows_is_kept(wire: str, parts: list[Any]) -> None:
    translated = wires.as_sent({"model": "m", "messages": [{"role": "user", "content": parts}]}, wire).request
    assert parts == translated["messages"][0]["content"]


@pytest.mark.parametrize(("wire", "named"), [("messages", True), ("responses", False), ("gemini", True)])
def test_the_resolution_is_sent_or_named(wire: str, *, named: bool) -> None:
    sent = native_request(body(image_at(CAT["image_url"]["url"], "low")), (0, 1, 2), wire)
    notes = [(note.pointer, note.fixed) for note in sent.notes]
    assert ([("/messages/0/content/1/image_url/detail", True)] if named else []) == notes
    assert {**FORMS[wire]["url"], **({} if named else {"detail": "low"})} == shown(wire, sent.body)


@pytest.mark.parametrize(
    ("wire", "part"),
    [
        ("gemini", {"type": "file", "file": {"file_id": "file-1"}}),
        ("messages", {"type": "file", "file": {"file_data": "data:,x"}}),
        *((wire, SOUND) for wire in NATIVE if wire != "gemini"),
        ("gemini", {"type": "input_audio", "input_audio": {"data": "T2dnUw==", "format": "ogg"}}),
        ("responses", {"type": "file", "file": {"filename": "a.pdf"}}),
        ("messages", image_at("data:image/svg+xml,%3Csvg%3E")),
        ("gemini", image_at("https://example.org/cat")),
        ("gemini", image_at("data:text/plain;base64,eA==")),
        *((wire, {"type": "image_url", "image_url": {}}) for wire in NATIVE),
    ],
)
def test_what_is_not_written_is_a_problem(wire: str, part: Mapping[str, Any]) -> None:
    notes = native_request(body(part), (0, 1, 2), wire).notes
    assert ["/messages/0/content/1"] == [note.pointer for note in notes if not note.fixed]


@pytest.mark.parametrize(
    ("wire", "part"),
    [
        ("messages", {"type": "image", "source": {"type": "file", "file_id": "file-1"}}),
        ("messages", {"type": "image", "source": {"type": "base64", "data": DATA}}),
        ("messages", {"type": "image", "source": 5}),
        ("responses", {"type": "input_image", "file_id": "file-1"}),
        ("responses", {"type": "input_image", "image_url": None}),
        ("gemini", {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/v1/files/abc"}}),
        ("gemini", {"fileData": {"fileUri": "http://["}}),
        ("gemini", {"inlineData": {"mimeType": "video/mp4", "data": 5}}),
    ],
)
def test_what_chat_completions_cannot_hold_keeps_its_own_form(wire: str, part: Mapping[str, Any]) -> None:
    sent = native(wire, body(part))
    assert part == shown(wire, sent)
    translated = wires.as_sent(body(part), wire).request
    assert [TEXT, part] == translated["messages"][0]["content"]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (SOUND, "audio/wav"),
        ({"type": "file", "file": {"file_data": "data:application/pdf;base64,UklGRg=="}}, "application/pdf"),
        ({"type": "file", "file": {"file_data": "data:video/mp4;base64,UklGRg=="}}, "video/mp4"),
    ],
)
def test_gemini_takes_sounds_documents_and_videos_with_their_data(part: Mapping[str, Any], kind: str) -> None:
    assert {"inlineData": {"mimeType": kind, "data": "UklGRg=="}} == shown("gemini", native("gemini", body(part)))
    assert [TEXT, part] == wires.as_sent(body(part), "gemini").request["messages"][0]["content"]
    assert () == native_request(body(part), (0, 1, 2), "gemini").notes


def test_the_notation_of_sdks_is_read_too() -> None:
    part = {"inline_data": {"mime_type": "image/png", "data": DATA}}
    assert [TEXT, PNG] == wires.as_sent(body(part), "gemini").request["messages"][0]["content"]


def test_a_request_is_not_changed_by_its_rendering() -> None:
    given = body(PNG, result=[PNG])
    for wire in NATIVE:
        native(wire, given)
    assert body(PNG, result=[PNG]) == given


@pytest.mark.parametrize("url", [None, 5, "", "data:,x", "data:image/png,x", "https://example.org/a.png"])
def test_only_a_data_url_in_base64_holds_data(url: Any) -> None:
    assert media_of(url) is None
