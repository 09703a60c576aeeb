"""Vices of clients in what a request asks for: parameters, tools and roles that one provider or another refuses."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any, Final

from conformance.mutation import targets
from conformance.mutation.definition import vice
from conformance.mutation.targets import Slot

_NO: Final = {"status": 400, "message": "No."}
_EFFORTS: Final = {"thinking.efforts": ["low", "high"], "thinking.effort-unknown": _NO}
_BOTH: Final = [{"at": "/temperature", "present": True}, {"at": "/top_p", "present": True}]
_OWN: Final = {"ids.format": "call_[A-Za-z0-9]+", "ids.foreign": "damaged"}


def _declaring(records: Any) -> Any:
    return (body for body in targets.requests(records) if body.get("tools"))


def _not_declaring(records: Any) -> Any:
    return (body for body in targets.requests(records) if not body.get("tools"))


def _with_calls(records: Any) -> Any:
    return (body for body in _declaring(records) if any("tool_calls" in each for each in body["messages"]))


def _ending_with(*roles: str) -> Any:
    """Return a finder of the requests whose last message is of one of these roles."""
    return lambda records: (body for body in targets.requests(records) if body["messages"][-1]["role"] in roles)


@vice(targets.requests, "request/reasoning-effort-known", claims=_EFFORTS)
def effort_unknown(body: dict[str, Any]) -> None:
    """The effort that is asked for is a word that the provider does not know."""
    body["reasoning_effort"] = "ultra"


@vice(targets.tool_turns, "request/tool-call-id-native-format", claims=_OWN)
def id_of_another_host(turn: Slot) -> None:
    """A history holds an id that another host gave, where that does damage."""
    call = turn.value["tool_calls"][-1]
    result = next(each for each in turn.holder[turn.key :] if each.get("tool_call_id") == call["id"])
    call["id"] = result["tool_call_id"] = "toolu_01"


@vice(_ending_with("user"), "request/last-message-not-assistant", claims={"request.last-assistant": _NO})
def answer_begun(body: dict[str, Any]) -> None:
    """A request ends with the beginning of an answer, where the provider does not go on from one."""
    body["messages"].append({"role": "assistant", "content": "It is"})


@vice(_ending_with("user"), "request/last-message-not-tool", claims={"request.last-tool": _NO})
def result_last(body: dict[str, Any]) -> None:
    """A request ends with a result, where the provider goes on from users alone."""
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    call = {"id": "call_last", "type": "function", "function": function}
    body["messages"] += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_last", "content": "18"},
    ]


@vice(targets.requests, "request/max-tokens-field-accepted", claims={"request.max-tokens-fields": ["max_tokens"]})
def bound_under_unread_name(body: dict[str, Any]) -> None:
    """The bound on a reply's length has a name that the provider does not read."""
    body["max_completion_tokens"] = 64


@vice(targets.requests, "request/no-unknown-parameters", claims={"request.unknown-top-field": _NO})
def parameters_of_an_sdk(body: dict[str, Any]) -> None:
    """An SDK's wrapper of parameters is sent as a parameter, where an unknown one is refused."""
    body["extra_body"] = {"top_k": 5}


@vice(_ending_with("tool"), "request/no-user-after-tool-results", claims={"results.user-after": _NO})
def user_after_results(body: dict[str, Any]) -> None:
    """A user message directly follows results, where the provider wants an answer in between."""
    body["messages"].append({"role": "user", "content": "And tomorrow?"})


@vice(
    targets.requests,
    "request/no-conflicting-parameters",
    claims={"request.conflicts": [{"when": _BOTH, "verdict": _NO}]},
)
def parameters_that_exclude_each_other(body: dict[str, Any]) -> None:
    """A request holds two parameters that exclude each other at the provider."""
    body |= {"temperature": 0.5, "top_p": 0.5}


@vice(
    targets.requests,
    "request/parameters-supported",
    claims={"request.unsupported-fields": [{"field": "seed", "refusal": _NO}]},
)
def parameter_unsupported(body: dict[str, Any]) -> None:
    """A request holds a parameter that the provider refuses."""
    body["seed"] = 7


@vice(
    targets.requests,
    "request/parameters-allowed-with-thinking",
    claims={"thinking.mode": "always", "thinking.refused-parameters": ["temperature"]},
)
def temperature_while_thinking(body: dict[str, Any]) -> None:
    """A request sets the temperature of a model that thinks, where that is refused."""
    body["temperature"] = 0.5


@vice(targets.messages("system"), "request/system-content-accepted", claims={"content.parts-on-system": _NO})
def system_in_parts(message: Slot) -> None:
    """The content of a system message is parts where a string is taken alone."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]


@vice(_not_declaring, "request/tool-choice-only-with-tools", claims={"tools.choice-without-tools": _NO})
def tool_choice_alone(body: dict[str, Any]) -> None:
    """A request chooses tools and declares none, where that is refused."""
    body["tool_choice"] = "auto"


@vice(_not_declaring, "request/tool-types-accepted", claims={"tools.wrong-type": _NO})
def tool_of_another_kind(body: dict[str, Any]) -> None:
    """A tool is one of another host's own, where functions are taken alone."""
    body["tools"] = [{"type": "web_search"}]


@vice(
    _with_calls,
    "request/tools-declared-with-history",
    kin=("tool-calls/name-declared",),
    claims={"tools.history-without-tools": _NO},
)
def tools_left_out(body: dict[str, Any]) -> None:
    """A request with calls in its history declares no tools, where that is refused."""
    del body["tools"]


@vice(targets.definitions, "request/tools-have-parameters", claims={"tools.without-parameters": _NO})
def parameters_of_a_function_dropped(tool: dict[str, Any]) -> None:
    """A function is declared without parameters, where that is refused."""
    del tool["function"]["parameters"]


@vice(_not_declaring, "request/tools-supported", claims={"tools.supported": False})
def tools_for_a_model_without(body: dict[str, Any]) -> None:
    """Tools are declared for a model that calls none."""
    body["tools"] = [{"type": "function", "function": {"name": "get_rain"}}]


@vice(targets.requests, "request/user-message-present", claims={"request.no-user": _NO})
def user_never_speaks(body: dict[str, Any]) -> None:
    """A request holds instructions alone, where a user message is demanded."""
    body["messages"] = [{"role": "system", "content": "Greet the world."}]


@vice(targets.definitions, "request/tool-schemas-accepted", claims={"tools.schema-dialect": _NO})
def strict_function_left_open(tool: dict[str, Any]) -> None:
    """A strict function takes arguments that are not declared, where the provider checks that."""
    tool["function"]["strict"] = True
    tool["function"]["parameters"]["additionalProperties"] = True


@vice(targets.requests, "request/response-format-schema-accepted", claims={"request.format-schema": _NO})
def strict_reply_left_open(body: dict[str, Any]) -> None:
    """A strict schema of the reply takes keys that are not declared, where the provider checks that."""
    schema = {"type": "object", "properties": {"places": {"type": "array", "items": {"type": "object"}}}}
    described = {"name": "places", "strict": True, "schema": {**schema, "additionalProperties": False}}
    body["response_format"] = {"type": "json_schema", "json_schema": described}


@vice(
    targets.requests,
    "request/parameter-values-allowed",
    claims={"thinking.fixed-parameters": [{"field": "top_p", "values": [0.95], "refusal": _NO}]},
)
def parameter_of_another_value(body: dict[str, Any]) -> None:
    """A parameter has another value than the one that the provider takes."""
    body["top_p"] = 0.5


@vice(
    targets.requests,
    "request/thinking-switch-supported",
    claims={
        "thinking.mode": "always",
        "thinking.switches": [{"at": "/enable_thinking", "equals": False, "thinks": False}],
        "thinking.off-unsupported": _NO,
    },
)
def thinking_switched_off(body: dict[str, Any]) -> None:
    """Thinking is switched off for a model that always thinks, where that is refused."""
    body["enable_thinking"] = False


@vice(
    _declaring,
    "request/tool-choice-accepted",
    kin=("tool-calls/required-choice-obeyed",),
    claims={"tools.choices": ["auto", "none"], "tools.choice-unsupported": _NO},
)
def tool_choice_unsupported(body: dict[str, Any]) -> None:
    """A call is demanded of a provider that leaves all calls to the model."""
    body["tool_choice"] = "required"
