"""Vices of clients that only some providers mind: each is planted where one refuses it, or where it does damage."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from collections.abc import Sequence
from typing import Any, Final

from conformance.mutation import targets
from conformance.mutation.bases import Record
from conformance.mutation.definition import vice
from conformance.mutation.targets import Slot, keys

_NO: Final = {"status": 400, "message": "No."}
_THINKS: Final = {"thinking.mode": "always"}
_DEMANDED: Final = {**_THINKS, "reasoning.omitted-on-tool-turn": _NO, "reasoning.omitted-on-earlier-tool-turn": _NO}
_READS: Final = {"reasoning.request-field": "reasoning_content", "reasoning.input.reasoning": "ignored"}


def _with_messages(*roles: str) -> Any:
    """Return a finder of the lists of messages that hold one of these roles."""
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


@vice(targets.tool_turns, "request/tool-call-id-length", claims={"ids.input-max-length": {"limit": 40, "refusal": _NO}})
def id_too_long(turn: Slot) -> None:
    """The id of a call is longer than the provider takes."""
    _rename(turn, 0, f"call_{'x' * 60}")


@vice(
    targets.tool_turns,
    "request/tool-call-id-pattern",
    claims={"ids.input-pattern": {"pattern": "[a-zA-Z0-9_]+", "refusal": _NO}},
)
def id_with_foreign_characters(turn: Slot) -> None:
    """The id of a call has characters that the provider does not take."""
    _rename(turn, 0, "functions.get_weather:0")


@vice(targets.tool_turns, "request/tool-call-id-not-empty", claims={"ids.empty-in-request": _NO})
def id_emptied_in_history(turn: Slot) -> None:
    """The id of a call and of its result is empty."""
    _rename(turn, 0, "")


@vice(targets.later_turns, "request/tool-call-ids-unique", claims={"ids.duplicate-in-request": _NO})
def id_of_earlier_turn_in_history(turn: Slot) -> None:
    """The id of a call is that of a call of an earlier turn."""
    first = next(message for message in turn.holder if "tool_calls" in message)
    _rename(turn, 0, first["tool_calls"][0]["id"])


@vice(targets.parallel_turns, "request/tool-call-ids-unique-in-message", claims={"ids.duplicate-in-message": _NO})
def ids_shared_in_history(turn: Slot) -> None:
    """Two calls of one message have the same id."""
    _rename(turn, 1, turn.value["tool_calls"][0]["id"])


@vice(targets.messages("user"), "request/roles-alternate", claims={"request.successive-same-role": _NO})
def user_twice_in_a_row(message: Slot) -> None:
    """Two user messages come one after the other."""
    message.holder.insert(message.key, {"role": "user", "content": "Hello?"})


@vice(targets.messages("system"), "request/one-system-message", claims={"request.several-system": _NO})
def system_twice(message: Slot) -> None:
    """There are two system messages."""
    message.holder.insert(message.key, {"role": "system", "content": "Be brief."})


@vice(_with_messages("user"), "request/system-first", claims={"request.system-position": _NO})
def system_last(messages: list[Any]) -> None:
    """A system message comes last."""
    messages.append({"role": "system", "content": "Be brief."})


@vice(targets.messages("system"), "request/roles-accepted", claims={"request.developer-role": _NO})
def system_as_developer(message: Slot) -> None:
    """Instructions stand under the role developer where it is not taken."""
    message.value["role"] = "developer"


@vice(targets.messages("user"), "request/content-parts-accepted", claims={"request.image-parts": _NO})
def image_where_refused(message: Slot) -> None:
    """A user message holds an image, for a model that reads text alone."""
    said = {"type": "text", "text": message.value["content"]}
    message.value["content"] = [said, {"type": "image_url", "image_url": {"url": "https://example.org/paris.png"}}]


@vice(targets.messages("user", "system"), "request/text-parts-not-empty", claims={"content.empty-text-part": _NO})
def text_part_emptied(message: Slot) -> None:
    """A message holds an empty text part."""
    message.value["content"] = [{"type": "text", "text": ""}]


@vice(targets.messages("tool"), "request/tool-result-content-accepted", claims={"results.content-parts": _NO})
def result_in_parts(result: Slot) -> None:
    """The content of a result is a list of parts where a string is taken alone."""
    result.value["content"] = [{"type": "text", "text": result.value["content"]}]


@vice(targets.messages("tool"), "request/tool-result-content-accepted", claims={"results.content-empty": _NO})
def result_emptied(result: Slot) -> None:
    """A result is empty where that is refused."""
    result.value["content"] = ""


@vice(targets.tool_turns, "request/tool-turn-content-accepted", claims={"content.null-on-tool-turn": "damaged"})
def tool_turn_content_null(turn: Slot) -> None:
    """The content beside calls is null where that does damage."""
    turn.value["content"] = None


@vice(targets.tool_turns, "request/tool-turn-content-accepted", claims={"content.absent-on-tool-turn": _NO})
def tool_turn_content_dropped(turn: Slot) -> None:
    """There is no content beside calls where it is demanded."""
    turn.value.pop("content", None)


@vice(
    keys(targets.history_calls, "function/arguments"),
    "request/arguments-are-json",
    claims={"arguments.malformed-in-request": _NO},
)
def history_arguments_broken(slot: Slot) -> None:
    """Broken arguments are sent back to a provider that parses them."""
    slot.put(slot.value[:-2])


@vice(
    targets.definitions,
    "request/tool-names-accepted",
    kin=("tool-calls/name-declared",),
    claims={"request.tool-name-pattern": {"pattern": "[a-zA-Z0-9_-]{1,64}", "refusal": _NO}},
)
def function_with_dots(tool: dict[str, Any]) -> None:
    """The name of a function has a dot."""
    tool["function"]["name"] = "weather.get"


def _declaring(records: Any) -> Any:
    return (body for body in targets.requests(records) if body.get("tools"))


def _not_declaring(records: Any) -> Any:
    return (body for body in targets.requests(records) if not body.get("tools"))


@vice(
    _declaring,
    "request/no-forced-tool-choice-with-thinking",
    kin=("tool-calls/required-choice-obeyed",),
    claims={**_THINKS, "thinking.with-tool-choice": _NO},
)
def call_forced_while_thinking(body: dict[str, Any]) -> None:
    """A call is forced while the model thinks."""
    body["tool_choice"] = "required"


@vice(_not_declaring, "request/no-tools-with-thinking", claims={**_THINKS, "thinking.with-tools": _NO})
def tools_while_thinking(body: dict[str, Any]) -> None:
    """Tools are declared while the model thinks, where both together are refused."""
    body["tools"] = [{"type": "function", "function": {"name": "get_rain"}}]


@vice(targets.reasoned_turns, "reasoning/present-on-tool-turns", claims=_DEMANDED)
def reasoning_left_out(turn: Slot) -> None:
    """The reasoning of a tool turn is left out where it is demanded."""
    del turn.value["reasoning_content"]


@vice(targets.reasoned_turns, "reasoning/present-on-tool-turns", claims=_DEMANDED)
def reasoning_null(turn: Slot) -> None:
    """The reasoning of a tool turn is null where it is demanded."""
    turn.value["reasoning_content"] = None


@vice(targets.reasoned_turns, "reasoning/present-on-tool-turns", claims=_DEMANDED)
def reasoning_under_unread_name(turn: Slot) -> None:
    """The reasoning of a tool turn comes under a name that the provider does not read, where it is demanded."""
    turn.value["reasoning"] = turn.value.pop("reasoning_content")


def _current(records: Any) -> Any:
    """Yield the tool turns with reasoning after the last user message."""
    for turn in targets.reasoned_turns(records):
        if all(message["role"] != "user" for message in turn.holder[turn.key :]):
            yield turn


@vice(_current, "reasoning/not-empty-where-refused", claims={**_THINKS, "reasoning.empty-on-tool-turn": _NO})
def reasoning_emptied(turn: Slot) -> None:
    """The reasoning of a tool turn is empty where that counts as none."""
    turn.value["reasoning_content"] = ""


@vice(
    targets.tool_turns,
    "reasoning/not-sent-where-refused",
    claims={"reasoning.input.reasoning": _NO},
)
def reasoning_where_refused(turn: Slot) -> None:
    """The reasoning of a tool turn is sent to a provider that refuses the field."""
    turn.value["reasoning"] = "It has to be looked up."


@vice(targets.reasoned_turns, "reasoning/under-accepted-field", claims=_READS)
def reasoning_under_ignored_name(turn: Slot) -> None:
    """The reasoning of a tool turn comes under a name that the provider ignores."""
    turn.value["reasoning"] = turn.value.pop("reasoning_content")


def _reason_on_plain_turns(records: Sequence[Record]) -> None:
    for turn in targets.plain_turns(records):
        turn.value["reasoning_content"] = "It is known."


@vice(
    targets.plain_turns,
    "reasoning/present-on-plain-turns-where-required",
    claims={**_THINKS, "reasoning.omitted-on-plain-turn": _NO},
    prepare=_reason_on_plain_turns,
)
def reasoning_absent_on_plain_turn(turn: Slot) -> None:
    """An answer is sent back without the reasoning that the provider demands there, too."""
    del turn.value["reasoning_content"]


@vice(targets.reasoned_turns, "reasoning/under-one-field", claims={"reasoning.input.both": _NO})
def reasoning_under_both_names(turn: Slot) -> None:
    """The reasoning of a tool turn comes under both names, where that is refused."""
    turn.value["reasoning"] = turn.value["reasoning_content"]


@vice(targets.tool_turns, "request/tool-calls-not-split", claims={"request.calls-after-assistant": _NO})
def words_and_calls_apart(turn: Slot) -> None:
    """What the model said and what it called are sent as two messages, where that is refused."""
    turn.holder.insert(turn.key, {"role": "assistant", "content": "Let me look."})


@vice(
    _with_messages("user"),
    "request/one-trailing-assistant-message",
    claims={"request.several-last-assistant": _NO},
)
def answers_at_the_end(messages: list[Any]) -> None:
    """A request ends with two answers, where that is refused."""
    messages += [{"role": "assistant", "content": "Rarely."}, {"role": "assistant", "content": "It is"}]


def _name_results(records: Sequence[Record]) -> None:
    for result in targets.messages("tool")(records):
        result.value["name"] = "get_weather"


@vice(
    targets.messages("tool"),
    "request/tool-result-name-present",
    claims={"results.name-missing": _NO, "request.known-message-fields": ["name"]},
    prepare=_name_results,
)
def result_without_name(result: Slot) -> None:
    """A tool message lacks the name of its function, where that is demanded."""
    del result.value["name"]


@vice(targets.messages("user"), "request/user-content-accepted", claims={"content.parts-on-user": _NO})
def user_in_parts(message: Slot) -> None:
    """The words of the user are sent as a text part where a string is taken alone."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]
