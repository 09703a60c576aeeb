"""Ids and arguments that the provider accepts, verbatim if possible."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson

from conformance import linear
from conformance.convert.egress.drafts import Demands, Identity, Outbound, Turn
from conformance.wire.ids import positional_ids, text_matching

_USUAL: Final = (r"call_[A-Za-z0-9]{24}", r"[A-Za-z0-9]{9}")
_TRIES: Final = 20
_SEVERAL: Final = "request.several-calls"


def assign_ids(turns: Sequence[Turn], demands: Demands) -> tuple[Identity, ...]:
    """Give each call and its result an id that the provider accepts; return the old and new ids.

    Each id depends only on the calls before it, so that a call keeps its id while the transcript grows.
    """
    ids = _Ids(demands)
    found = []
    for turn in turns:
        ids.begin_message()
        for position, (call, result) in enumerate(zip(turn.draft.calls, turn.results, strict=True)):
            own = call.get("id")
            call["id"] = result.message["tool_call_id"] = ids.accepted(call, (turn.draft.origin, position))
            if result.origin != turn.draft.origin and call["id"] != own:
                demands.note((result.origin, "tool_call_id"), f"sent as {call['id']!r}, the id of its call")
            found.append(Identity(turn.draft.origin, position, own if isinstance(own, str) else "", call["id"]))
    return tuple(found)


def split_calls(drafts: Sequence[Outbound], turns: Sequence[Turn], demands: Demands) -> list[Outbound]:
    """Return the drafts with one message for each call and its result, if the provider rejects several calls."""
    if not demands.avoids(_SEVERAL):
        return list(drafts)
    several = {turn.draft.origin: turn for turn in turns if len(turn.draft.calls) > 1}
    moved = {id(result.message) for turn in several.values() for result in turn.results}
    split: list[Outbound] = []
    for draft in drafts:
        if draft.role == "assistant" and draft.origin in several:
            split += _split(several[draft.origin], demands)
        elif id(draft.message) not in moved:
            split.append(draft)
    return split


def _split(turn: Turn, demands: Demands) -> Iterator[Outbound]:
    """Yield a message with each call of a turn, and its result; the first one keeps the text and the reasoning."""
    calls, origin = turn.draft.calls, turn.draft.origin
    demands.note((origin, "tool_calls"), f"sent as {len(calls)} messages with one call each", _SEVERAL)
    for position, (call, result) in enumerate(zip(calls, turn.results, strict=True)):
        rest = {"content": "", "tool_calls": [call]} if position else {"tool_calls": [call]}
        kept = {} if position else turn.draft.message
        yield Outbound({"role": "assistant", **kept, **rest}, origin)
        yield result


class _Ids:
    """The ids assigned so far: to the calls of earlier messages, and of the current one."""

    __slots__ = ("_before", "_count", "_current", "_demands", "_forms")

    def __init__(self, demands: Demands) -> None:
        self._demands = demands
        self._before: set[str] = set()
        self._current: set[str] = set()
        self._count = 0
        self._forms = tuple(_forms(demands))

    def begin_message(self) -> None:
        self._before |= self._current
        self._current = set()

    def accepted(self, call: dict[str, Any], place: tuple[int, int]) -> str:
        """Return the id of a call as it is sent."""
        own = call.get("id")
        claim = next(self._objections(own), "")
        sent = own
        if claim:
            at = (place[0], "tool_calls", place[1], "id")
            sent = next((each for each in self._candidates(call) if self._is_free(each)), None)
            if sent is None:
                self._demands.note(at, f"no id could be generated instead of {own!r:.60}", claim, fixed=False)
                sent = own or ""
            else:
                self._demands.note(at, f"sent as {sent!r} instead of {own!r:.60}", claim)
        self._current.add(str(sent))
        self._count += 1
        return str(sent)

    def _objections(self, identity: Any) -> Iterator[str]:
        """Yield the claims against an id; an empty one has no duplicates and no form."""
        demands = self._demands
        if not isinstance(identity, str):
            yield "ids.absent-in-request"
        elif identity:
            yield from self._against_form(identity)
            if identity in self._current and demands.avoids("ids.duplicate-in-message"):
                yield "ids.duplicate-in-message"
            if identity in self._before and demands.avoids("ids.duplicate-in-request"):
                yield "ids.duplicate-in-request"
        elif demands.avoids("ids.empty-in-request"):
            yield "ids.empty-in-request"

    def _against_form(self, identity: str) -> Iterator[str]:
        demands = self._demands
        limit = demands.limit("ids.input-max-length", "limit")
        if limit is not None and len(identity) > limit:
            yield "ids.input-max-length"
        pattern = demands.limit("ids.input-pattern", "pattern")
        if pattern is not None and not linear.fits(pattern, identity):
            yield "ids.input-pattern"
        if pattern is None and demands.avoids("ids.foreign") and self._is_foreign(identity):
            yield "ids.foreign"

    def _is_foreign(self, identity: str) -> bool:
        return bool(self._forms) and not any(linear.fits(form, identity) for form in self._forms)

    def _is_free(self, identity: str) -> bool:
        is_new = identity not in self._before and identity not in self._current
        return is_new and not any(self._objections(identity))

    def _candidates(self, call: dict[str, Any]) -> Iterator[str]:
        """Yield ids in the form that the provider requires, else in that of its own ids, else in a usual one."""
        pattern = self._demands.limit("ids.input-pattern", "pattern")
        forms = self._forms if pattern is None else (pattern,)
        name = str(call["function"]["name"])
        for form in forms:
            for number in range(self._count, self._count + _TRIES):
                yield from (each for each in positional_ids(name, number) if linear.fits(form, each))
        for text in (*forms, *_USUAL):
            for attempt in range(_TRIES):
                seed = f"{call.get('id')} {name} {self._count} {attempt}"
                yield text_matching(text, seed.encode("utf-8", "surrogatepass"))


def _forms(demands: Demands) -> list[str]:
    """Return the known forms of the provider's own ids."""
    claimed = [demands.claims.get(name) for name in ("ids.format", "ids.format-in-stream")]
    listed = [each for claim in claimed for each in (claim if isinstance(claim, list) else [claim])]
    return [each for each in listed if isinstance(each, str) and each != "unknown"]


def fix_arguments(turns: Sequence[Turn], demands: Demands) -> None:
    """Replace arguments that the provider rejects by `{}`; all others stay as the model wrote them."""
    for turn in turns:
        for position, call in enumerate(turn.draft.calls):
            function = call["function"]
            claim = _against(function.get("arguments"), demands)
            if claim:
                function["arguments"] = "{}"
                at = (turn.draft.origin, "tool_calls", position, "function", "arguments")
                demands.note(at, "sent as '{}': the provider accepts only JSON objects", claim)


def _against(arguments: Any, demands: Demands) -> str:
    """Return the claim against arguments; empty if there is none."""
    if arguments is None:
        return "arguments.absent-in-request"
    try:
        if isinstance(orjson.loads(arguments), dict):
            return ""
        claim = "arguments.array-in-request"
    except orjson.JSONDecodeError:
        claim = "arguments.malformed-in-request" if arguments else "arguments.empty-in-request"
    return claim if demands.avoids(claim) else ""
