"""The turn of a scenario that a request asks for, in the wanted format and cut where its parameters end it.

A request that belongs to no scenario gets a made-up turn.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import Any, Final

import orjson

from conformance import scenarios
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.scenarios import RESULT, Scenario, ScriptTurn, arguments_text
from conformance.schemas import check_schema
from conformance.simulator.instances import obeys, sample
from conformance.simulator.parameters import Parameters
from conformance.wire.text import content_text

CHARACTERS_PER_TOKEN: Final = 4

MAX_CHARACTERS: Final = 64 * 1024
"""The most characters of a reply, over all its choices; a schema and `n` can ask for gigabytes."""

_MAX_SHOWN: Final = 200


def find_scenario(body: Mapping[str, Any]) -> Scenario | None:
    """Return the scenario that begins with the user messages of a request; None if there is none.

    Scenarios for clients are found by their paths only, since some have the same messages.
    """
    prompts = tuple([message.get("content") for message in _messages(body) if message.get("role") == "user"])
    if not prompts or not isinstance(prompts[0], str):
        return None
    beginning = _by_first_prompt().get(prompts[0], ())
    return next((each for each, said in beginning if said[: len(prompts)] == prompts), None)


def next_turn(body: Mapping[str, Any], scenario: Scenario | None, claims: Mapping[str, Any]) -> ScriptTurn:
    """Return the next turn of the script, by the number of assistant messages; otherwise a made-up turn.

    A turn is not used if it calls tools that the request does not offer, or lacks the call that it demands.
    """
    messages = _messages(body)
    if scenario is not None and isinstance(claims.get("request.several-calls"), Mapping):
        messages = _rejoined(messages, scenario)
    offered = _offered(body) if claims.get("tools.supported") is not False else {}
    number = _assistants(messages) - (0 if scenario is None else _assistants(scenario.history))
    if scenario is not None and 0 <= number < len(scenario.turns):
        turn = scenario.turns[number]
        called = [name for name, _ in turn.calls]
        demanded = demanded_call(body, claims)
        if set(called) <= offered.keys() and (not demanded or (called and demanded in ("required", *called))):
            return with_results(turn, messages, claims)
    return with_results(_improvised(demanded_call(body, claims), offered, messages), messages, claims)


def _assistants(messages: Iterable[Mapping[str, Any]]) -> int:
    return len([message for message in messages if message.get("role") == "assistant"])


def _rejoined(messages: Iterable[Mapping[str, Any]], scenario: Scenario) -> list[Mapping[str, Any]]:
    """Return messages in which the calls of a turn that were sent one a message are in one again."""
    sizes = [len(each.get("tool_calls") or ()) for each in scenario.history if each.get("role") == "assistant"]
    expected = iter([*sizes, *[len(turn.calls) for turn in scenario.turns]])
    joined: list[Mapping[str, Any]] = []
    calls: list[Any] = []
    caller, left = -1, 0
    for message in messages:
        own = message.get("tool_calls") if message.get("role") == "assistant" else None
        if isinstance(own, list) and 0 < len(own) <= left:
            left -= len(own)
            calls = [*calls, *own]
            joined[caller] = {**joined[caller], "tool_calls": calls}
            continue
        if message.get("role") == "assistant":
            caller, calls = len(joined), own if isinstance(own, list) else []
            wanted = next(expected, 0)
            left = wanted - len(calls) if calls else 0
        elif message.get("role") != "tool":
            left = 0
        joined.append(message)
    return joined


def with_results(turn: ScriptTurn, messages: Sequence[Any], claims: Mapping[str, Any]) -> ScriptTurn:
    """Return a turn that says the results of a request where the script has their places.

    A provider that is claimed to assign results to calls by position answers results in another order than their calls
    by naming each with a wrong call.
    """
    calls, results = _last_calls(messages)
    turn = _saying(turn, calls, results)
    if claims.get("results.reversed") != "damaged" or turn.calls or not _is_reordered(calls, results):
        return turn
    pairs = [
        f"{_label(call)}: {str(result.get('content'))[:_MAX_SHOWN]}."
        for call, result in zip(calls, results, strict=True)
    ]
    return replace(turn, says=" ".join(["The results:", *pairs]))


def _saying(turn: ScriptTurn, calls: Sequence[Any], results: Sequence[Mapping[str, Any]]) -> ScriptTurn:
    """Return a turn with the results of the calls in the places that its texts have for them."""
    if not RESULT.search(turn.says + turn.thinks):
        return turn
    return saying(turn, _texts(calls, results))


def last_results(messages: Sequence[Any]) -> list[str]:
    """Return the texts of the results at the end of some messages, in the order of the calls before them."""
    return _texts(*_last_calls(messages))


def _texts(calls: Sequence[Any], results: Sequence[Mapping[str, Any]]) -> list[str]:
    by_id = {result.get("tool_call_id"): result for result in results}
    # If ids repeat, only the order is left to tell which result is whose.
    if len(by_id) == len(results):
        results = [by_id.get(call.get("id"), {}) if isinstance(call, dict) else {} for call in calls]
    return [content_text(result.get("content")) for result in results]


def saying(turn: ScriptTurn, texts: Sequence[str]) -> ScriptTurn:
    """Return a turn with texts in the places that it has for the results of the calls."""

    def said(place: re.Match[str]) -> str:
        number = int(place[1])
        return texts[number] if number < len(texts) else ""

    return replace(turn, says=RESULT.sub(said, turn.says), thinks=RESULT.sub(said, turn.thinks))


def _last_calls(messages: Sequence[Any]) -> tuple[list[Any], list[Mapping[str, Any]]]:
    """Return the calls of the last message that has some, and the tool messages at the end of the messages."""
    results = [*takewhile(lambda each: isinstance(each, dict) and each.get("role") == "tool", reversed(messages))][::-1]
    caller = messages[-len(results) - 1] if len(messages) > len(results) else None
    calls = caller.get("tool_calls") if isinstance(caller, dict) else None
    return (calls if isinstance(calls, list) else []), results


def _is_reordered(calls: Sequence[Any], results: Sequence[Mapping[str, Any]]) -> bool:
    wanted = [call.get("id") if isinstance(call, dict) else None for call in calls]
    found = [result.get("tool_call_id") for result in results]
    # By their texts, since ids of several types have no order.
    return wanted != found and sorted(map(repr, wanted)) == sorted(map(repr, found))


def _label(call: Mapping[str, Any]) -> str:
    """Return the first text among the arguments of a call, or the name of its function."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    try:
        arguments = parse_json(str(function.get("arguments")), "arguments")
    except InvalidDocument:
        arguments = None
    values = arguments.values() if isinstance(arguments, dict) else ()
    return next((value for value in values if isinstance(value, str)), str(function.get("name")))


def adapted(turn: ScriptTurn, body: Mapping[str, Any], tools: Sequence[str]) -> ScriptTurn:
    """Return a turn of a script as a model would take it after this request; `tools` are those of the script.

    It calls no tool that is not offered. If the request demands a call and the turn has none, its text goes into a
    call of a tool that is not the script's: some agents only end with such a call.
    """
    offered = _offered(body)
    if not {name for name, _ in turn.calls} <= offered.keys():
        return replace(turn, says=turn.says or "There is no tool for that.", calls=(), ids=())
    others = [function for name, function in offered.items() if name not in tools]
    if turn.calls or not others or not demanded_call(body, {}):
        return turn
    arguments = _arguments(others[0].get("parameters"))
    filled = {name: turn.says if isinstance(value, str) else value for name, value in arguments.items()}
    return replace(turn, says="", calls=((others[0]["name"], filled),))


def demanded_call(body: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
    """Return the call that a request demands of this provider: a function's name, `required`, or an empty string."""
    choice = body.get("tool_choice")
    function = choice.get("function") if isinstance(choice, dict) else None
    allowed = _allowed(body)
    if allowed is not None:
        kind, demand = "allowed_tools", "required" if allowed.get("mode") == "required" else ""
    elif isinstance(function, dict):
        kind, demand = "named", str(function.get("name"))
    elif choice in ("required", "any"):
        kind, demand = "required", "required"
    else:
        return ""
    obeyed = claims.get("tools.choices-obeyed", (kind,))
    if isinstance(obeyed, list) and kind not in obeyed:
        return ""
    if not body.get("tools") and claims.get("tools.choice-without-tools") == "ignored":
        return ""
    return demand


def is_demand_met(body: Mapping[str, Any], claims: Mapping[str, Any]) -> bool:
    """Return True if the tools of a request allow the call that it demands."""
    demanded = demanded_call(body, claims)
    offered = _offered(body) if claims.get("tools.supported") is not False else {}
    return not demanded or demanded in offered or (demanded == "required" and bool(offered))


def earlier_requests(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the requests that led to this one: its history up to each assistant message."""
    listed = body["messages"]
    for position, message in enumerate(listed):
        if isinstance(message, dict) and message.get("role") == "assistant":
            yield {**body, "messages": listed[:position]}


def formatted(turn: ScriptTurn, parameters: Parameters) -> ScriptTurn | None:
    """Return a turn whose answer is JSON that obeys the requested schema; None if no such JSON was found.

    A turn that calls tools keeps its text: the format is that of the answer.
    """
    schema = parameters.schema
    if schema is None or turn.calls:
        return turn
    if check_schema(schema):
        return None
    # Optional keys make the answer say more, but may contradict each other.
    answer = sample(schema, turn.says, optional=True)
    if not obeys(schema, answer):
        answer = sample(schema, turn.says)
    return replace(turn, says=orjson.dumps(answer).decode()) if obeys(schema, answer) else None


def length(turn: ScriptTurn, parameters: Parameters) -> int:
    """Return how many characters a reply has, over all its choices and before it is cut."""
    texts = [turn.thinks, turn.says, *[arguments_text(arguments) for _, arguments in turn.calls]]
    return parameters.choices * sum(map(len, texts))


def bounded(turn: ScriptTurn, parameters: Parameters, *, thinks: bool) -> tuple[ScriptTurn, bool]:
    """Return a turn that ends before a stop text and within the token limit, and whether the limit cut it.

    The limit holds for reasoning, answer and arguments together, in this order, as at most providers.
    """
    turn = _stopped(turn, parameters.stops)
    if parameters.limit is None:
        return turn, False
    left = parameters.limit * CHARACTERS_PER_TOKEN
    calls = [(name, arguments_text(arguments)) for name, arguments in turn.calls]
    texts = [turn.thinks if thinks else "", turn.says, *[text for _, text in calls]]
    if sum([len(text) for text in texts]) <= left:
        return turn, False
    cut: list[str] = []
    for text in texts:
        cut.append(text[:left])
        left -= len(cut[-1])
    kept = tuple([(name, text) for (name, _), text in zip(calls, cut[2:], strict=True) if text])
    return replace(turn, thinks=cut[0], says=cut[1], calls=kept, ids=turn.ids[: len(kept)]), True


@cache
def _by_first_prompt() -> Mapping[str, Sequence[tuple[Scenario, tuple[str, ...]]]]:
    """Return the scenarios for providers with their prompts, by the first of these."""
    found: dict[str, list[tuple[Scenario, tuple[str, ...]]]] = {}
    for scenario in map(scenarios.load, scenarios.names()):
        if not scenario.for_clients and (prompts := scenario.prompts):
            found.setdefault(prompts[0], []).append((scenario, prompts))
    return found


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = body.get("messages")
    return [message for message in listed if isinstance(message, dict)] if isinstance(listed, list) else []


def _offered(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the functions that a request offers and allows, by name."""
    if body.get("tool_choice") == "none":
        return {}
    named = {each["name"]: each for each in _functions(body.get("tools"))}
    allowed = _allowed(body)
    names = named if allowed is None else {each["name"] for each in _functions(allowed.get("tools"))}
    return {name: function for name, function in named.items() if name in names}


def _functions(tools: Any) -> list[Mapping[str, Any]]:
    """Return the functions with names in a list of tools."""
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return [each for each in functions if isinstance(each, dict) and isinstance(each.get("name"), str)]


def _allowed(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the mode and the tools to which `tool_choice` limits a reply, if it is of type allowed_tools."""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict) or choice.get("type") != "allowed_tools":
        return None
    allowed = choice.get("allowed_tools")
    return allowed if isinstance(allowed, dict) else None


def _improvised(demanded: str, offered: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> ScriptTurn:
    """Return a turn for a request of no scenario: one tool call after each user message, then text."""
    if offered and messages and (demanded or messages[-1].get("role") == "user"):
        name = demanded if demanded in offered else next(iter(offered))
        function = offered[name]
        return ScriptTurn(thinks="A tool may help.", calls=((name, _arguments(function.get("parameters"))),))
    return ScriptTurn(thinks="There is enough to answer.", says="This is a simulated answer.")


def _arguments(parameters: Any) -> dict[str, Any]:
    """Return arguments for the required parameters of a tool, with a sample value of each type."""
    made = sample(parameters) if isinstance(parameters, dict) else {}
    return made if isinstance(made, dict) else {}


def _stopped(turn: ScriptTurn, stops: tuple[str, ...]) -> ScriptTurn:
    """Return a turn whose answer ends before the first stop text in it."""
    found = [position for position in [turn.says.find(stop) for stop in stops] if position >= 0]
    return replace(turn, says=turn.says[: min(found)], calls=(), ids=()) if found else turn
