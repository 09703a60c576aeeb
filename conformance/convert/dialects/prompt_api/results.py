"""The Prompt API's results: the runs that one prompt caused, complete or so far.

A run is an assistant message together with the results of its calls. A stream's chunks are results too, each with
everything so far. On the wire, usage is in replies, not in messages: `run_metadata` reads it from a result, and
`to_result` takes it back.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.convert.dialects import MISCOUNTED
from conformance.convert.dialects.prompt_api import parts
from conformance.documents.pointer import Place, parse, render
from conformance.wire.losses import Converted, Losses
from conformance.wire.pairing import paired_results

COUNTS: Final = {
    "promptTokens": "prompt_tokens",
    "completionTokens": "completion_tokens",
    "totalTokens": "total_tokens",
}
"""The counts of a usage, with their names on the wire."""

Usage: TypeAlias = Mapping[str, int]
Transcript: TypeAlias = Sequence[Mapping[str, Any]]

_WORD: Final = re.compile(r"\s*\S+|\s+")


class RunMetadata(NamedTuple):
    """What no message can hold of a result: each run's usage, as the wire has it, and the durations of its calls."""

    usages: tuple[dict[str, int], ...]
    durations: tuple[tuple[float | None, ...], ...]


class Miscount(NamedTuple):
    """A token count that does not add up: its pointer, and "expected …, got …"."""

    pointer: str
    message: str


def from_result(result: Mapping[str, Any]) -> Converted:
    """Return the messages of a result's runs: an assistant message each, and those of its tools."""
    losses = Losses()
    if not result["done"]:
        losses.add(("done",), "a transcript has no flag for more to come")
    messages: list[dict[str, Any]] = []
    for number, run in enumerate(result["runs"]):
        messages += _messages(run, ("runs", number), losses)
    losses.add(("usage",), "on the wire, usage is in replies, not in messages")
    for found in miscounts(result):
        losses.add(parse(found.pointer), f"{MISCOUNTED}: {found.message}")
    return losses.converted(messages)


def run_metadata(result: Mapping[str, Any]) -> RunMetadata:
    """Return what `from_result` loses because messages cannot hold it, for `to_result`."""
    usages = tuple({there: run["usage"][here] for here, there in COUNTS.items()} for run in result["runs"])
    return RunMetadata(usages, tuple(tuple(tool.get("durationMs") for tool in run["tools"]) for run in result["runs"]))


def to_result(
    canonical: Transcript, usages: Sequence[Usage] = (), durations: Sequence[Sequence[float | None]] = ()
) -> Converted:
    """Return the result of a transcript's last prompt; everything outside its runs is lost.

    `usages` are those of the replies to that prompt, as the wire has them, one per run; a run without one counts zero.
    `durations` are milliseconds, one per call of each run.
    """
    losses = Losses()
    prompts = _prompts(canonical, losses)
    for position in [position for runs in prompts[:-1] for position in runs]:
        for at in (position, *paired_results(canonical, position).values()):
            losses.add((at,), "belongs to the result of an earlier prompt")
    runs = prompts[-1] if prompts else []
    return losses.converted(_result(canonical, runs, usages, durations, losses))


def to_results(
    canonical: Transcript, usages: Sequence[Usage] = (), durations: Sequence[Sequence[float | None]] = ()
) -> Converted:
    """Return the results of a session, one per answered prompt; only the prompts themselves are lost.

    `usages` and `durations` are those of all runs, in their order.
    """
    losses = Losses()
    results = []
    done = 0
    for runs in _prompts(canonical, losses):
        until = done + len(runs)
        results.append(_result(canonical, runs, usages[done:until], durations[done:until], losses))
        done = until
    return losses.converted(results)


def partials(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the partial results of a stream, word by word; the last one is the result.

    The order in each run is thinking, text, calls and their outputs. A run's usage is zero until it ends.
    """
    runs: list[Mapping[str, Any]] = []
    for run in result["runs"]:
        for grown in _growing(run):
            yield {"done": False, "runs": [*runs, grown], "usage": _sum([*runs, grown])}
        runs.append(run)
    yield dict(result)


def extends(later: Mapping[str, Any], earlier: Mapping[str, Any]) -> bool:
    """Return whether one chunk can follow another: that was not the last, and nothing in it changes."""
    pairs = zip(later["runs"], earlier["runs"], strict=False)
    return not earlier["done"] and len(later["runs"]) >= len(earlier["runs"]) and all(_grew(*pair) for pair in pairs)


def miscounts(result: Mapping[str, Any]) -> tuple[Miscount, ...]:
    """Return where usage does not add up: prompt and completion to the total, the runs to the result."""
    places: list[tuple[Place, Usage]] = [
        (("runs", number, "usage"), run["usage"]) for number, run in enumerate(result["runs"])
    ]
    found = []
    for place, usage in [*places, (("usage",), result["usage"])]:
        total = usage["promptTokens"] + usage["completionTokens"]
        if usage["totalTokens"] != total:
            found.append(_miscount((*place, "totalTokens"), "prompt and completion", total, usage["totalTokens"]))
    for name, total in _sum(result["runs"]).items():
        if result["usage"][name] != total:
            found.append(_miscount(("usage", name), "all runs", total, result["usage"][name]))
    return tuple(found)


def _miscount(place: Place, what: str, expected: int, got: int) -> Miscount:
    return Miscount(render(place), f"expected {expected} for {what}, got {got}")


def _sum(runs: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {name: sum(run["usage"][name] for run in runs) for name in COUNTS}


def _messages(run: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": run["text"]}
    if run["thinkingText"]:
        message["reasoning_content"] = run["thinkingText"]
    if run["tools"]:
        message["tool_calls"] = [parts.call_to_wire(tool["id"], tool["name"], tool["args"]) for tool in run["tools"]]
    messages = [message]
    for number, tool in enumerate(run["tools"]):
        at = (*place, "tools", number)
        if "output" in tool:
            body = parts.content_to_wire(tool["output"]["content"], (*at, "output", "content"), "tool", losses)
            # One text becomes a string, which every provider accepts.
            body = body[0]["text"] if len(body) == 1 and isinstance(body, list) else body
            messages.append({"role": "tool", "tool_call_id": tool["id"], "content": body})
        if "durationMs" in tool:
            losses.add((*at, "durationMs"), "the wire has no durations of tool runs")
    losses.add((*place, "usage"), "on the wire, usage is in replies, not in messages")
    return messages


def _prompts(canonical: Transcript, losses: Losses) -> list[list[int]]:
    """Return the positions of the runs of each prompt, and note every message that is part of no run."""
    prompts: list[list[int]] = []
    taken: set[int] = set()
    fresh = True
    for position, message in enumerate(canonical):
        if message["role"] == "assistant":
            prompts += [[]] if fresh else []
            prompts[-1].append(position)
            taken.update(paired_results(canonical, position).values())
            fresh = False
        elif message["role"] == "tool":
            if position not in taken:
                losses.add((position,), "answers no call of the run before it")
        else:
            losses.add((position,), "a result does not hold its prompt")
            fresh = fresh or message["role"] == "user"
    return prompts


def _result(
    canonical: Transcript,
    positions: Sequence[int],
    usages: Sequence[Usage],
    durations: Sequence[Sequence[float | None]],
    losses: Losses,
) -> dict[str, Any]:
    runs = []
    for number, position in enumerate(positions):
        run = _run(canonical, position, durations[number] if number < len(durations) else (), losses)
        runs.append({**run, "usage": _usage(usages[number] if number < len(usages) else {})})
    return {"done": True, "runs": runs, "usage": _sum(runs)}


def _usage(usage: Usage) -> dict[str, int]:
    prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    total = usage.get("total_tokens", prompt + completion)
    return {"promptTokens": prompt, "completionTokens": completion, "totalTokens": total}


def _run(canonical: Transcript, position: int, took: Sequence[float | None], losses: Losses) -> dict[str, Any]:
    message = canonical[position]
    for key in ("name", "refusal", "audio", "reasoning_details"):
        if message.get(key) is not None:
            losses.add((position, key), "a run has no such field")
    body = message.get("content")
    if isinstance(body, list):
        losses.add((position, "content"), "the text of a run is one string, without parts")
    thinking = parts.thinking(message, position, losses)
    if message.get("reasoning_content") == "":
        losses.add((position, "reasoning_content"), "empty thinking is the same as none")
    answered = paired_results(canonical, position)
    tools = []
    for number, call in enumerate(message.get("tool_calls") or ()):
        arguments = parts.parsed_arguments(call, (position, "tool_calls", number), losses)
        tool: dict[str, Any] = {"id": call["id"], "name": call["function"]["name"], "args": arguments}
        if number in answered:
            at = answered[number]
            given = parts.content_from_wire(canonical[at]["content"], (at, "content"), "tool", losses)
            tool["output"] = {"content": [{"type": "text", "text": given}] if isinstance(given, str) else given}
        if number < len(took) and took[number] is not None:
            tool["durationMs"] = took[number]
        tools.append(tool)
    return {"thinkingText": thinking or "", "text": "".join(parts.texts(body)), "tools": tools}


def _growing(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    shown: dict[str, Any] = {"thinkingText": "", "text": "", "tools": [], "usage": dict.fromkeys(COUNTS, 0)}
    for field in ("thinkingText", "text"):
        for word in _WORD.findall(run[field]):
            shown = {**shown, field: shown[field] + word}
            yield shown
    called = [{key: tool[key] for key in ("id", "name", "args")} for tool in run["tools"]]
    for number in range(len(called)):
        yield {**shown, "tools": called[: number + 1]}
    for number in range(len(called)):
        yield {**shown, "tools": [*run["tools"][: number + 1], *called[number + 1 :]]}


def _grew(later: Mapping[str, Any], earlier: Mapping[str, Any]) -> bool:
    texts = all(later[field].startswith(earlier[field]) for field in ("thinkingText", "text"))
    counts = all(later["usage"][name] >= earlier["usage"][name] for name in COUNTS)
    tools = zip(later["tools"], earlier["tools"], strict=False)
    known = all(key in new and new[key] == value for new, old in tools for key, value in old.items())
    return texts and counts and known and len(later["tools"]) >= len(earlier["tools"])
