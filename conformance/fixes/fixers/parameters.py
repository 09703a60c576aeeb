"""Parameters that the provider rejects: left out, renamed, or given the value that it accepts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import copied
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.rules.messages.budget_not_too_small import LEAST_BUDGET
from conformance.wire.native import CHAT
from conformance.wire.values import as_object

ORDER: Final = 40
RULES: Final = (
    "request/*",
    "messages/budget-below-max-tokens",
    "messages/budget-not-too-small",
    "messages/temperature-one-with-thinking",
    "native/no-unknown-fields",
    "native/request-shape",
    "shape/request",
    "responses/one-kind-of-state",
)

CONTENT: Final = frozenset(
    {
        "messages", "input", "contents", "system", "systemInstruction", "system_instruction", "instructions", "tools",
        "functions", "model", "previous_response_id", "conversation", "prompt",
    }
)  # fmt: skip
"""What is no setting: without it, the request says less."""

_UNDECLARED: Final = "request/tools-declared-with-history"
_ANY: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}
_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_AUTO: Final = ("auto", {"type": "auto"})
_POINTERS: Final = re.compile(r"(?<![\w/])/(\w+)")


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield requests with other parameters."""
    request = problem.request
    yield from _renamed_limits(request, problem.place[:1])
    yield from _other_values(request, problem)
    keys = [str(each) for each in problem.place[:1]] or _POINTERS.findall(problem.finding.message)
    for key in keys:
        if key not in request or key in CONTENT:
            continue
        if len(problem.place) > 1:
            yield from _without_member(request, problem)
        else:
            rest = {name: value for name, value in request.items() if name != key}
            yield Candidate(rest, f"leave out {key}", whole=True)
    if "model" not in request and problem.conversation[-1].model:
        yield Candidate({**request, "model": problem.conversation[-1].model}, "name the model", "/0/response/model")
    if request.get("tools") == []:
        yield Candidate({key: value for key, value in request.items() if key != "tools"}, "leave out the empty tools")


def _renamed_limits(request: Mapping[str, Any], at: tuple[Any, ...]) -> Iterator[Candidate]:
    for key in at:
        for other in _LIMITS if key in _LIMITS else ():
            if key in request and other != key and other not in request:
                changed = {other if name == key else name: value for name, value in request.items()}
                yield Candidate(changed, f"send {key} as {other}", whole=True)


def _without_member(request: Mapping[str, Any], problem: ClientProblem) -> Iterator[Candidate]:
    """Yield the request without the one member of a parameter that is at fault."""
    first, *inside = problem.place
    holder = request[str(first)]
    if len(inside) == 1 and isinstance(holder, dict) and inside[0] in holder:
        kept = {key: value for key, value in holder.items() if key != inside[0]}
        yield Candidate({**request, str(first): kept}, f"leave out {inside[0]}")


def _other_values(request: Mapping[str, Any], problem: ClientProblem) -> Iterator[Candidate]:
    budget, limit = as_object(request.get("thinking")).get("budget_tokens"), request.get("max_tokens")
    if isinstance(budget, int) and isinstance(limit, int):
        # The limit counts the thinking, too: raised, the answer keeps the room that it was given.
        yield Candidate({**request, "max_tokens": limit + budget}, "raise max_tokens by the budget")
        raised = {**request["thinking"], "budget_tokens": LEAST_BUDGET}
        limits = {"max_tokens": max(limit, 2 * LEAST_BUDGET)}
        yield Candidate({**request, **limits, "thinking": raised}, "think with the least budget", whole=True)
    if "temperature" in request:
        yield Candidate({**request, "temperature": 1}, "send temperature 1")
    if "tool_choice" in request:
        for value in _AUTO:
            yield Candidate({**request, "tool_choice": value}, "let the model choose the tool")
    for key in ("reasoning_effort",):
        efforts = problem.claims.get("thinking.efforts")
        for value in efforts if key in request and isinstance(efforts, list) else ():
            yield Candidate({**request, key: value}, f"send {key} {value!r}")
    yield from _earlier_tools(request, problem)


def _earlier_tools(request: Mapping[str, Any], problem: ClientProblem) -> Iterator[Candidate]:
    """Yield the request with the tools of an earlier request of the session."""
    for number in range(problem.number - 1, -1, -1):
        tools = as_object(problem.conversation[number].request).get("tools")
        if tools and not request.get("tools"):
            yield Candidate({**request, "tools": tools}, "declare the tools again", f"/{number}/request/tools")
            return
    if problem.rule == _UNDECLARED and not request.get("tools") and problem.exchange.protocol == CHAT:
        names = dict.fromkeys(str(call.name) for call in problem.index.calls if call.place[0] == problem.number)
        tools = [{"type": "function", "function": {"name": name, "parameters": copied(_ANY)}} for name in names]
        yield Candidate({**request, "tools": tools}, "declare the tools of the history, without their parameters")
