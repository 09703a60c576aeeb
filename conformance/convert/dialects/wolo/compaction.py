"""How a session of wolo is shortened: old outputs are removed first, then a summary replaces old messages.

A call and its result are one part, so they stay or go together. A call that has not ended stays, with everything after
it. The metadata under `compaction` record what was done.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from conformance.convert.dialects.wolo import calls

Session: TypeAlias = Sequence[Mapping[str, Any]]

PRUNED: Final = "[The output was removed to save space.]"
SPARED: Final = 4
"""How many of the last messages are never changed."""


def compact(
    messages: Session,
    limit: int,
    count: Callable[[Session], int],
    write: Callable[[Session], str],
    spare: int = SPARED,
) -> list[Mapping[str, Any]]:
    """Return a session that is shortened as far as necessary: not at all, without outputs, or with a summary.

    `count` returns the tokens of messages, `write` a summary of them. The result may still exceed the limit.
    """
    if count(messages) <= limit:
        return list(messages)
    pruned = prune(messages, spare)
    # The summary is written from the full outputs of the tools.
    return pruned if count(pruned) <= limit else summarise(messages, write, spare, pruned)


def prune(messages: Session, spare: int = SPARED) -> list[Mapping[str, Any]]:
    """Return the session with a note instead of each output before the last messages; errors of failed calls stay."""
    until = max(len(messages) - spare, 0)
    return [*map(_pruned, messages[:until]), *messages[until:]]


def summarise(
    messages: Session, write: Callable[[Session], str], spare: int = SPARED, kept: Session | None = None
) -> list[Mapping[str, Any]]:
    """Return the session with one user message instead of all before the last ones; system messages stay.

    `kept` is another form of the session, from which the remaining messages are taken.
    """
    kept = messages if kept is None else kept
    until = max(len(messages) - spare, 0)
    until = next((at for at in range(until) if _is_pending(messages[at])), until)
    summarised = [message for message in messages[:until] if message["role"] != "system"]
    if not summarised:
        return list(kept)
    summary = {
        "id": f"summary_{summarised[-1]['id']}",
        "role": "user",
        "parts": [{"id": f"summary_{summarised[-1]['id']}_text", "type": "text", "text": write(summarised)}],
        "timestamp": summarised[-1].get("timestamp", 0.0),
        "finished": True,
        "metadata": {"compaction": {"summarised": [message["id"] for message in summarised]}},
    }
    return [*(message for message in kept[:until] if message["role"] == "system"), summary, *kept[until:]]


def _pruned(message: Mapping[str, Any]) -> Mapping[str, Any]:
    gone = [part["id"] for part in message["parts"] if _is_bulky(part)]
    if not gone:
        return message
    parts = [{**part, "output": PRUNED} if _is_bulky(part) else part for part in message["parts"]]
    metadata = message.get("metadata", {})
    noted = {**metadata.get("compaction", {}), "pruned": gone}
    return {**message, "parts": parts, "metadata": {**metadata, "compaction": noted}}


def _is_bulky(part: Mapping[str, Any]) -> bool:
    """Return whether a part has an output that is longer than the note."""
    return part.get("status") == "completed" and len(part.get("output", "")) > len(PRUNED)


def _is_pending(message: Mapping[str, Any]) -> bool:
    """Return whether a message has a call that has not ended."""
    return any(part["type"] == "tool" and not calls.ended(part) for part in message["parts"])
