"""Vices of providers that show in a reply, plain or streamed: calls, finish reasons, content and reasoning."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any

from conformance.mutation import targets
from conformance.mutation.bases import Record
from conformance.mutation.definition import vice
from conformance.mutation.targets import Call, Reply

_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
_CANONICAL = {"reasoning.response-field": ["reasoning_content", "reasoning_details"]}


@vice(targets.reply_calls, "tool-calls/id-not-empty")
def call_id_emptied(call: Call) -> None:
    """The id of a call is empty."""
    call.first["id"] = ""


@vice(targets.calling_twice, "tool-calls/id-unique-in-reply")
def call_ids_shared(reply: Reply) -> None:
    """Two calls of one reply have the same id."""
    reply.calls[1].first["id"] = reply.calls[0].first["id"]


@vice(targets.calling, "tool-calls/id-unique-in-conversation")
def call_id_of_earlier_turn(reply: Reply) -> None:
    """A call has the id of a call of an earlier turn."""
    for message in reply.record["request"]["messages"]:
        for call in message.get("tool_calls", ()):
            reply.calls[-1].first["id"] = call["id"]


@vice(targets.reply_calls, "tool-calls/id-in-claimed-format", claims={"ids.format": "call_[A-Za-z0-9]+"})
def call_id_of_another_host(call: Call) -> None:
    """The id of a call has another form than the provider's ids have."""
    call.first["id"] = "functions.get_weather:0"


@vice(targets.reply_calls, "tool-calls/name-declared")
def call_of_undeclared_function(call: Call) -> None:
    """A call names a function that the request does not declare."""
    call.first["function"]["name"] = "get_wether"


@vice(targets.reply_calls, "tool-calls/name-declared")
def call_name_in_other_case(call: Call) -> None:
    """A call names a declared function in capitals."""
    call.first["function"]["name"] = call.first["function"]["name"].upper()


@vice(targets.reply_calls, "shape/choice", "stream/name-once", "tool-calls/name-declared")
def call_name_emptied(call: Call) -> None:
    """A call has an empty name."""
    call.first["function"]["name"] = ""


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_broken(call: Call) -> None:
    """The arguments of a call end in the middle."""
    call.say(call.arguments[:-2])


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_as_list(call: Call) -> None:
    """The arguments of a call are JSON text of a list."""
    call.say('["Paris"]')


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_twice(call: Call) -> None:
    """The arguments of a call come twice, one after the other."""
    call.say(call.arguments * 2)


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_encoded_twice(call: Call) -> None:
    """The arguments of a call are JSON text of JSON text."""
    call.say('"{\\"city\\": \\"Paris\\"}"')


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_in_single_quotes(call: Call) -> None:
    """The arguments of a call are a literal of Python."""
    call.say(call.arguments.replace('"', "'"))


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_with_words(call: Call) -> None:
    """The arguments of a call have words around them."""
    call.say(f"Here you are: {call.arguments}")


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_emptied(call: Call) -> None:
    """The arguments of a call that needs some are empty."""
    call.say("")


@vice(targets.reply_calls, "shape/choice", "shape/chunk")
def arguments_as_object(call: Call) -> None:
    """The arguments of a call are an object and no text."""
    call.say({"city": "Paris"})


@vice(targets.reply_calls, "tool-calls/arguments-fit-schema")
def arguments_of_another_name(call: Call) -> None:
    """The arguments of a call lack what the function demands."""
    call.say('{"town": "Paris"}')


@vice(targets.reply_calls, "tool-calls/arguments-fit-schema")
def arguments_of_another_type(call: Call) -> None:
    """An argument of a call has a type that the function does not take."""
    call.say('{"city": 75000}')


@vice(targets.reply_calls, "tool-calls/arguments-fit-schema")
def arguments_none_given(call: Call) -> None:
    """A call gives no argument to a function that demands one."""
    call.say("{}")


@vice(targets.calling, "response/calls-not-truncated")
def call_truncated(reply: Reply) -> None:
    """The token limit cuts the arguments of the last call."""
    reply.calls[-1].say(reply.calls[-1].arguments[:-2])
    reply.ending["finish_reason"] = "length"


@vice(targets.calling, "response/finish-reason-matches-tool-calls")
def calls_under_stop(reply: Reply) -> None:
    """A reply with calls ends with stop."""
    reply.ending["finish_reason"] = "stop"


@vice(targets.speaking, "response/finish-reason-matches-tool-calls")
def tool_calls_without_calls(reply: Reply) -> None:
    """A reply without calls ends with tool_calls."""
    reply.ending["finish_reason"] = "tool_calls"


@vice(targets.calling, "response/finish-reason-matches-tool-calls")
def calls_under_function_call(reply: Reply) -> None:
    """A reply with tool calls ends with the word for the calls of before."""
    reply.ending["finish_reason"] = "function_call"


@vice(targets.calling, "response/finish-reason-matches-tool-calls")
def calls_lost(reply: Reply) -> None:
    """The calls of a reply are lost, and its finish reason still tells of them."""
    for piece in reply.pieces:
        piece.pop("tool_calls", None)


@vice(targets.replies, "response/finish-reason-claimed", claims={"finish.reasons": ["stop", "length", "tool_calls"]},
      kin=("response/finish-reason-matches-tool-calls",))  # fmt: skip
def finish_reason_of_another_host(reply: Reply) -> None:
    """A reply ends with a word that the provider is not known to give."""
    reply.ending["finish_reason"] = "end_turn"


@vice(targets.speaking, "response/message-not-empty")
def reply_emptied(reply: Reply) -> None:
    """A reply says nothing at all."""
    for piece in reply.pieces:
        for key in ("content", "reasoning_content", "reasoning_details"):
            if key in piece:
                piece[key] = [] if key == "reasoning_details" else ""


@vice(targets.speaking, "reasoning/no-think-tags-in-content")
def thought_leaks_into_content(reply: Reply) -> None:
    """The thought of a reply stands between tags before the answer."""
    reply.put("content", "<think>\nIt is known.\n</think>\n\nRarely.")


@vice(targets.speaking, "reasoning/no-think-tags-in-content")
def thought_leaks_without_opening_tag(reply: Reply) -> None:
    """The thought of a reply stands before the answer, with the closing tag alone."""
    reply.put("content", "It is known.\n</think>\n\nRarely.")


@vice(targets.reasoning, "reasoning/in-claimed-field", claims=_CANONICAL)
def reasoning_renamed(reply: Reply) -> None:
    """Reasoning comes under another name than the provider is known for."""
    reply.rename("reasoning_content", "reasoning")


@vice(targets.reasoning, "reasoning/in-claimed-field", claims=_CANONICAL)
def reasoning_in_blocks(reply: Reply) -> None:
    """Reasoning comes in blocks under a gateway's own name."""
    for piece in reply.pieces:
        thought = piece.pop("reasoning_content", None)
        if thought:
            piece["thinking_blocks"] = [{"type": "thinking", "thinking": thought}]


@vice(targets.reasoning, "reasoning/fields-agree")
def reasoning_differs_between_fields(reply: Reply) -> None:
    """Reasoning comes under two names with two texts."""
    reply.put("reasoning", "Something else.")


@vice(targets.calling_twice, "tool-calls/no-parallel-when-disabled")
def parallel_calls_unasked(reply: Reply) -> None:
    """A reply holds several calls, where the request asks for one at a time."""
    reply.record["request"]["parallel_tool_calls"] = False


@vice(targets.calling, "tool-calls/none-choice-obeyed")
def calls_ruled_out(reply: Reply) -> None:
    """A reply holds calls, where tool_choice is none."""
    reply.record["request"]["tool_choice"] = "none"


def _declining(records: Any) -> Any:
    return (reply for reply in targets.speaking(records) if reply.record["request"].get("tools"))


@vice(_declining, "tool-calls/required-choice-obeyed")
def required_call_missing(reply: Reply) -> None:
    """A reply calls nothing, where tool_choice is required."""
    reply.record["request"]["tool_choice"] = "required"


@vice(_declining, "tool-calls/named-choice-obeyed")
def named_call_missing(reply: Reply) -> None:
    """A reply calls nothing, where tool_choice names a function."""
    reply.record["request"]["tool_choice"] = {
        "type": "function",
        "function": {"name": reply.record["request"]["tools"][0]["function"]["name"]},
    }


@vice(targets.calling, "tool-calls/named-choice-obeyed")
def another_function_called(reply: Reply) -> None:
    """A reply calls another function than tool_choice names."""
    other = {"type": "function", "function": {"name": "get_rain", "parameters": {"type": "object"}}}
    reply.record["request"]["tools"].append(other)
    reply.record["request"]["tool_choice"] = {"type": "function", "function": {"name": "get_rain"}}


@vice(targets.plain, "response/choice-count-matches-n")
def choices_not_as_asked(record: Record) -> None:
    """A reply has one choice where two were asked for."""
    record["request"]["n"] = 2


@vice(targets.plain, "response/choice-count-matches-n")
def choice_unasked(record: Record) -> None:
    """A reply has two choices where one was asked for."""
    record["response"]["choices"].append({**record["response"]["choices"][0], "index": 1})


@vice(targets.plain, "response/choice-indexes-distinct")
def choices_share_an_index(record: Record) -> None:
    """Two choices of a reply have the same index."""
    record["request"]["n"] = 2
    record["response"]["choices"] *= 2


@vice(targets.plain, "shape/response")
def choices_emptied(record: Record) -> None:
    """A reply has no choice."""
    record["response"]["choices"] = []


def _without_thought(records: Any) -> Any:
    return (reply for reply in targets.speaking(records) if not any(map(reply.has, _THOUGHTS)))


@vice(_without_thought, "response/message-not-empty")
def content_null(reply: Reply) -> None:
    """A reply without calls or reasoning has null for content."""
    for piece in reply.pieces:
        if "content" in piece:
            piece["content"] = None


@vice(targets.replies, "reasoning/no-think-tags-in-content")
def thought_leaks_unclosed(reply: Reply) -> None:
    """The thought of a reply stands in its content and never ends."""
    reply.put("content", "<think>\nIt is known.")


@vice(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_with_nan(call: Call) -> None:
    """The arguments of a call hold a number that JSON does not have."""
    call.say('{"city": NaN}')


def _detailed(records: Any) -> Any:
    return (piece for reply in targets.replies(records) for piece in reply.pieces if piece.get("reasoning_details"))


@vice(_detailed, "shape/choice", "shape/chunk")
def detail_without_type(piece: dict[str, Any]) -> None:
    """A block of structured reasoning does not say what it is."""
    del piece["reasoning_details"][0]["type"]
