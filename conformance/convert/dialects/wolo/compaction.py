"""How a session of wolo is shortened: old outputs go first, then old messages give way to a summary.

A call and its result are one part, so they stay or go together; a call that has not ended stays as it is, and so does
all that follows it. What was done is said in the metadata under `compaction`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from conformance.convert.dialects.wolo import calls

Session: TypeAlias = Sequence[Mapping[str, Any]]

PRUNED: Final = "[The output was removed to save space.]"
SPARED: Final = 4
"""How many of the last messages are left alone."""


def compact(
    messages: Session,
    limit: int,
    count: Callable[[Session], int],
    write: Callable[[Session], str],
    spare: int = SPARED,
) -> list[Mapping[str, Any]]:
    """Return a session that is shortened as far as needed: not at all, by its outputs, or by a summary.

    `count` says how many tokens messages have, `write` sums them up. What comes back may still exceed the limit.
    """
    if count(messages) <= limit:
        return list(messages)
    pruned = prune(messages, spare)
    # The summary is written from what the tools said, not from what is left of it.
    return pruned if count(pruned) <= limit else summarise(messages, write, spare, pruned)


def prune(messages: Session, spare: int = SPARED) -> list[Mapping[str, Any]]:
    """Return the session with a note in place of each output before the last messages; failures keep their errors."""
    until = max(len(messages) - spare, 0)
    return [*map(_pruned, messages[:until]), *messages[until:]]


def summarise(
    messages: Session, write: Callable[[Session], str], spare: int = SPARED, kept: Session | None = None
) -> list[Mapping[str, Any]]:
    """Return the session with one user message in place of all before the last ones; the system's stay.

    `kept` is the session in another form from which the messages that stay are taken.
    """
    kept = messages if kept is None else kept
    until = max(len(messages) - spare, 0)
    until = next((at for at in range(until) if _is_waiting(messages[at])), until)
    told = [message for message in messages[:until] if message["role"] != "system"]
    if not told:
        return list(kept)
    summary = {
        "id": f"summary_{told[-1]['id']}",
        "role": "user",
        "parts": [{"id": f"summary_{told[-1]['id']}_text", "type": "text", "text": write(told)}],
        "timestamp": told[-1]["timestamp"],
        "finished": True,
        "metadata": {"compaction": {"summarised": [message["id"] for message in told]}},
    }
    return [*(each for each in kept[:until] if each["role"] == "system"), summary, *kept[until:]]


def _pruned(message: Mapping[str, Any]) -> Mapping[str, Any]:
    gone = [part["id"] for part in message["parts"] if _is_bulky(part)]
    if not gone:
        return message
    parts = [{**part, "output": PRUNED} if _is_bulky(part) else part for part in message["parts"]]
    metadata = message.get("metadata", {})
    noted = {**metadata.get("compaction", {}), "pruned": gone}
    return {**message, "parts": parts, "metadata": {**metadata, "compaction": noted}}


def _is_bulky(part: Mapping[str, Any]) -> bool:
    """Say whether a part has an output that is longer than the note in its place."""
    return part.get("status") == "completed" and len(part.get("output", "")) > len(PRUNED)


def _is_waiting(message: Mapping[str, Any]) -> bool:
    """Say whether a message holds a call that has not ended."""
    return any(part["type"] == "tool" and not calls.ended(part) for part in message["parts"])
