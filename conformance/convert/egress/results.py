"""One result a call, in the calls' order, directly behind them: what is missing is filled, what strays stays behind."""

from collections.abc import Sequence
from typing import Any, Final

from conformance.convert.egress.notes import Demands, Draft, Turn

NO_RESULT: Final = "There is no result: the call was not carried out."
"""What stands for the result of a call that was denied, failed or interrupted and has none in the transcript."""


class _Open:
    """A message with calls, and the results found for them so far."""

    __slots__ = ("draft", "found")

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.found: list[Draft | None] = [None] * len(draft.calls)

    def take(self, result: Draft) -> bool:
        """Take a result for the first call with its id that has none yet."""
        for position, call in enumerate(self.draft.calls):
            if self.found[position] is None and _named(call) == result.message.get("tool_call_id"):
                self.found[position] = result
                return True
        return False

    def knows(self, identity: Any) -> bool:
        return any(_named(call) == identity for call in self.draft.calls)


def arranged(drafts: Sequence[Draft], demands: Demands, unanswered: str) -> tuple[list[Draft], list[Turn]]:
    """Return the drafts with every result behind its call, and the turns with calls among them.

    A result belongs to the last message before it that has a call with its id; calls that share an id are answered in
    their order. Of several results of a call the first is kept, so that a request says again what the one before said.
    """
    opened: dict[int, _Open] = {}
    for draft in drafts:
        if draft.calls:
            opened[draft.origin] = _Open(draft)
        elif draft.role == "tool":
            _answer(draft, list(opened.values()), demands)
    turns = {origin: Turn(each.draft, _results(each, drafts, demands, unanswered)) for origin, each in opened.items()}
    ordered: list[Draft] = []
    for draft in drafts:
        if draft.role != "tool":
            ordered += [draft, *(turns[draft.origin].results if draft.calls else ())]
    return ordered, list(turns.values())


def _answer(result: Draft, opened: Sequence[_Open], demands: Demands) -> None:
    identity = result.message.get("tool_call_id")
    holder = next((each for each in reversed(opened) if each.knows(identity)), None)
    if holder is not None and holder.take(result):
        return
    words, claim = "left out: no call is before it", "results.orphaned"
    if holder is not None:
        words, claim = f"left out: the call {identity!r:.60} has a result already", "results.duplicated"
    elif opened:
        words, claim = f"left out: no call before it has the id {identity!r:.60}", "results.unknown-id"
    demands.note((result.origin,), words, claim)


def _results(opened: _Open, drafts: Sequence[Draft], demands: Demands, unanswered: str) -> list[Draft]:
    origin, latest = opened.draft.origin, -1
    results = []
    for position, (call, found) in enumerate(zip(opened.draft.calls, opened.found, strict=True)):
        message = {"role": "tool", "tool_call_id": _named(call), "content": unanswered}
        result = found or Draft(message, origin)
        if found is None:
            demands.note((origin, "tool_calls", position), "given a text as its result: it has none", "results.missing")
        elif any(draft.role != "tool" for draft in drafts[origin + 1 : result.origin]):
            demands.note((result.origin,), "put directly behind its call", "results.not-adjacent")
        elif result.origin < latest:
            demands.note((result.origin,), "put in the order of the calls", "results.reversed")
        latest = max(latest, result.origin)
        _name(result, call, demands)
        results.append(result)
    return results


def _named(call: dict[str, Any]) -> str:
    """Return the id by which a result names a call; one without an id is named by an empty one."""
    return call.get("id") or ""


def _name(result: Draft, call: dict[str, Any], demands: Demands) -> None:
    if demands.bites("results.name-missing"):
        result.message["name"] = call["function"]["name"]
        demands.note((result.origin, "name"), "the name of the function is put in", "results.name-missing")
