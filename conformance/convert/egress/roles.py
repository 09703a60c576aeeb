"""Roles that the provider accepts, the position of system messages, and messages of one role that follow each other."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from conformance.convert.egress.drafts import Demands, Outbound
from conformance.wire.reasoning import ALL_KEYS

_INSTRUCTION_ROLES: Final = ("system", "developer")
_SEPARATOR: Final = "\n\n"


def fix_roles(drafts: Sequence[Outbound], demands: Demands) -> list[Outbound]:
    """Return the messages with roles and in an order that the provider accepts; what cannot be fixed is noted."""
    renamed = [_with_accepted_role(draft, demands) for draft in drafts]
    ordered = _with_user(_system_first(renamed, demands), demands)
    merged: list[Outbound] = []
    for draft in ordered:
        merged.append(draft)
        # A merged message has calls, which may have to be merged with the message before it in turn.
        while len(merged) > 1 and (claim := _merge_claim(merged[-2], merged[-1], demands)):
            second = merged.pop()
            merged[-1] = _merged(merged[-1], second)
            demands.note((second.origin,), "merged with the message before it", claim)
    _note_unfixed(merged, demands)
    return merged


def _with_accepted_role(draft: Outbound, demands: Demands) -> Outbound:
    """Return instructions under a role that is accepted: the other instruction role, else user."""
    claim = f"request.{draft.role}-role"
    if draft.role not in _INSTRUCTION_ROLES or not demands.avoids(claim):
        return draft
    others = [role for role in _INSTRUCTION_ROLES if not demands.avoids(f"request.{role}-role")]
    role = others[0] if others else "user"
    demands.note((draft.origin, "role"), f"sent as {role}", claim)
    return Outbound({**draft.message, "role": role}, draft.origin)


def _system_first(drafts: Sequence[Outbound], demands: Demands) -> list[Outbound]:
    """Return the messages with system messages first, if the provider requires that."""
    position, several = "request.system-position", "request.several-system"
    ordered = list(drafts)
    if demands.avoids(position) or demands.avoids(several):
        ordered.sort(key=lambda draft: draft.role not in _INSTRUCTION_ROLES)
        # Developer messages may be anywhere, but moving only system messages would change their order.
        for place, draft in enumerate(ordered):
            if drafts[place] is not draft and draft.role in _INSTRUCTION_ROLES:
                claim = position if demands.avoids(position) else several
                demands.note((draft.origin,), "moved before all others", claim)
    return ordered


def _with_user(drafts: Sequence[Outbound], demands: Demands) -> list[Outbound]:
    """Return the messages with the last instruction as a user message, if one is required and there is none."""
    claim = "request.no-user"
    instructions = [number for number, draft in enumerate(drafts) if draft.role in _INSTRUCTION_ROLES]
    result = list(drafts)
    if demands.avoids(claim) and instructions and not any(draft.role == "user" for draft in drafts):
        last = result[instructions[-1]]
        result[instructions[-1]] = Outbound({**last.message, "role": "user"}, last.origin)
        demands.note((last.origin, "role"), "sent as user: there is no other user message", claim)
    return result


def _merge_claim(before: Outbound, draft: Outbound, demands: Demands) -> str:
    """Return the claim that requires two consecutive messages to be one; empty if they may be two."""
    if before.role != draft.role or before.calls:
        return ""
    names = {"user": ["request.successive-same-role"], "system": ["request.several-system"]}.get(draft.role, [])
    if draft.role == "assistant":
        names = ["request.successive-same-role", "request.several-last-assistant"]
        names = [*names, "request.calls-after-assistant"] if draft.calls else names
    return next((name for name in names if demands.avoids(name)), "")


def _merged(first: Outbound, second: Outbound) -> Outbound:
    """Return two messages as one; it keeps a name that both have, and the reasoning of the one with calls."""
    both = {**first.message, **second.message}
    if any(key in second.message for key in ALL_KEYS):
        both = {key: value for key, value in both.items() if key not in ALL_KEYS or key in second.message}
    if first.message.get("name") != second.message.get("name"):
        both.pop("name", None)
    content = _together(first.message.get("content"), second.message.get("content"))
    return Outbound({**both, "content": content}, first.origin)


def _together(first: Any, second: Any) -> Any:
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return first + _SEPARATOR + second
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _note_unfixed(drafts: Sequence[Outbound], demands: Demands) -> None:
    for before, draft in pairwise(drafts):
        if (before.role, draft.role) == ("tool", "user") and demands.rejects_or_damages("results.user-after"):
            reason = "an assistant message is required between results and this one"
            demands.note((draft.origin,), reason, "results.user-after", fixed=False)
    if not drafts:
        demands.note((), "there is no message to send", "request.no-messages", fixed=False)
        return
    if demands.rejects_or_damages("request.no-user") and not any(draft.role == "user" for draft in drafts):
        demands.note((), "there is no user message", "request.no-user", fixed=False)
    last = drafts[-1]
    names = {"tool": ["request.last-tool"], "assistant": ["request.last-assistant"]}.get(last.role, [])
    if last.role == "assistant" and demands.claims.get("thinking.mode") in ("always", "default-on"):
        names = ["request.prefill-while-thinking", *names]
    for name in names:
        if demands.rejects_or_damages(name):
            demands.note((last.origin,), "another message is required at the end", name, fixed=False)
