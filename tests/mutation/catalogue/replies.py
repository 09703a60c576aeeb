"""Faults of providers in plain and streamed replies: calls, finish reasons, content and reasoning."""

from typing import Any

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import mutation
from tests.mutation.targets import Call, Reply

_REASONING = ("reasoning_content", "reasoning", "reasoning_details")
_CANONICAL = {"reasoning.response-field": ["reasoning_content", "reasoning_details"]}


@mutation(targets.reply_calls, "tool-calls/id-not-empty")
def call_id_emptied(call: Call) -> None:
    """The id of a call is empty."""
    call.first["id"] = ""


@mutation(targets.replies_with_several_calls, "tool-calls/id-unique-in-reply")
def call_ids_shared(reply: Reply) -> None:
    """Two calls of one reply have the same id."""
    reply.calls[1].first["id"] = reply.calls[0].first["id"]


@mutation(targets.replies_with_calls, "tool-calls/id-unique-in-conversation")
def call_id_of_earlier_turn(reply: Reply) -> None:
    """A call has the id of a call of an earlier turn."""
    for message in reply.record["request"]["messages"]:
        for call in message.get("tool_calls", ()):
            reply.calls[-1].first["id"] = call["id"]


@mutation(targets.reply_calls, "tool-calls/id-in-claimed-format", claims={"ids.format": "call_[A-Za-z0-9]+"})
def call_id_of_another_host(call: Call) -> None:
    """The id of a call does not have the claimed format."""
    call.first["id"] = "functions.get_weather:0"


@mutation(targets.reply_calls, "tool-calls/type-present")
def call_type_lost(call: Call) -> None:
    """A call has no type."""
    del call.first["type"]


@mutation(targets.reply_calls, "tool-calls/name-declared")
def call_of_undeclared_function(call: Call) -> None:
    """A call names a function that the request does not declare."""
    call.first["function"]["name"] = "get_wether"


@mutation(targets.reply_calls, "tool-calls/name-declared")
def call_name_in_other_case(call: Call) -> None:
    """The name of a called function is in upper case."""
    call.first["function"]["name"] = call.first["function"]["name"].upper()


@mutation(targets.reply_calls, "shape/choice", "stream/name-once", "tool-calls/name-declared")
def call_name_emptied(call: Call) -> None:
    """A call has an empty name."""
    call.first["function"]["name"] = ""


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_broken(call: Call) -> None:
    """The arguments of a call are cut off."""
    call.set_arguments(call.arguments[:-2])


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_as_list(call: Call) -> None:
    """The arguments of a call are JSON text of a list."""
    call.set_arguments('["Paris"]')


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_twice(call: Call) -> None:
    """The arguments of a call come twice, one after the other."""
    call.set_arguments(call.arguments * 2)


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_encoded_twice(call: Call) -> None:
    """The arguments of a call are JSON text of JSON text."""
    call.set_arguments('"{\\"city\\": \\"Paris\\"}"')


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_in_single_quotes(call: Call) -> None:
    """The arguments of a call are a Python literal."""
    call.set_arguments(call.arguments.replace('"', "'"))


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_with_words(call: Call) -> None:
    """The arguments of a call have text around them."""
    call.set_arguments(f"Here you are: {call.arguments}")


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_emptied(call: Call) -> None:
    """The arguments of a call that requires some are empty text."""
    call.set_arguments("")


@mutation(
    targets.reply_calls,
    "shape/choice",
    "shape/chunk",
    related=("tool-calls/call-not-repeated",),
)
def arguments_as_object(call: Call) -> None:
    """The arguments of a call are an object instead of text."""
    call.set_arguments({"city": "Paris"})


@mutation(targets.reply_calls, "tool-calls/arguments-fit-schema")
def arguments_of_another_name(call: Call) -> None:
    """The arguments of a call lack a required one."""
    call.set_arguments('{"town": "Paris"}')


@mutation(targets.reply_calls, "tool-calls/arguments-fit-schema")
def arguments_of_another_type(call: Call) -> None:
    """An argument of a call has a type that the function does not accept."""
    call.set_arguments('{"city": 75000}')


@mutation(targets.reply_calls, "tool-calls/arguments-fit-schema")
def arguments_none_given(call: Call) -> None:
    """A call passes no argument to a function that requires one."""
    call.set_arguments("{}")


@mutation(targets.replies_with_calls, "response/calls-not-truncated")
def call_truncated(reply: Reply) -> None:
    """The token limit cuts the arguments of the last call."""
    reply.calls[-1].set_arguments(reply.calls[-1].arguments[:-2])
    reply.ending["finish_reason"] = "length"


@mutation(targets.replies_with_calls, "response/finish-reason-matches-tool-calls")
def calls_under_stop(reply: Reply) -> None:
    """A reply with calls ends with stop."""
    reply.ending["finish_reason"] = "stop"


@mutation(targets.replies_without_calls, "response/finish-reason-matches-tool-calls")
def tool_calls_without_calls(reply: Reply) -> None:
    """A reply without calls ends with tool_calls."""
    reply.ending["finish_reason"] = "tool_calls"


@mutation(targets.replies_with_calls, "response/finish-reason-matches-tool-calls")
def calls_under_function_call(reply: Reply) -> None:
    """A reply with tool calls ends with the finish reason of legacy function calls."""
    reply.ending["finish_reason"] = "function_call"


@mutation(targets.replies_with_calls, "response/finish-reason-matches-tool-calls")
def calls_lost(reply: Reply) -> None:
    """The calls of a reply are lost, but its finish reason is still tool_calls."""
    for delta in reply.deltas:
        delta.pop("tool_calls", None)


@mutation(
    targets.replies,
    "response/finish-reason-claimed",
    related=("response/finish-reason-matches-tool-calls",),
    claims={"finish.reasons": ["stop", "length", "tool_calls"]},
)
def finish_reason_of_another_host(reply: Reply) -> None:
    """The finish reason is not among those that the provider is known to send."""
    reply.ending["finish_reason"] = "end_turn"


@mutation(targets.replies_without_calls, "response/message-not-empty")
def reply_emptied(reply: Reply) -> None:
    """A reply has neither content, reasoning nor calls."""
    for delta in reply.deltas:
        for key in ("content", "reasoning_content", "reasoning_details"):
            if key in delta:
                delta[key] = [] if key == "reasoning_details" else ""


@mutation(targets.replies_without_calls, "reasoning/no-think-tags-in-content", related=("reasoning/before-content",))
def reasoning_leaks_into_content(reply: Reply) -> None:
    """The reasoning of a reply is in its content, between tags."""
    reply.put("content", "<think>\nIt is known.\n</think>\n\nRarely.")


@mutation(targets.replies_without_calls, "reasoning/no-think-tags-in-content", related=("reasoning/before-content",))
def reasoning_leaks_without_opening_tag(reply: Reply) -> None:
    """The reasoning of a reply is in its content, with only the closing tag."""
    reply.put("content", "It is known.\n</think>\n\nRarely.")


@mutation(targets.replies_with_reasoning, "reasoning/in-claimed-field", claims=_CANONICAL)
def reasoning_renamed(reply: Reply) -> None:
    """Reasoning comes in another field than the claimed one."""
    reply.rename("reasoning_content", "reasoning")


@mutation(targets.replies_with_reasoning, "response/no-unknown-text-fields")
def reasoning_in_unknown_field(reply: Reply) -> None:
    """Reasoning comes in a field that no client reads."""
    reply.rename("reasoning_content", "reasoning_text")


@mutation(targets.replies, "response/no-unknown-text-fields")
def summary_of_the_reasoning(reply: Reply) -> None:
    """A reply has a summary in a field that the canonical wire does not have."""
    reply.put("summary", "The model looked it up.")


@mutation(targets.replies_with_reasoning, "reasoning/in-claimed-field", claims=_CANONICAL)
def reasoning_in_blocks(reply: Reply) -> None:
    """Reasoning comes in blocks under a field that only gateways know."""
    for delta in reply.deltas:
        reasoning = delta.pop("reasoning_content", None)
        if reasoning:
            delta["thinking_blocks"] = [{"type": "thinking", "thinking": reasoning}]


@mutation(targets.replies_with_reasoning, "reasoning/fields-agree")
def reasoning_differs_between_fields(reply: Reply) -> None:
    """Reasoning comes in two fields with different texts."""
    reply.put("reasoning", "Something else.")


@mutation(targets.replies_with_several_calls, "tool-calls/no-parallel-when-disabled")
def parallel_calls_unasked(reply: Reply) -> None:
    """A reply has several calls although parallel calls are disabled."""
    reply.record["request"]["parallel_tool_calls"] = False


@mutation(targets.replies_with_calls, "tool-calls/none-choice-obeyed")
def calls_ruled_out(reply: Reply) -> None:
    """A reply has calls although tool_choice is none."""
    reply.record["request"]["tool_choice"] = "none"


def _declining(records: Any) -> Any:
    return (reply for reply in targets.replies_without_calls(records) if reply.record["request"].get("tools"))


@mutation(_declining, "tool-calls/required-choice-obeyed")
def required_call_missing(reply: Reply) -> None:
    """A reply has no calls although tool_choice is required."""
    reply.record["request"]["tool_choice"] = "required"


@mutation(_declining, "tool-calls/named-choice-obeyed")
def named_call_missing(reply: Reply) -> None:
    """A reply has no calls although tool_choice names a function."""
    reply.record["request"]["tool_choice"] = {
        "type": "function",
        "function": {"name": reply.record["request"]["tools"][0]["function"]["name"]},
    }


@mutation(targets.replies_with_calls, "tool-calls/named-choice-obeyed")
def another_function_called(reply: Reply) -> None:
    """A reply calls a function other than the one in tool_choice."""
    other = {"type": "function", "function": {"name": "get_rain", "parameters": {"type": "object"}}}
    reply.record["request"]["tools"].append(other)
    reply.record["request"]["tool_choice"] = {"type": "function", "function": {"name": "get_rain"}}


@mutation(targets.plain, "response/choice-count-matches-n")
def choices_not_as_asked(record: Record) -> None:
    """A reply has one choice although two were requested."""
    record["request"]["n"] = 2


@mutation(targets.plain, "response/choice-count-matches-n")
def choice_unasked(record: Record) -> None:
    """A reply has two choices although one was requested."""
    record["response"]["choices"].append({**record["response"]["choices"][0], "index": 1})


@mutation(targets.plain, "response/choice-indexes-distinct")
def choices_share_an_index(record: Record) -> None:
    """Two choices of a reply have the same index."""
    record["request"]["n"] = 2
    record["response"]["choices"] *= 2


@mutation(targets.plain, "shape/response")
def choices_emptied(record: Record) -> None:
    """A reply has no choice."""
    record["response"]["choices"] = []


def _without_reasoning(records: Any) -> Any:
    return (reply for reply in targets.replies_without_calls(records) if not any(map(reply.has, _REASONING)))


@mutation(_without_reasoning, "response/message-not-empty")
def content_null(reply: Reply) -> None:
    """The content of a reply without calls or reasoning is null."""
    for delta in reply.deltas:
        if "content" in delta:
            delta["content"] = None


@mutation(targets.replies, "reasoning/no-think-tags-in-content", related=("reasoning/before-content",))
def reasoning_leaks_unclosed(reply: Reply) -> None:
    """The reasoning of a reply is in its content, with only the opening tag."""
    reply.put("content", "<think>\nIt is known.")


@mutation(targets.reply_calls, "tool-calls/arguments-are-an-object")
def arguments_with_nan(call: Call) -> None:
    """The arguments of a call hold NaN."""
    call.set_arguments('{"city": NaN}')


def _detailed(records: Any) -> Any:
    return (delta for reply in targets.replies(records) for delta in reply.deltas if delta.get("reasoning_details"))


@mutation(_detailed, "shape/choice", "shape/chunk")
def detail_without_type(delta: dict[str, Any]) -> None:
    """A block of structured reasoning has no type."""
    del delta["reasoning_details"][0]["type"]
