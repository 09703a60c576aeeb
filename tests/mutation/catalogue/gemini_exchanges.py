"""Faults of clients and hosts on the wire of Gemini."""

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from tests.mutation import definition, targets
from tests.mutation.bases import Record
from tests.mutation.definition import REJECTED
from tests.mutation.native_targets import contents, events, parts, replies, where
from tests.mutation.targets import Slot, in_last_request, keys

mutation = partial(definition.mutation, wire="gemini")

_CANDIDATE: Final = "candidates"
_SIGNED_TEXT: Final = {"text": "I look.", "thoughtSignature": "c2lnbmVkLTI="}


def _called(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a reply that hold calls."""
    return [part for part in reply["candidates"][0]["content"]["parts"] if "functionCall" in part]


def _with_calls(records: Any) -> Any:
    return (reply for reply in replies(records) if _called(reply))


_signed_calls = where(parts("model", "functionCall"), lambda part: "thoughtSignature" in part.value)


@mutation(
    _signed_calls,
    "gemini/signature-on-first-call",
    claims={"signature.omitted": REJECTED},
)
def signature_of_call_left_out(part: Slot) -> None:
    """The first call of a step is sent back without its signature."""
    del part.value["thoughtSignature"]


@mutation(
    _signed_calls,
    "gemini/signature-on-first-call",
    claims={"signature.omitted": REJECTED},
)
def signature_on_another_part(part: Slot) -> None:
    """The signature of a call stands on the next part."""
    part.holder[part.key + 1]["thoughtSignature"] = part.value.pop("thoughtSignature")


@mutation(parts("user", "functionResponse"), "gemini/response-named-as-its-call")
def result_of_another_name(part: Slot) -> None:
    """A result has a fixed word in place of the name of its function."""
    part.value["functionResponse"]["name"] = "tool_result"


@mutation(
    where(in_last_request(parts("model", "functionCall")), lambda part: "thoughtSignature" in part.value),
    "reasoning/signatures-resent",
    sessions=True,
)
def signature_of_call_altered(part: Slot) -> None:
    """The signature of a call is not the one that came with it."""
    part.value["thoughtSignature"] = "b3RoZXI="


def _sign_texts(records: Sequence[Record]) -> None:
    """Put a signed text before the calls of plain replies, and where they are sent back."""
    if not all(isinstance(record["response"], dict) for record in records):
        return
    for reply in _with_calls(records):
        reply[_CANDIDATE][0]["content"]["parts"].insert(0, dict(_SIGNED_TEXT))
    for part in list(_signed_calls(records)):
        part.holder.insert(part.key, dict(_SIGNED_TEXT))


@mutation(
    where(in_last_request(parts("model", "text")), lambda part: "thoughtSignature" in part.value),
    "gemini/text-signature-unchanged",
    sessions=True,
    prepare=_sign_texts,
)
def signature_of_text_altered(part: Slot) -> None:
    """The signature of a text is not the one that came with it."""
    part.value["thoughtSignature"] = "b3RoZXI="


@mutation(parts("user", "functionResponse"), "transcript/calls-answered")
def response_left_out(part: Slot) -> None:
    """There are fewer responses than calls."""
    part.drop()


@mutation(parts("user", "functionResponse"), "transcript/result-answers-call")
def response_twice(part: Slot) -> None:
    """There are more responses than calls."""
    part.holder.insert(part.key, part.value)


@mutation(
    where(contents("user"), lambda content: any("functionResponse" in part for part in content.value["parts"])),
    "transcript/results-follow-calls",
)
def responses_too_late(content: Slot) -> None:
    """The user speaks between the calls and their responses."""
    content.holder.insert(content.key, {"role": "user", "parts": [{"text": "Go on."}]})


@mutation(
    where(contents("model"), lambda content: any("functionCall" in part for part in content.value["parts"])),
    "transcript/result-answers-call",
)
def calls_left_out(content: Slot) -> None:
    """Responses follow no calls."""
    content.drop()


@mutation(contents("user"), "native/request-shape")
def role_of_chat_completions(content: Slot) -> None:
    """A content has a role that this wire does not have."""
    content.value["role"] = "assistant"


@mutation(
    keys(parts("model", "functionCall"), "functionCall/name"),
    "native/request-shape",
    related=("transcript/results-in-call-order", "gemini/response-named-as-its-call"),
)
def call_without_name(slot: Slot) -> None:
    """A call is sent back without the name of its function."""
    slot.drop()


@mutation(
    keys(parts("user", "functionResponse"), "functionResponse/name", "functionResponse/response"),
    "native/request-shape",
    related=("gemini/response-named-as-its-call",),
)
def answer_key_dropped(slot: Slot) -> None:
    """A response lacks a required key."""
    slot.drop()


@mutation(
    keys(parts("user", "functionResponse"), "functionResponse/name", "functionResponse/response"),
    "native/request-shape",
    related=("gemini/response-named-as-its-call",),
)
def answer_key_retyped(slot: Slot) -> None:
    """A key of a response has a value of the wrong type."""
    slot.retype()


@mutation(
    keys(targets.requests, "contents", "tools", "systemInstruction"),
    "native/request-shape",
    related=("tool-calls/name-declared",),
)
def gemini_request_key_retyped(slot: Slot) -> None:
    """A key of a request has a value of the wrong type."""
    slot.retype()


@mutation(keys(replies, "candidates", "usageMetadata"), "native/reply-shape", related=("gemini/content-present",))
def gemini_reply_key_retyped(slot: Slot) -> None:
    """A key of a reply has a value of the wrong type."""
    slot.retype()


@mutation(_with_calls, "tool-calls/name-declared")
def gemini_call_of_another_tool(reply: dict[str, Any]) -> None:
    """A reply calls a tool that was not declared."""
    _called(reply)[0]["functionCall"]["name"] = "get_time"


@mutation(_with_calls, "native/reply-shape")
def gemini_call_without_name(reply: dict[str, Any]) -> None:
    """A reply holds a call without the name of a function."""
    del _called(reply)[0]["functionCall"]["name"]


@mutation(_with_calls, "gemini/call-ids-unique")
def gemini_call_twice(reply: dict[str, Any]) -> None:
    """A reply holds a call twice, with one id."""
    part = _called(reply)[0]
    part["functionCall"]["id"] = "call_a"
    reply["candidates"][0]["content"]["parts"].append(copy.deepcopy(part))


@mutation(_with_calls, "native/reply-shape", related=("tool-calls/arguments-are-an-object",))
def gemini_arguments_as_text(reply: dict[str, Any]) -> None:
    """The arguments of a call are text."""
    _called(reply)[0]["functionCall"]["args"] = '{"city":"Paris"}'


@mutation(replies, "usage/adds-up")
def total_of_gemini_wrong(reply: dict[str, Any]) -> None:
    """The total of the tokens is not their sum."""
    reply["usageMetadata"]["totalTokenCount"] += 1


@mutation(targets.exchanges, "error/no-error-in-success")
def gemini_error_as_a_reply(record: Record) -> None:
    """An error comes with status 200."""
    record["response"] = {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}


@mutation(where(events(), lambda event: "finishReason" in event.value[_CANDIDATE][0]), "native/stream-complete")
def gemini_stream_cut(event: Slot) -> None:
    """A stream ends too early."""
    del event.holder[event.key :]


@mutation(
    keys(events(), "candidates", "usageMetadata"),
    "native/event-shape",
    related=("native/stream-complete", "native/reply-shape"),
)
def gemini_event_key_retyped(slot: Slot) -> None:
    """A key of an event has a value of the wrong type."""
    slot.retype()


def _finished(records: Any) -> Any:
    return (candidate for reply in replies(records) for candidate in reply[_CANDIDATE] if "finishReason" in candidate)


@mutation(_finished, "gemini/content-present")
def content_of_candidate_lost(candidate: dict[str, Any]) -> None:
    """A candidate that was not blocked has no parts."""
    candidate["content"] = {"role": "model"}


@mutation(_finished, "gemini/reply-role")
def role_of_candidate_lost(candidate: dict[str, Any]) -> None:
    """The content of a candidate has no role."""
    del candidate["content"]["role"]


@mutation(
    where(events(), lambda event: "finishReason" in event.value[_CANDIDATE][0]),
    "gemini/nothing-after-finish",
)
def text_after_the_finish(event: Slot) -> None:
    """A text comes after the event with the finish reason."""
    late = {**event.value, _CANDIDATE: [{"content": {"parts": [{"text": "Wait."}], "role": "model"}, "index": 0}]}
    event.holder.insert(event.key + 1, late)


@mutation(_with_calls, "gemini/reply-call-signed", claims={"signature.omitted": REJECTED})
def signature_of_reply_lost(reply: dict[str, Any]) -> None:
    """The first call of a reply has no signature, at a provider that rejects calls without one."""
    _called(reply)[0].pop("thoughtSignature", None)


@mutation(parts("model", "functionCall"), "gemini/call-ids-accepted", claims={"gemini.call-ids": REJECTED})
def call_with_an_id_where_it_is_rejected(part: Slot) -> None:
    """A call has an id, at a model that rejects it."""
    part.value["functionCall"]["id"] = "call_1"


@mutation(
    where(contents("user"), lambda content: "functionResponse" in content.value["parts"][0]),
    "gemini/roles-accepted",
    claims={"request.unknown-role": REJECTED},
)
def results_of_the_older_role(content: Slot) -> None:
    """Results have the role function, at a model that takes them only from the user."""
    content.value["role"] = "function"


@mutation(parts("user", "functionResponse"), "native/result-parts-accepted", claims={"results.image-parts": REJECTED})
def file_in_a_response(part: Slot) -> None:
    """A response holds a file, at a model that reads none there."""
    part.value["functionResponse"]["parts"] = [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]


@mutation(parts("model", "functionCall"))
def call_with_an_id(part: Slot) -> None:
    """A call and its response have an id, which is optional."""
    at = next(at for at, content in enumerate(part.record["request"]["contents"]) if content["parts"] is part.holder)
    answers = part.record["request"]["contents"][at + 1]["parts"]
    for number, (call, answer) in enumerate(zip(part.holder, answers, strict=True)):
        call["functionCall"]["id"] = answer["functionResponse"]["id"] = f"call_{number}"


@mutation(targets.requests)
def request_in_snake_case(body: dict[str, Any]) -> None:
    """A request spells a key as the SDK for Python does."""
    body["system_instruction"] = body.pop("systemInstruction")
