"""Puts calls and results where they belong: results after their calls and in their order, each once, none alone.

Nothing is made up: a call or a result that is missing comes from an earlier request or reply of the session.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, Final

import orjson

from conformance import wires
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.wire.native import CHAT
from conformance.wire.values import as_object, objects

ORDER: Final = 15
RULES: Final = ("transcript/*", "gemini/*", "messages/*", "native/*", "request/*", "responses/*", "shape/*")

_QUOTED: Final = re.compile(r"'([^']+)'")
_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")
_RESULT_ROLES: Final = ("tool", "function")
_ROLES: Final[Mapping[str, Mapping[str, str]]] = {
    "messages": {"function": "tool"},
    "contents": {"assistant": "model", "function": "user", "tool": "user"},
}
HOLDERS: Final = ("messages", "input", "contents")


class _Unit:
    """What a request holds in a list, taken apart: calls, results and the rest, each with its key and its holder."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.holder = next((key for key in HOLDERS if isinstance(request.get(key), list)), "")
        self.units: Sequence[Any] = request.get(self.holder, ())


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield requests with their results moved, with repetitions left out, and with what earlier exchanges hold."""
    request = problem.request
    units = _Unit(request)
    if not units.holder:
        return
    yield from _as_before(problem, units)
    yield from problem.once(_rearranged)
    if (swapped := _swapped(units.units, problem.finding.message)) is not None:
        yield Candidate({**request, units.holder: swapped}, "put the results into the order of their calls", whole=True)
    for find in (_with_pairs, _from_earlier, _from_replies, _at_the_server):
        yield from problem.once(find)


def _rearranged(problem: ClientProblem) -> list[Candidate]:
    """Return requests with the same units, in another order, each once, or with other ids and roles."""
    units = _Unit(problem.request)
    return [
        Candidate({**problem.request, units.holder: changed}, title)
        for title, changed in (
            ("send the roles of this wire", _with_roles(units)),
            ("put the results into the order of their calls", _ordered(units.units)),
            ("move each result directly after its call", _adjacent(units.units)),
            ("send each result once", _once(units.units)),
            ("give each result the id of its call", _by_position(units.units)),
        )
        if changed is not None and changed != list(units.units)
    ]


def _with_pairs(problem: ClientProblem) -> list[Candidate]:
    """Return the request with the ids of calls in the results that must be theirs, if there are any."""
    units = _Unit(problem.request)
    paired = _paired(units.units)
    title = "give the result the id of its call"
    return [] if paired is None else [Candidate({**problem.request, units.holder: paired}, title)]


def result_ids(unit: Any) -> list[Any]:
    """Return the ids of the calls that a unit holds the results of; none if it holds anything else."""
    shown = as_object(unit)
    if shown.get("role") in _RESULT_ROLES and "parts" not in shown:
        return [shown.get("tool_call_id")]
    parts = [part for _, part in objects(shown.get("parts"))]
    if parts and all("functionResponse" in part for part in parts):
        return [_gemini_id(part["functionResponse"]) for part in parts]
    if shown.get("type") == "function_call_output":
        return [shown.get("call_id")]
    blocks = [block for _, block in objects(shown.get("content"))]
    if blocks and all(block.get("type") == "tool_result" for block in blocks):
        return [block.get("tool_use_id") for block in blocks]
    return []


def call_ids(unit: Any) -> list[Any]:
    """Return the ids of the calls in a unit, in their order."""
    shown = as_object(unit)
    if shown.get("type") == "function_call":
        return [shown.get("call_id")]
    calls = [call.get("id") for _, call in objects(shown.get("tool_calls"))]
    calls += [_gemini_id(part["functionCall"]) for _, part in objects(shown.get("parts")) if "functionCall" in part]
    blocks = shown.get("content") if shown.get("role") == "assistant" else None
    return calls + [block.get("id") for _, block in objects(blocks) if block.get("type") == "tool_use"]


def _gemini_id(part: Any) -> Any:
    """Return what pairs a call and a result of Gemini: the id, or without one the name."""
    return as_object(part).get("id") or as_object(part).get("name")


def _ordered(units: Sequence[Any]) -> list[Any]:
    """Return the units with each run of results in the order of the calls before it."""
    changed, order, start = list(units), list[Any](), 0
    while start < len(changed):
        ids = call_ids(changed[start])
        if ids:
            order = [*order, *ids] if start and call_ids(changed[start - 1]) else ids
        end = start
        while end < len(changed) and result_ids(changed[end]):
            end += 1
        if end > start:
            changed[start:end] = sorted(changed[start:end], key=lambda unit: _rank(order, result_ids(unit)[0]))
            for number in range(start, end):
                changed[number] = _with_ordered_blocks(changed[number], order)
        start = max(end, start + 1)
    return changed


def _rank(order: Sequence[Any], identity: Any) -> int:
    return order.index(identity) if identity in order else len(order)


def _with_ordered_blocks(unit: dict[str, Any], order: Sequence[Any]) -> dict[str, Any]:
    if unit.get("role") == "user" and isinstance(unit.get("content"), list):
        return {**unit, "content": sorted(unit["content"], key=lambda block: _rank(order, block.get("tool_use_id")))}
    if isinstance(unit.get("parts"), list):
        ranks = {id(part): _rank(order, _gemini_id(part["functionResponse"])) for part in unit["parts"]}
        return {**unit, "parts": sorted(unit["parts"], key=lambda part: ranks[id(part)])}
    return unit


def _adjacent(units: Sequence[Any]) -> list[Any] | None:
    """Return the units with each result after the last unit of the calls that it belongs to."""
    results = [unit for unit in units if result_ids(unit)]
    others = [unit for unit in units if not result_ids(unit)]
    ends: dict[int, list[Any]] = {}
    for result in results:
        owners = [number for number, unit in enumerate(others) if result_ids(result)[0] in call_ids(unit)]
        if not owners:
            return None
        end = owners[-1]
        while end + 1 < len(others) and call_ids(others[end + 1]) and others[end + 1].get("type") == "function_call":
            end += 1
        ends.setdefault(end, []).append(result)
    return [each for number, unit in enumerate(others) for each in (unit, *ends.get(number, ()))]


def _once(units: Sequence[Any]) -> list[Any]:
    """Return the units without the exact repetition of a result or an item that is next to it or has its id."""
    kept: list[Any] = []
    for unit in units:
        ids = result_ids(unit)
        key = next((each for each in ("parts", "content") if ids and isinstance(unit.get(each), list)), "")
        if not ((ids or "id" in as_object(unit)) and unit in kept):
            kept.append({**unit, key: _distinct(unit[key])} if key else unit)
    return kept


def _distinct(blocks: list[Any]) -> list[Any]:
    # Two calls may have the same result; only an id shows that it is that of one call.
    return [
        block
        for number, block in enumerate(blocks)
        if block not in blocks[:number] or ("functionResponse" in block and "id" not in block["functionResponse"])
    ]


def _swapped(units: Sequence[Any], message: str) -> list[Any] | None:
    """Return the units with the two results exchanged that a finding names: their calls may be at the server."""
    named = _QUOTED.findall(message)
    if len(named) != 2:
        return None
    places = [at for at, unit in enumerate(units) if (ids := result_ids(unit)) and ids[0] in named]
    if len(places) != len(named):
        return None
    changed = list(units)
    first, second = places
    changed[first], changed[second] = units[second], units[first]
    return changed


def _paired(units: Sequence[Any]) -> list[Any] | None:
    """Return the units with the id of the only call without a result in each only result without a call after it."""
    changed = list(units)
    waiting: list[Any] = []
    orphans: list[int] = []
    made = {identity for unit in units for identity in call_ids(unit)}
    answered = {identity for unit in units for identity in result_ids(unit)}
    for number, unit in enumerate([*units, None]):
        ids = result_ids(unit)
        if len(ids) == 1 and ids[0] not in made:
            orphans.append(number)
        elif not ids:
            if len(waiting) == len(orphans) == 1 and isinstance(waiting[0], str):
                changed[orphans[0]] = _with_id(changed[orphans[0]], waiting[0])
            elif len(waiting) == len(orphans) == 1:
                _name_call(changed, orphans[0])
            own = [each for each in call_ids(unit) if each not in answered]
            waiting = [*waiting, *own] if as_object(unit).get("type") == "function_call" else own
            orphans = []
    return changed if changed != list(units) else None


def _name_call(units: list[Any], position: int) -> None:
    """Give the call before a result that has no id the id of that result, in place."""
    (identity,) = result_ids(units[position])
    turn = max(number for number in range(position) if call_ids(units[number]))
    calls = [
        call if isinstance(call.get("id"), str) else {**call, "id": identity}
        for call in units[turn].get("tool_calls", ())
    ]
    if isinstance(identity, str) and calls:
        units[turn] = {**units[turn], "tool_calls": calls}


def _with_roles(units: _Unit) -> list[Any]:
    """Return the units with the roles of their wire in place of those of another one."""
    roles = _ROLES.get(units.holder, {})
    return [
        {**unit, "role": roles[unit["role"]]}
        if isinstance(unit, dict) and unit.get("role") in roles and ("tool_call_id" in unit or "parts" in unit)
        else unit
        for unit in units.units
    ]


def _by_position(units: Sequence[Any]) -> list[Any]:
    """Return the units with the ids of calls in as many results that follow them, in their order."""
    changed = list(units)
    for number, unit in enumerate(units):
        ids = call_ids(unit)
        run = list(takewhile(lambda at: len(result_ids(units[at])) == 1, range(number + 1, len(units))))
        if len(ids) == len(run) > 1 and len(set(ids)) == len(ids):
            for identity, at in zip(ids, run, strict=True):
                changed[at] = _with_id(changed[at], identity)
    return changed


def _as_before(problem: ClientProblem, units: _Unit) -> Iterator[Candidate]:
    """Yield the request with what the one before has and this one left out, moved or changed."""
    if not problem.number:
        return
    earlier = _Unit(as_object(problem.conversation[-2].request))
    if earlier.holder != units.holder:
        return
    origin = f"/{problem.number - 1}/request"
    before = [_sorted_text(each) for each in earlier.units]
    merged: list[Any] = []
    matcher = SequenceMatcher(None, before, [_sorted_text(each) for each in units.units], autojunk=False)
    for tag, start, end, new, new_end in matcher.get_opcodes():
        merged += earlier.units[start:end]
        if tag != "equal":
            # What only comes later than it was is not sent twice.
            merged += [each for each in units.units[new:new_end] if _sorted_text(each) not in before]
    yield Candidate({**problem.request, units.holder: merged}, "send what the request before has", origin)
    kept = [*earlier.units, *reply_units(problem, problem.number - 1)]
    tail = units.units[len(kept) :] if len(units.units) > len(kept) else units.units[-1:]
    yield Candidate({**problem.request, units.holder: [*kept, *tail]}, "send what the request before has", origin)
    sent = problem.conversation[-2].request
    lost = {key: sent[key] for key in _SYSTEM if key in sent and key not in problem.request}
    yield Candidate({**problem.request, **lost}, "send what the request before has", origin)


def _sorted_text(unit: Any) -> bytes:
    return orjson.dumps(unit, option=orjson.OPT_SORT_KEYS)


def _with_id(unit: dict[str, Any], identity: Any) -> dict[str, Any]:
    """Return a result with the id of its call."""
    if unit.get("role") in _RESULT_ROLES:
        return {**unit, "role": "tool", "tool_call_id": identity}
    if unit.get("type") == "function_call_output":
        return {**unit, "call_id": identity}
    return {**unit, "content": [{**unit["content"][0], "tool_use_id": identity}]}


def _from_earlier(problem: ClientProblem) -> list[Candidate]:
    """Return the request with the results of its unanswered calls, as earlier requests have them."""
    units = _Unit(problem.request)
    answered = {identity for unit in units.units for identity in result_ids(unit)}
    found = []
    for number in range(problem.number - 1, -1, -1):
        earlier = _Unit(as_object(problem.conversation[number].request))
        known = {ids[0]: unit for unit in earlier.units if len(ids := result_ids(unit)) == 1}
        changed: list[Any] = []
        for unit in units.units:
            changed.append(unit)
            changed += [known[each] for each in call_ids(unit) if each in known and each not in answered]
        if len(changed) > len(units.units):
            title, origin = "send the result that an earlier request has", f"/{number}/request/{earlier.holder}"
            found.append(Candidate({**problem.request, units.holder: changed}, title, origin))
    return found


def _from_replies(problem: ClientProblem) -> list[Candidate]:
    """Return the request with the reply whose calls its results answer, where the client left it out."""
    units = _Unit(problem.request)
    made = {identity for unit in units.units for identity in call_ids(unit)}
    orphans = [(at, ids) for at, unit in enumerate(units.units) if (ids := result_ids(unit)) and not made & set(ids)]
    found = []
    for at, ids in orphans:
        for number in range(problem.number - 1, -1, -1):
            sent, origin = reply_units(problem, number), f"/{number}/response"
            if not any(each in call_ids(unit) for unit in sent for each in ids):
                continue
            # The second one is for a client that sent something else in its place.
            for before in (units.units[:at], units.units[: at - 1]):
                changed = [*before, *sent, *units.units[at:]]
                found.append(Candidate({**problem.request, units.holder: changed}, "send the reply back", origin))
    return found


def reply_units(problem: ClientProblem, number: int) -> list[Any]:
    """Return the units of a request that send the reply of an exchange back, in its own wire; none without a reply."""
    exchange = problem.translated[number]
    if exchange.protocol == CHAT:
        return [
            {key: value for key, value in reply.message.items() if value is not None and key not in ("annotations",)}
            for reply in problem.index.replies
            if reply.place[0] == number
        ][:1]
    native = exchange.native
    own = None if native is None else wires.by_name(exchange.protocol).writing.own(native)
    if own is None:
        return []
    if exchange.protocol == "gemini":
        return [own]
    return list(own) if exchange.protocol == "responses" else [{"role": "assistant", "content": own}]


def without_index(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call without its number in the stream, which no request has."""
    return {key: value for key, value in call.items() if key != "index"}


def _at_the_server(problem: ClientProblem) -> list[Candidate]:
    """Return a request of Responses with the history itself, instead of the id of a reply that the server holds."""
    request = problem.request
    wanted, items = request.get("previous_response_id"), list(request.get("input") or ())
    if not isinstance(wanted, str) or not isinstance(request.get("input"), list):
        return []
    for number in range(problem.number - 1, -1, -1):
        earlier = problem.translated[number]
        if as_object(as_object(earlier.native and earlier.native.reply)).get("id") == wanted:
            asked = problem.conversation[number].request
            given = asked.get("input")
            before = [{"role": "user", "content": given}] if isinstance(given, str) else list(given or ())
            items, wanted = [*before, *reply_units(problem, number), *items], asked.get("previous_response_id")
    if wanted is not None:
        return []
    changed = {key: value for key, value in request.items() if key != "previous_response_id"}
    return [Candidate({**changed, "input": items}, "send the history itself", "/0/request")]
