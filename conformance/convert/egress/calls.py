"""Calls as the provider takes them: ids and arguments, verbatim wherever they can be."""

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson
import rstr

from conformance.convert.egress.notes import Demands, Identity, Turn

_POSITIONAL: Final = ("functions.{name}:{number}", "{name}:{number}", "{name}_{number}")
"""Ids that tell the name and the number of a call, as templates read them."""

_USUAL: Final = (r"call_[A-Za-z0-9]{24}", r"[A-Za-z0-9]{9}")
_TRIES: Final = 20


def identified(turns: Sequence[Turn], demands: Demands) -> tuple[Identity, ...]:
    """Give each call, and its result, an id that the provider takes; return all ids, as they were and as they are.

    Each depends on the calls before it alone, so that a call keeps its id as the transcript grows.
    """
    ids = _Ids(demands)
    found = []
    for turn in turns:
        ids.begin_message()
        for position, (call, result) in enumerate(zip(turn.draft.calls, turn.results, strict=True)):
            own = call.get("id")
            call["id"] = result.message["tool_call_id"] = ids.accepted(call, (turn.draft.origin, position))
            if result.origin != turn.draft.origin and call["id"] != own:
                demands.note((result.origin, "tool_call_id"), f"sent as {call['id']!r}, as its call is")
            found.append(Identity(turn.draft.origin, position, own if isinstance(own, str) else "", call["id"]))
    return tuple(found)


class _Ids:
    """The ids given so far: to all calls, and to those of the message at hand."""

    __slots__ = ("_before", "_count", "_demands", "_forms", "_here")

    def __init__(self, demands: Demands) -> None:
        self._demands = demands
        self._before: set[str] = set()
        self._here: set[str] = set()
        self._count = 0
        self._forms = tuple([re.compile(each) for each in _forms(demands)])

    def begin_message(self) -> None:
        self._before |= self._here
        self._here = set()

    def accepted(self, call: dict[str, Any], place: tuple[int, int]) -> str:
        """Return the id of a call as it is sent."""
        own = call.get("id")
        claim = next(self._objections(own), "")
        sent = own
        if claim:
            at = (place[0], "tool_calls", place[1], "id")
            sent = next((each for each in self._candidates(call) if self._is_free(each)), None)
            if sent is None:
                self._demands.note(at, f"no id could be made in the place of {own!r:.60}", claim, fixed=False)
                sent = own or ""
            else:
                self._demands.note(at, f"sent as {sent!r} in the place of {own!r:.60}", claim)
        self._here.add(str(sent))
        self._count += 1
        return str(sent)

    def _objections(self, identity: Any) -> Iterator[str]:
        """Yield the claims against an id; an empty one is no duplicate and has no form."""
        demands = self._demands
        if not isinstance(identity, str):
            yield "ids.absent-in-request"
        elif identity:
            yield from self._against_form(identity)
            if identity in self._here and demands.bites("ids.duplicate-in-message"):
                yield "ids.duplicate-in-message"
            if identity in self._before and demands.bites("ids.duplicate-in-request"):
                yield "ids.duplicate-in-request"
        elif demands.bites("ids.empty-in-request"):
            yield "ids.empty-in-request"

    def _against_form(self, identity: str) -> Iterator[str]:
        demands = self._demands
        limit = demands.limit("ids.input-max-length", "limit")
        if limit is not None and len(identity) > limit:
            yield "ids.input-max-length"
        pattern = demands.limit("ids.input-pattern", "pattern")
        if pattern is not None and not re.fullmatch(pattern, identity):
            yield "ids.input-pattern"
        if pattern is None and demands.bites("ids.foreign") and self._is_foreign(identity):
            yield "ids.foreign"

    def _is_foreign(self, identity: str) -> bool:
        return bool(self._forms) and not any(form.fullmatch(identity) for form in self._forms)

    def _is_free(self, identity: str) -> bool:
        is_new = identity not in self._before and identity not in self._here
        return is_new and not any(self._objections(identity))

    def _candidates(self, call: dict[str, Any]) -> Iterator[str]:
        """Yield ids of the form that the provider asks for, else of the form that it gives, else of a usual one."""
        pattern = self._demands.limit("ids.input-pattern", "pattern")
        forms = self._forms if pattern is None else (re.compile(pattern),)
        name = str(call["function"]["name"])
        for form in forms:
            for number in range(self._count, self._count + _TRIES):
                positional = [each.format(name=name, number=number) for each in _POSITIONAL]
                yield from (each for each in positional if form.fullmatch(each))
        for text in (*(form.pattern for form in forms), *_USUAL):
            for attempt in range(_TRIES):
                yield _text(text, f"{call.get('id')} {name} {self._count} {attempt}")


def _forms(demands: Demands) -> list[str]:
    """Return the forms of the ids that the provider itself gives, as far as they are known."""
    claimed = [demands.claims.get(name) for name in ("ids.format", "ids.format-in-stream")]
    listed = [each for claim in claimed for each in (claim if isinstance(claim, list) else [claim])]
    return [each for each in listed if isinstance(each, str) and each != "unknown"]


def _text(pattern: str, salt: str) -> str:
    digest = hashlib.sha256(salt.encode("utf-8", "surrogatepass")).digest()
    return str(rstr.Rstr(random.Random(digest)).xeger(pattern))  # noqa: S311 — repeatable, not secret


def argued(turns: Sequence[Turn], demands: Demands) -> None:
    """Put `{}` in the place of arguments that the provider does not take; all others stay as the model wrote them."""
    for turn in turns:
        for position, call in enumerate(turn.draft.calls):
            function = call["function"]
            claim = _against(function.get("arguments"), demands)
            if claim:
                function["arguments"] = "{}"
                at = (turn.draft.origin, "tool_calls", position, "function", "arguments")
                demands.note(at, "sent as '{}': the provider takes the text of JSON objects alone", claim)


def _against(arguments: Any, demands: Demands) -> str:
    """Return the claim against arguments; empty where there is none."""
    if arguments is None:
        return "arguments.absent-in-request"
    try:
        if isinstance(orjson.loads(arguments), dict):
            return ""
        claim = "arguments.array-in-request"
    except orjson.JSONDecodeError:
        claim = "arguments.malformed-in-request" if arguments else "arguments.empty-in-request"
    return claim if demands.bites(claim) else ""
