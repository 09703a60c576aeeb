"""What a client puts between a reply and its results, and what it changes in each request without meaning to.

A call of the client's own becomes a turn behind the one of the reply; a random token in a prompt stays the first one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any, Final

from conformance.fixes.fixers.history import HOLDERS, call_ids, result_ids
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.wire.values import as_object, objects

ORDER: Final = 14
RULES: Final = ("transcript/*", "messages/prefix-unchanged", "messages/*", "gemini/*", "request/tool-calls-not-split")

_WORD: Final = re.compile(r"\w{1,200}")
_TOKEN: Final = re.compile(r"(?=\w*[0-9])(?=\w*[a-f])[0-9a-f]{4,64}", re.IGNORECASE)
_MOST_TOKENS: Final = 8
_SYSTEM: Final = ("system", "instructions")
_ROLES: Final = ("system", "developer")
_MODEL_ROLES: Final = ("assistant", "model")


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield the request with its own calls in turns of their own, and with the tokens of the request before."""
    holder = next((key for key in HOLDERS if isinstance(problem.request.get(key), list)), "")
    if holder:
        units = problem.request[holder]
        for given in (units, [each for unit in units for each in _split(unit, _ids_of_replies(problem))]):
            if (apart := _apart(given)) is not None:
                title = "send the calls of the client in a turn behind the results of the reply"
                yield Candidate({**problem.request, holder: apart}, title, whole=True)
    if problem.number:
        yield from _with_tokens(problem, as_object(problem.conversation[-2].request))


def _ids_of_replies(problem: ClientProblem) -> set[Any]:
    """Return the ids of all calls that replies of the session made."""
    return {call.get("id") for reply in problem.index.replies for _, call in objects(reply.message.get("tool_calls"))}


def _split(unit: Any, made: set[Any]) -> list[Any]:
    """Return an assistant message, in two if it holds calls of a reply and others."""
    ids = call_ids(unit) if as_object(unit).get("role") in _MODEL_ROLES else []
    own = [each for each in ids if each not in made]
    if not own or len(own) == len(ids):
        return [unit]
    if "tool_calls" in unit:
        kept, others = (
            [call for call in unit["tool_calls"] if (call.get("id") in own) is mine] for mine in (False, True)
        )
        return [{**unit, "tool_calls": kept}, {"role": unit["role"], "content": None, "tool_calls": others}]
    if not isinstance(unit.get("content"), list):
        return [unit]
    kept, others = ([each for each in unit["content"] if (each.get("id") in own) is mine] for mine in (False, True))
    return [{**unit, "content": kept}, {"role": unit["role"], "content": others}]


def _apart(units: Sequence[Any]) -> list[Any] | None:
    """Return the units with each of several assistant messages in a row before the results of its own calls."""
    runs = [(kind, list(run)) for kind, run in groupby(units, key=_kind)]
    changed: list[Any] = []
    skipped = False
    for number, (kind, run) in enumerate(runs):
        following = runs[number + 1][1] if number + 1 < len(runs) and runs[number + 1][0] == "results" else []
        if skipped:
            skipped = False
        elif kind == "calls" and len(run) > 1 and following:
            changed += [each for unit in run for each in (unit, *_results_of(call_ids(unit), following))]
            skipped = True
        else:
            changed += run
    return changed if changed != list(units) else None


def _kind(unit: Any) -> str:
    if as_object(unit).get("role") in _MODEL_ROLES and call_ids(unit):
        return "calls"
    return "results" if result_ids(unit) else "other"


def _results_of(ids: Sequence[Any], results: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of some calls; of a message with several results, those that are theirs."""
    for unit in results:
        key = next((each for each in ("content", "parts") if isinstance(unit.get(each), list)), "")
        held = result_ids(unit)
        if len(held) == 1 or not key:
            yield from [unit] if held[0] in ids else []
            continue
        own = [block for block, identity in zip(unit[key], held, strict=True) if identity in ids]
        if own:
            yield {**unit, key: own}


def _with_tokens(problem: ClientProblem, before: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield the request with the system prompt of the one before, if nothing but random tokens differs."""
    for key in (*_SYSTEM, "messages"):
        earlier, now = (_prompt(each.get(key)) for each in (before, problem.request))
        old, new = list(_texts(earlier)), list(_texts(now))
        if earlier == now or len(old) != len(new):
            continue
        differing = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
        if differing and all(_differ_in_tokens(one, other) for one, other in differing):
            origin = f"/{problem.number - 1}/request/{key}"
            title = "send the prompt of the request before: only a random token differs"
            changed = "\n".join([other for _, other in differing])
            value = (
                [*before[key][: len(earlier)], *problem.request[key][len(earlier) :]] if key == "messages" else earlier
            )
            yield Candidate({**problem.request, key: value}, title, origin, retold=changed)


def _prompt(value: Any) -> Any:
    """Return a prompt, or of messages, those before the first user message."""
    is_list = isinstance(value, list) and any("role" in as_object(each) for each in value)
    return list(takewhile(lambda each: as_object(each).get("role") in _ROLES, value)) if is_list else value


def _texts(prompt: Any) -> Iterator[str]:
    if isinstance(prompt, str):
        yield prompt
    for _, block in objects(prompt):
        yield from _texts(block.get("text", block.get("content")))


def _differ_in_tokens(one: str, other: str) -> bool:
    """Return whether two texts are the same but for a few tokens such as `aa096`, which say nothing to a model."""
    if _WORD.sub("", one) != _WORD.sub("", other):
        return False
    pairs = [each for each in zip(_WORD.findall(one), _WORD.findall(other), strict=False) if each[0] != each[1]]
    return len(pairs) <= _MOST_TOKENS and all(_TOKEN.fullmatch(word) for pair in pairs for word in pair)
