"""Faults of clients in messages that only some providers reject or corrupt."""

from collections.abc import Sequence
from typing import Any, Final

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import REJECTED, mutation
from tests.mutation.targets import Slot, keys

_THINKS: Final = {"thinking.mode": "always"}
_REQUIRED: Final = {
    **_THINKS,
    "reasoning.omitted-on-tool-turn": REJECTED,
    "reasoning.omitted-on-earlier-tool-turn": REJECTED,
}
_READS: Final = {"reasoning.request-field": "reasoning_content", "reasoning.input.reasoning": "ignored"}


def _with_messages(*roles: str) -> Any:
    """Return a finder of the lists of messages that contain one of these roles."""
    return lambda records: (
        body["messages"]
        for body in targets.requests(records)
        if any(message["role"] in roles for message in body["messages"])
    )


def _rename(turn: Slot, position: int, identity: str) -> None:
    """Give a call of a tool turn another id, and its result with it."""
    call = turn.value["tool_calls"][position]
    result = next(each for each in turn.holder[turn.key :] if each.get("tool_call_id") == call["id"])
    call["id"] = result["tool_call_id"] = identity


@mutation(
    targets.tool_turns,
    "request/tool-call-id-length",
    claims={"ids.input-max-length": {"limit": 40, "refusal": REJECTED}},
)
def id_too_long(turn: Slot) -> None:
    """The id of a call is longer than the provider accepts."""
    _rename(turn, 0, f"call_{'x' * 60}")


@mutation(
    targets.tool_turns,
    "request/tool-call-id-pattern",
    claims={"ids.input-pattern": {"pattern": "[a-zA-Z0-9_]+", "refusal": REJECTED}},
)
def id_with_foreign_characters(turn: Slot) -> None:
    """The id of a call has characters that the provider rejects."""
    _rename(turn, 0, "functions.get_weather:0")


@mutation(targets.tool_turns, "request/tool-call-id-not-empty", claims={"ids.empty-in-request": REJECTED})
def id_emptied_in_history(turn: Slot) -> None:
    """The id of a call and of its result is empty."""
    _rename(turn, 0, "")


@mutation(targets.later_turns, "request/tool-call-ids-unique", claims={"ids.duplicate-in-request": REJECTED})
def id_of_earlier_turn_in_history(turn: Slot) -> None:
    """The id of a call is that of a call of an earlier turn."""
    first = next(message for message in turn.holder if "tool_calls" in message)
    _rename(turn, 0, first["tool_calls"][0]["id"])


@mutation(
    targets.parallel_turns, "request/tool-call-ids-unique-in-message", claims={"ids.duplicate-in-message": REJECTED}
)
def ids_shared_in_history(turn: Slot) -> None:
    """Two calls of one message have the same id."""
    _rename(turn, 1, turn.value["tool_calls"][0]["id"])


def _single_calls(records: Sequence[Record]) -> Any:
    """Return the tool turns of conversations in which each has one call."""
    return () if any(targets.parallel_turns(records)) else targets.tool_turns(records)


@mutation(_single_calls, "request/one-tool-call-per-message", claims={"request.several-calls": REJECTED})
def second_call_in_history(turn: Slot) -> None:
    """A message has two calls, for a provider that accepts one."""
    call = turn.value["tool_calls"][0]
    turn.value["tool_calls"].append({**call, "id": "call_second"})
    at = next(at for at in range(turn.key, len(turn.holder)) if turn.holder[at].get("tool_call_id") == call["id"])
    turn.holder.insert(at + 1, {**turn.holder[at], "tool_call_id": "call_second"})


@mutation(targets.messages("user"), "request/roles-alternate", claims={"request.successive-same-role": REJECTED})
def user_twice_in_a_row(message: Slot) -> None:
    """Two user messages follow each other."""
    message.holder.insert(message.key, {"role": "user", "content": "Hello?"})


@mutation(targets.messages("system"), "request/one-system-message", claims={"request.several-system": REJECTED})
def system_twice(message: Slot) -> None:
    """A request has two system messages, for a provider that rejects this."""
    message.holder.insert(message.key, {"role": "system", "content": "Be brief."})


@mutation(_with_messages("user"), "request/system-first", claims={"request.system-position": REJECTED})
def system_last(messages: list[Any]) -> None:
    """A system message comes last, for a provider that rejects this."""
    messages.append({"role": "system", "content": "Be brief."})


@mutation(targets.messages("system"), "request/roles-accepted", claims={"request.developer-role": REJECTED})
def system_as_developer(message: Slot) -> None:
    """Instructions have the role developer, for a provider that rejects it."""
    message.value["role"] = "developer"


@mutation(targets.messages("user"), "request/content-parts-accepted", claims={"request.image-parts": REJECTED})
def image_where_refused(message: Slot) -> None:
    """A user message has an image, for a model that accepts only text."""
    text_part = {"type": "text", "text": message.value["content"]}
    message.value["content"] = [text_part, {"type": "image_url", "image_url": {"url": "https://example.org/paris.png"}}]


@mutation(
    targets.messages("user", "system"), "request/text-parts-not-empty", claims={"content.empty-text-part": REJECTED}
)
def text_part_emptied(message: Slot) -> None:
    """A message holds an empty text part."""
    message.value["content"] = [{"type": "text", "text": ""}]


@mutation(targets.messages("tool"), "request/tool-result-content-accepted", claims={"results.content-parts": REJECTED})
def result_in_parts(result: Slot) -> None:
    """The content of a tool result is a list of parts, for a provider that accepts only strings."""
    result.value["content"] = [{"type": "text", "text": result.value["content"]}]


@mutation(targets.messages("tool"), "request/tool-result-content-accepted", claims={"results.content-empty": REJECTED})
def result_emptied(result: Slot) -> None:
    """A tool result is empty, for a provider that rejects this."""
    result.value["content"] = ""


@mutation(targets.tool_turns, "request/tool-turn-content-accepted", claims={"content.null-on-tool-turn": "damaged"})
def tool_turn_content_null(turn: Slot) -> None:
    """The content of a message with calls is null, where that corrupts the reply."""
    turn.value["content"] = None


@mutation(targets.tool_turns, "request/tool-turn-content-accepted", claims={"content.absent-on-tool-turn": REJECTED})
def tool_turn_content_dropped(turn: Slot) -> None:
    """A message with calls has no content, for a provider that requires it."""
    turn.value.pop("content", None)


@mutation(
    keys(targets.history_calls, "function/arguments"),
    "request/arguments-are-json",
    claims={"arguments.malformed-in-request": REJECTED},
)
def history_arguments_broken(slot: Slot) -> None:
    """Broken arguments are sent back to a provider that parses them."""
    slot.put(slot.value[:-2])


@mutation(
    targets.definitions,
    "request/tool-names-accepted",
    related=("tool-calls/name-declared",),
    claims={"request.tool-name-pattern": {"pattern": "[a-zA-Z0-9_-]{1,64}", "refusal": REJECTED}},
)
def function_with_dots(tool: dict[str, Any]) -> None:
    """The name of a function has a dot, for a provider that rejects this."""
    tool["function"]["name"] = "weather.get"


@mutation(
    targets.requests_with_tools,
    "request/no-forced-tool-choice-with-thinking",
    related=("tool-calls/required-choice-obeyed",),
    claims={**_THINKS, "thinking.with-tool-choice": REJECTED},
)
def call_forced_while_thinking(body: dict[str, Any]) -> None:
    """A call is required of a thinking model, for a provider that rejects this."""
    body["tool_choice"] = "required"


@mutation(
    targets.requests_without_tools,
    "request/no-tools-with-thinking",
    claims={**_THINKS, "thinking.with-tools": REJECTED},
)
def tools_while_thinking(body: dict[str, Any]) -> None:
    """Tools are declared for a thinking model, for a provider that rejects this."""
    body["tools"] = [{"type": "function", "function": {"name": "get_rain"}}]


@mutation(targets.reasoned_turns, "reasoning/present-on-tool-turns", claims=_REQUIRED)
def reasoning_left_out(turn: Slot) -> None:
    """The reasoning of a tool turn is left out, for a provider that requires it."""
    del turn.value["reasoning_content"]


@mutation(targets.reasoned_turns, "reasoning/present-on-tool-turns", claims=_REQUIRED)
def reasoning_null(turn: Slot) -> None:
    """The reasoning of a tool turn is null, for a provider that requires it."""
    turn.value["reasoning_content"] = None


@mutation(targets.reasoned_turns, "reasoning/present-on-tool-turns", claims=_REQUIRED)
def reasoning_under_unread_name(turn: Slot) -> None:
    """The reasoning of a tool turn is in a field that the provider does not read, although it is required."""
    turn.value["reasoning"] = turn.value.pop("reasoning_content")


def _current(records: Any) -> Any:
    """Yield the tool turns with reasoning after the last user message."""
    for turn in targets.reasoned_turns(records):
        if all(message["role"] != "user" for message in turn.holder[turn.key :]):
            yield turn


@mutation(_current, "reasoning/not-empty-where-refused", claims={**_THINKS, "reasoning.empty-on-tool-turn": REJECTED})
def reasoning_emptied(turn: Slot) -> None:
    """The reasoning of a tool turn is empty, for a provider that rejects this."""
    turn.value["reasoning_content"] = ""


@mutation(
    targets.tool_turns,
    "reasoning/not-sent-where-refused",
    claims={"reasoning.input.reasoning": REJECTED},
)
def reasoning_where_refused(turn: Slot) -> None:
    """The reasoning of a tool turn is in a field that the provider rejects."""
    turn.value["reasoning"] = turn.value.get("reasoning_content") or "It has to be looked up."


@mutation(targets.reasoned_turns, "reasoning/under-accepted-field", claims=_READS)
def reasoning_under_ignored_name(turn: Slot) -> None:
    """The reasoning of a tool turn is in a field that the provider ignores."""
    turn.value["reasoning"] = turn.value.pop("reasoning_content")


def _reason_on_plain_turns(records: Sequence[Record]) -> None:
    for turn in targets.plain_turns(records):
        turn.value["reasoning_content"] = "It is known."


@mutation(
    targets.plain_turns,
    "reasoning/present-on-plain-turns-where-required",
    claims={**_THINKS, "reasoning.omitted-on-plain-turn": REJECTED},
    prepare=_reason_on_plain_turns,
)
def reasoning_absent_on_plain_turn(turn: Slot) -> None:
    """An answer is sent back without its reasoning, for a provider that requires it there as well."""
    del turn.value["reasoning_content"]


@mutation(targets.reasoned_turns, "reasoning/under-one-field", claims={"reasoning.input.both": REJECTED})
def reasoning_under_both_names(turn: Slot) -> None:
    """The reasoning of a tool turn is in both fields, for a provider that rejects this."""
    turn.value["reasoning"] = turn.value["reasoning_content"]


@mutation(targets.tool_turns, "request/tool-calls-not-split", claims={"request.calls-after-assistant": REJECTED})
def words_and_calls_apart(turn: Slot) -> None:
    """The text and the calls of a reply are sent as two messages, for a provider that rejects this."""
    turn.holder.insert(turn.key, {"role": "assistant", "content": "Let me look."})


@mutation(
    _with_messages("user"),
    "request/one-trailing-assistant-message",
    claims={"request.several-last-assistant": REJECTED},
)
def answers_at_the_end(messages: list[Any]) -> None:
    """A request ends with two assistant messages, for a provider that rejects this."""
    messages += [{"role": "assistant", "content": "Rarely."}, {"role": "assistant", "content": "It is"}]


def _name_results(records: Sequence[Record]) -> None:
    for result in targets.messages("tool")(records):
        result.value["name"] = "get_weather"


@mutation(
    targets.messages("tool"),
    "request/tool-result-name-present",
    claims={"results.name-missing": REJECTED, "request.known-message-fields": ["name"]},
    prepare=_name_results,
)
def result_without_name(result: Slot) -> None:
    """A tool message lacks the name of its function, for a provider that requires it."""
    del result.value["name"]


@mutation(targets.messages("user"), "request/user-content-accepted", claims={"content.parts-on-user": REJECTED})
def user_in_parts(message: Slot) -> None:
    """The content of a user message is a list of parts, for a provider that accepts only strings."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]
