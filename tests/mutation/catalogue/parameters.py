"""Faults of clients in parameters, tools and roles that some providers reject."""

from typing import Any, Final

from tests.mutation import targets
from tests.mutation.definition import REJECTED, mutation
from tests.mutation.targets import Slot

_EFFORTS: Final = {"thinking.efforts": ["low", "high"], "thinking.effort-unknown": REJECTED}
_BOTH: Final = [{"at": "/temperature", "present": True}, {"at": "/top_p", "present": True}]
_OWN: Final = {"ids.format": "call_[A-Za-z0-9]+", "ids.foreign": "damaged"}


def _with_calls(records: Any) -> Any:
    return (
        body for body in targets.requests_with_tools(records) if any("tool_calls" in each for each in body["messages"])
    )


def _ending_with(*roles: str) -> Any:
    """Return a finder of the requests whose last message is of one of these roles."""
    return lambda records: (body for body in targets.requests(records) if body["messages"][-1]["role"] in roles)


@mutation(targets.requests, "request/reasoning-effort-known", claims=_EFFORTS)
def effort_unknown(body: dict[str, Any]) -> None:
    """The reasoning effort is not one that the provider knows."""
    body["reasoning_effort"] = "ultra"


@mutation(targets.tool_turns, "request/tool-call-id-native-format", claims=_OWN)
def id_of_another_host(turn: Slot) -> None:
    """The history holds a tool call id of another provider, where that corrupts the reply."""
    call = turn.value["tool_calls"][-1]
    result = next(each for each in turn.holder[turn.key :] if each.get("tool_call_id") == call["id"])
    call["id"] = result["tool_call_id"] = "toolu_01"


@mutation(_ending_with("user"), "request/last-message-not-assistant", claims={"request.last-assistant": REJECTED})
def answer_begun(body: dict[str, Any]) -> None:
    """A request ends with the start of an answer, for a provider that does not continue one."""
    body["messages"].append({"role": "assistant", "content": "It is"})


@mutation(_ending_with("user"), "request/last-message-not-tool", claims={"request.last-tool": REJECTED})
def result_last(body: dict[str, Any]) -> None:
    """A request ends with a tool result, for a provider that rejects this."""
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    call = {"id": "call_last", "type": "function", "function": function}
    body["messages"] += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_last", "content": "18"},
    ]


@mutation(targets.requests, "request/max-tokens-field-accepted", claims={"request.max-tokens-fields": ["max_tokens"]})
def bound_under_unread_name(body: dict[str, Any]) -> None:
    """The limit on the length of the reply is in a field that the provider does not read."""
    body["max_completion_tokens"] = 64


@mutation(targets.requests, "request/no-unknown-parameters", claims={"request.unknown-top-field": REJECTED})
def parameters_of_an_sdk(body: dict[str, Any]) -> None:
    """An SDK's extra_body is sent as a parameter, for a provider that rejects unknown ones."""
    body["extra_body"] = {"top_k": 5}


@mutation(_ending_with("tool"), "request/no-user-after-tool-results", claims={"results.user-after": REJECTED})
def user_after_results(body: dict[str, Any]) -> None:
    """A user message directly follows tool results, for a provider that rejects this."""
    body["messages"].append({"role": "user", "content": "And tomorrow?"})


@mutation(
    targets.requests,
    "request/no-conflicting-parameters",
    claims={"request.conflicts": [{"when": _BOTH, "verdict": REJECTED}]},
)
def parameters_that_exclude_each_other(body: dict[str, Any]) -> None:
    """A request has two parameters that the provider rejects together."""
    body |= {"temperature": 0.5, "top_p": 0.5}


@mutation(
    targets.requests,
    "request/parameters-supported",
    claims={"request.unsupported-fields": [{"field": "seed", "refusal": REJECTED}]},
)
def parameter_unsupported(body: dict[str, Any]) -> None:
    """A request has a parameter that the provider rejects."""
    body["seed"] = 7


@mutation(
    targets.requests,
    "request/parameters-allowed-with-thinking",
    claims={"thinking.mode": "always", "thinking.refused-parameters": ["temperature"]},
)
def temperature_while_thinking(body: dict[str, Any]) -> None:
    """A request sets the temperature of a thinking model, for a provider that rejects this."""
    body["temperature"] = 0.5


@mutation(targets.messages("system"), "request/system-content-accepted", claims={"content.parts-on-system": REJECTED})
def system_in_parts(message: Slot) -> None:
    """The content of a system message is a list of parts, for a provider that accepts only strings."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]


@mutation(
    targets.requests_without_tools,
    "request/tool-choice-only-with-tools",
    claims={"tools.choice-without-tools": REJECTED},
)
def tool_choice_alone(body: dict[str, Any]) -> None:
    """A request sets tool_choice without tools, for a provider that rejects this."""
    body["tool_choice"] = "auto"


@mutation(targets.requests_without_tools, "request/tool-types-accepted", claims={"tools.wrong-type": REJECTED})
def tool_of_another_kind(body: dict[str, Any]) -> None:
    """A tool is a built-in of another provider, for one that accepts only functions."""
    body["tools"] = [{"type": "web_search"}]


@mutation(
    _with_calls,
    "request/tools-declared-with-history",
    related=("tool-calls/name-declared",),
    claims={"tools.history-without-tools": REJECTED},
)
def tools_left_out(body: dict[str, Any]) -> None:
    """A request with calls in its history declares no tools, for a provider that rejects this."""
    del body["tools"]


@mutation(targets.definitions, "request/tools-have-parameters", claims={"tools.without-parameters": REJECTED})
def parameters_of_a_function_dropped(tool: dict[str, Any]) -> None:
    """A function is declared without parameters, for a provider that rejects this."""
    del tool["function"]["parameters"]


@mutation(targets.requests_without_tools, "request/tools-supported", claims={"tools.supported": False})
def tools_for_a_model_without(body: dict[str, Any]) -> None:
    """Tools are declared for a model that does not support them."""
    body["tools"] = [{"type": "function", "function": {"name": "get_rain"}}]


@mutation(targets.requests, "request/user-message-present", claims={"request.no-user": REJECTED})
def user_never_speaks(body: dict[str, Any]) -> None:
    """A request has only a system message, for a provider that requires a user message."""
    body["messages"] = [{"role": "system", "content": "Greet the world."}]


@mutation(targets.definitions, "request/tool-schemas-accepted", claims={"tools.schema-dialect": REJECTED})
def strict_function_left_open(tool: dict[str, Any]) -> None:
    """The schema of a strict function permits undeclared arguments, for a provider that checks this."""
    tool["function"]["strict"] = True
    tool["function"]["parameters"]["additionalProperties"] = True


@mutation(
    targets.requests,
    "request/response-format-schema-accepted",
    claims={"request.format-schema": REJECTED},
    related=("response/content-matches-format",),
)
def strict_reply_left_open(body: dict[str, Any]) -> None:
    """The strict schema of the reply permits undeclared keys, for a provider that checks this."""
    schema = {"type": "object", "properties": {"places": {"type": "array", "items": {"type": "object"}}}}
    described = {"name": "places", "strict": True, "schema": {**schema, "additionalProperties": False}}
    body["response_format"] = {"type": "json_schema", "json_schema": described}


@mutation(
    targets.requests,
    "request/parameter-values-allowed",
    claims={"thinking.fixed-parameters": [{"field": "top_p", "values": [0.95], "refusal": REJECTED}]},
)
def parameter_of_another_value(body: dict[str, Any]) -> None:
    """A parameter has another value than the one that the provider accepts."""
    body["top_p"] = 0.5


@mutation(
    targets.requests,
    "request/thinking-switch-supported",
    claims={
        "thinking.mode": "always",
        "thinking.switches": [{"at": "/enable_thinking", "equals": False, "thinks": False}],
        "thinking.off-unsupported": REJECTED,
    },
)
def thinking_switched_off(body: dict[str, Any]) -> None:
    """Thinking is switched off for a model that always thinks, which the provider rejects."""
    body["enable_thinking"] = False


@mutation(
    targets.requests_with_tools,
    "request/tool-choice-accepted",
    related=("tool-calls/required-choice-obeyed",),
    claims={"tools.choices": ["auto", "none"], "tools.choice-unsupported": REJECTED},
)
def tool_choice_unsupported(body: dict[str, Any]) -> None:
    """A call is required of a provider that leaves all calls to the model."""
    body["tool_choice"] = "required"
