"""One result per call, directly after the calls and in their order; missing ones are added, others are left out."""

from collections.abc import Sequence
from typing import Any, Final

from conformance.convert.egress.drafts import Demands, Outbound, Turn

NO_RESULT: Final = "There is no result: the call was not carried out."
"""The result of a call without one in the transcript, because it was denied, failed or was interrupted."""


class _PendingTurn:
    """A message with calls, and the results found for them so far."""

    __slots__ = ("draft", "found")

    def __init__(self, draft: Outbound) -> None:
        self.draft = draft
        self.found: list[Outbound | None] = [None] * len(draft.calls)

    def add(self, result: Outbound) -> bool:
        """Add a result to the first call with its id that has none yet; return False if there is none."""
        for position, call in enumerate(self.draft.calls):
            if self.found[position] is None and _id(call) == result.message.get("tool_call_id"):
                self.found[position] = result
                return True
        return False

    def has_call(self, identity: Any) -> bool:
        return any(_id(call) == identity for call in self.draft.calls)


def pair_results(drafts: Sequence[Outbound], demands: Demands, unanswered: str) -> tuple[list[Outbound], list[Turn]]:
    """Return the drafts with every result after its call, and the turns with calls among them.

    A result belongs to the last message before it that has a call with its id; calls that share an id are answered in
    their order. Of several results of a call the first counts, so that a request repeats the one before it.
    """
    pending: dict[int, _PendingTurn] = {}
    for draft in drafts:
        if draft.calls:
            pending[draft.origin] = _PendingTurn(draft)
        elif draft.role == "tool":
            _pair(draft, list(pending.values()), demands)
    turns = {origin: Turn(turn.draft, _results(turn, drafts, demands, unanswered)) for origin, turn in pending.items()}
    ordered: list[Outbound] = []
    for draft in drafts:
        if draft.role != "tool":
            ordered += [draft, *(turns[draft.origin].results if draft.calls else ())]
    return ordered, list(turns.values())


def _pair(result: Outbound, turns: Sequence[_PendingTurn], demands: Demands) -> None:
    identity = result.message.get("tool_call_id")
    turn = next((turn for turn in reversed(turns) if turn.has_call(identity)), None)
    if turn is not None and turn.add(result):
        return
    reason, claim = "left out: there is no call before it", "results.orphaned"
    if turn is not None:
        reason, claim = f"left out: the call {identity!r:.60} already has a result", "results.duplicated"
    elif turns:
        reason, claim = f"left out: no call before it has the id {identity!r:.60}", "results.unknown-id"
    demands.note((result.origin,), reason, claim)


def _results(turn: _PendingTurn, drafts: Sequence[Outbound], demands: Demands, unanswered: str) -> list[Outbound]:
    origin, latest = turn.draft.origin, -1
    results = []
    for position, (call, found) in enumerate(zip(turn.draft.calls, turn.found, strict=True)):
        message = {"role": "tool", "tool_call_id": _id(call), "content": unanswered}
        result = found or Outbound(message, origin)
        if found is None:
            demands.note((origin, "tool_calls", position), "a result is added: it has none", "results.missing")
        elif any(draft.role != "tool" for draft in drafts[origin + 1 : result.origin]):
            demands.note((result.origin,), "moved directly after its call", "results.not-adjacent")
        elif result.origin < latest:
            demands.note((result.origin,), "moved into the order of the calls", "results.reversed")
        latest = max(latest, result.origin)
        _add_name(result, call, demands)
        results.append(result)
    return results


def _id(call: dict[str, Any]) -> str:
    """Return the id of a call for its result; empty if the call has none."""
    return call.get("id") or ""


def _add_name(result: Outbound, call: dict[str, Any], demands: Demands) -> None:
    if demands.avoids("results.name-missing") and not demands.avoids("results.name-field"):
        result.message["name"] = call["function"]["name"]
        demands.note((result.origin, "name"), "the name of the function is added", "results.name-missing")
