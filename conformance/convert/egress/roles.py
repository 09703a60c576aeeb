"""Who speaks when: roles that are taken, system messages where they may stand, neighbours of one role."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from conformance.convert.egress.notes import Demands, Draft
from conformance.wire.reasoning import ALL_KEYS

_INSTRUCTING: Final = ("system", "developer")
_GAP: Final = "\n\n"


def seated(drafts: Sequence[Draft], demands: Demands) -> list[Draft]:
    """Return the messages under roles and in an order that the provider takes; what stays wrong is noted."""
    renamed = [_renamed(draft, demands) for draft in drafts]
    ordered = _asked(_system_first(renamed, demands), demands)
    merged: list[Draft] = []
    for draft in ordered:
        merged.append(draft)
        # Calls that a message takes over may be refused behind the message before it, in turn.
        while len(merged) > 1 and (claim := _against(merged[-2], merged[-1], demands)):
            second = merged.pop()
            merged[-1] = _merged(merged[-1], second)
            demands.note((second.origin,), "merged with the message before it", claim)
    _note_what_stays(merged, demands)
    return merged


def _renamed(draft: Draft, demands: Demands) -> Draft:
    """Put instructions under a role that is taken: the other name for it, else the user's."""
    claim = f"request.{draft.role}-role"
    if draft.role not in _INSTRUCTING or not demands.bites(claim):
        return draft
    others = [role for role in _INSTRUCTING if not demands.bites(f"request.{role}-role")]
    role = others[0] if others else "user"
    demands.note((draft.origin, "role"), f"sent as {role}", claim)
    return Draft({**draft.message, "role": role}, draft.origin)


def _system_first(drafts: Sequence[Draft], demands: Demands) -> list[Draft]:
    """Return the messages with those of the system in front of all others, or made one, where that is demanded."""
    position, several = "request.system-position", "request.several-system"
    ordered = list(drafts)
    if demands.bites(position) or demands.bites(several):
        ordered.sort(key=lambda draft: draft.role not in _INSTRUCTING)
        # Developer messages may stand anywhere, but to move those of the system alone would turn their order round.
        for place, draft in enumerate(ordered):
            if drafts[place] is not draft and draft.role in _INSTRUCTING:
                claim = position if demands.bites(position) else several
                demands.note((draft.origin,), "put in front of all others", claim)
    return ordered


def _asked(drafts: Sequence[Draft], demands: Demands) -> list[Draft]:
    """Return the messages with the last instruction as the user's, where there must be a user's and is none."""
    claim = "request.no-user"
    instructions = [number for number, draft in enumerate(drafts) if draft.role in _INSTRUCTING]
    result = list(drafts)
    if demands.bites(claim) and instructions and not any(draft.role == "user" for draft in drafts):
        last = result[instructions[-1]]
        result[instructions[-1]] = Draft({**last.message, "role": "user"}, last.origin)
        demands.note((last.origin, "role"), "sent as user: there is no other message of a user", claim)
    return result


def _against(before: Draft, draft: Draft, demands: Demands) -> str:
    """Return the claim by which two neighbours must be one message; empty where they may be two."""
    if before.role != draft.role or before.calls:
        return ""
    names = {"user": ["request.successive-same-role"], "system": ["request.several-system"]}.get(draft.role, [])
    if draft.role == "assistant":
        names = ["request.successive-same-role", "request.several-last-assistant"]
        names = [*names, "request.calls-after-assistant"] if draft.calls else names
    return next((name for name in names if demands.bites(name)), "")


def _merged(first: Draft, second: Draft) -> Draft:
    """Return one message that says what two say; it has the name that both have, and the reasoning of the calls."""
    both = {**first.message, **second.message}
    if any(key in second.message for key in ALL_KEYS):
        both = {key: value for key, value in both.items() if key not in ALL_KEYS or key in second.message}
    if first.message.get("name") != second.message.get("name"):
        both.pop("name", None)
    content = _together(first.message.get("content"), second.message.get("content"))
    return Draft({**both, "content": content}, first.origin)


def _together(first: Any, second: Any) -> Any:
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return first + _GAP + second
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _note_what_stays(drafts: Sequence[Draft], demands: Demands) -> None:
    for before, draft in pairwise(drafts):
        if (before.role, draft.role) == ("tool", "user") and demands.bites("results.user-after"):
            words = "an assistant message is wanted between results and this one"
            demands.note((draft.origin,), words, "results.user-after", fixed=False)
    if not drafts:
        demands.note((), "there is no message to send", "request.no-messages", fixed=False)
        return
    if demands.bites("request.no-user") and not any(draft.role == "user" for draft in drafts):
        demands.note((), "there is no message of a user", "request.no-user", fixed=False)
    last = drafts[-1]
    names = {"tool": ["request.last-tool"], "assistant": ["request.last-assistant"]}.get(last.role, [])
    if last.role == "assistant" and demands.claims.get("thinking.mode") in ("always", "default-on"):
        names = ["request.prefill-while-thinking", *names]
    for name in names:
        if demands.bites(name):
            demands.note((last.origin,), "another message is wanted at the end", name, fixed=False)
