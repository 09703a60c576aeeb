"""The deviations of probes about messages, ids, calls, results and parameters: each changes one thing."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from conformance.documents.pointer import copied
from conformance.suite.changed_requests import (
    ChangedRequest,
    Inapplicable,
    assistant_messages,
    compact,
    last_results,
    rename,
    tool_turns,
)
from conformance.wire.ids import positional_ids
from conformance.wires.messages import NAME as MESSAGES

Body: TypeAlias = dict[str, Any]


def _results_missing(request: ChangedRequest) -> None:
    del request.messages[last_results(request.messages)[-1]]


def _results_failed(request: ChangedRequest) -> None:
    """Mark the last result as that of a tool that failed; raises Inapplicable on any wire but Messages."""
    if not any([exchange.protocol == MESSAGES for exchange in request.before]):
        raise Inapplicable
    request.messages[last_results(request.messages)[-1]]["is_error"] = True


def _results_reversed(request: ChangedRequest) -> None:
    run = last_results(request.messages)
    request.messages[run[0] : run[-1] + 1] = [request.messages[position] for position in reversed(run)]


def _results_orphaned(request: ChangedRequest) -> None:
    del request.messages[last_results(request.messages)[0] - 1]


def _results_duplicated(request: ChangedRequest) -> None:
    last = last_results(request.messages)[-1]
    request.messages.insert(last + 1, copied(request.messages[last]))


def _results_unknown(request: ChangedRequest) -> None:
    """Make the last result answer an id that no call has."""
    last = request.messages[last_results(request.messages)[-1]]
    last["tool_call_id"] = _altered(last.get("tool_call_id", ""), "ab")


def _altered(known: Any, letters: str) -> str:
    """Return an id with another last letter; that of a provider may be a number."""
    text = str(known)
    return text[:-1] + (letters[0] if text[-1:] != letters[0] else letters[1])


def _results_interrupted(request: ChangedRequest) -> None:
    request.messages.insert(last_results(request.messages)[0], {"role": "user", "content": "Go on."})


def _results_as_parts(request: ChangedRequest) -> None:
    for message in request.messages:
        if message["role"] == "tool":
            message["content"] = [{"type": "text", "text": message["content"]}]


def _results_empty(request: ChangedRequest) -> None:
    request.messages[last_results(request.messages)[-1]]["content"] = ""


def _results_null(request: ChangedRequest) -> None:
    request.messages[last_results(request.messages)[-1]]["content"] = None


def _results_without_id(request: ChangedRequest) -> None:
    request.messages[last_results(request.messages)[-1]].pop("tool_call_id", None)


_LONG: Final = "call_" + 42 * "x"
_FORMS: Final[Mapping[str, str]] = {
    "counted": "call_{number}",
    "long": _LONG + "{number}",
    "nine": "a1B2c3D4{number}",
    "positional": "{positional}",
    "empty": "",
}


def _ids(request: ChangedRequest, form: str) -> None:
    """Give every call of the history, and its result, an id in another provider's form."""
    number = 0
    for turn in tool_turns(request.messages):
        for call in turn["tool_calls"]:
            positional = positional_ids(call["function"]["name"], number)[0]
            rename(request.messages, turn, call, _FORMS[form].format(number=number, positional=positional))
            number += 1


def _ids_absent(request: ChangedRequest) -> None:
    """Remove the ids of all calls; their results keep them."""
    for turn in tool_turns(request.messages):
        for call in turn["tool_calls"]:
            call.pop("id", None)


def _ids_rewritten(request: ChangedRequest) -> None:
    """Change one character of every id, in calls and results."""
    for turn in tool_turns(request.messages):
        for call in turn["tool_calls"]:
            rename(request.messages, turn, call, _altered(call.get("id", ""), "12"))


def _ids_colliding(request: ChangedRequest) -> None:
    """Give the calls of every later tool turn, and their results, the id of the first turn's call."""
    first, *later = tool_turns(request.messages) or [{}]
    for turn in later:
        rename(request.messages, turn, turn["tool_calls"][0], first["tool_calls"][0].get("id", ""))


def _ids_colliding_in_message(request: ChangedRequest) -> None:
    for turn in tool_turns(request.messages):
        for call in turn["tool_calls"][1:]:
            rename(request.messages, turn, call, turn["tool_calls"][0].get("id", ""))


_CONTENTS: Final[Mapping[str, Any]] = {
    "null": None,
    "empty": "",
    "empty-list": [],
    "parts": [{"type": "text", "text": "One moment."}],
    "text": "One moment.",
}


def _content(request: ChangedRequest, form: str, on: str = "tool") -> None:
    """Write the content of tool turns or plain turns in another form; `absent` omits the key."""
    for message in assistant_messages(request.messages, on):
        if form == "absent":
            message.pop("content", None)
        else:
            message["content"] = copied(_CONTENTS[form])


def _unknown_field(request: ChangedRequest, on: str, key: str = "x_note") -> None:
    """Add an unknown key to the last message of a role, or to a call or content part."""
    holders: Mapping[str, Callable[[], Body]] = {
        "call": lambda: assistant_messages(request.messages, "tool")[-1]["tool_calls"][0],
        "part": lambda: _part(request.messages),
    }
    if on in holders:
        holders[on]()[key] = 0
        return
    of_role = [message for message in request.messages if message["role"] == on]
    if not of_role:
        raise Inapplicable
    of_role[-1][key] = "kept for later"


def _part(messages: list[Body]) -> Body:
    user = next(message for message in messages if message["role"] == "user")
    user["content"] = [{"type": "text", "text": user["content"]}]
    part: Body = user["content"][0]
    return part


_ARGUMENTS: Final[Mapping[str, Any]] = {"malformed": '{"city": "Par', "empty": "", "array": "[]"}


def _arguments(request: ChangedRequest, form: str) -> None:
    """Write the arguments of the last tool turn's first call in another form."""
    function = assistant_messages(request.messages, "tool")[-1]["tool_calls"][0]["function"]
    function["arguments"] = {"city": "Paris"} if form == "object" else _ARGUMENTS[form]


def _tool_choice(request: ChangedRequest, choice: str) -> None:
    tools = request.body.get("tools") or [{"function": {"name": "get_weather"}}]
    name = "get_nothing" if choice == "undeclared" else tools[0]["function"]["name"]
    named = {"type": "function", "function": {"name": name}}
    request.body["tool_choice"] = named if choice in ("named", "undeclared") else choice


def _message(request: ChangedRequest, role: str, at: str = "first") -> None:
    """Add a message of a role at the beginning or the end."""
    place = 0 if at == "first" else len(request.messages)
    request.messages.insert(place, {"role": role, "content": "Be brief."})


def _empty_part(request: ChangedRequest) -> None:
    user = next(message for message in request.messages if message["role"] == "user")
    user["content"] = [{"type": "text", "text": user["content"]}, {"type": "text", "text": ""}]


def _stored(request: ChangedRequest) -> None:
    """Sort the keys of every object, as storing and loading a session may do."""
    request.body["messages"] = _sorted(request.messages)


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _compacted(request: ChangedRequest, to: str) -> None:
    """Replace the history by a summary, up to the last user message or the last results."""
    compact(request.messages, to)


def _tools_dropped(request: ChangedRequest) -> None:
    """Omit the tools, although the history has calls."""
    request.body.pop("tools", None)


def _tools_empty(request: ChangedRequest) -> None:
    request.body["tools"] = []


def _calls_empty(request: ChangedRequest) -> None:
    """Add an assistant message with an empty list of calls, and a user message after it."""
    empty = {"role": "assistant", "content": "Yes?", "tool_calls": []}
    request.messages.extend([empty, {"role": "user", "content": "Go on."}])


def _unknown_parameter(request: ChangedRequest) -> None:
    request.body["x_note"] = "kept for later"


def _system_as_parts(request: ChangedRequest) -> None:
    request.messages.insert(0, {"role": "system", "content": [{"type": "text", "text": "Be brief."}]})


CHANGES: Final[Mapping[str, Callable[..., None]]] = {
    "results-missing": _results_missing,
    "results-failed": _results_failed,
    "results-reversed": _results_reversed,
    "results-orphaned": _results_orphaned,
    "results-duplicated": _results_duplicated,
    "results-unknown": _results_unknown,
    "results-interrupted": _results_interrupted,
    "results-as-parts": _results_as_parts,
    "results-empty": _results_empty,
    "results-null": _results_null,
    "results-without-id": _results_without_id,
    "ids": _ids,
    "ids-absent": _ids_absent,
    "ids-rewritten": _ids_rewritten,
    "ids-colliding": _ids_colliding,
    "ids-colliding-in-message": _ids_colliding_in_message,
    "content": _content,
    "unknown-field": _unknown_field,
    "arguments": _arguments,
    "tool-choice": _tool_choice,
    "message": _message,
    "empty-part": _empty_part,
    "stored": _stored,
    "compacted": _compacted,
    "tools-dropped": _tools_dropped,
    "tools-empty": _tools_empty,
    "calls-empty": _calls_empty,
    "unknown-parameter": _unknown_parameter,
    "system-as-parts": _system_as_parts,
}
