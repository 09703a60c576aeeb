"""Keys that are not sent: the client's own, those of other providers, and nulls that the provider rejects."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.convert.egress.drafts import Demands, Outbound
from conformance.documents.pointer import Place, copied
from conformance.schemas import validator
from conformance.wire.reasoning import ALL_KEYS

_HOLDERS: Final = {"tool_calls": "request.unknown-call-field", "content": "request.unknown-part-field"}


def drafts_of(transcript: Sequence[Mapping[str, Any]], demands: Demands) -> list[Outbound]:
    """Return a new draft of each message with the keys of the canonical wire, and those that the provider knows.

    Keys for reasoning stay: `fix_reasoning` handles them.
    """
    drafts = [Outbound(copied(dict(message)), number) for number, message in enumerate(transcript)]
    for error in validator("canonical/transcript").errors(transcript):
        if error.keyword == "additionalProperties":
            for key in error.extra:
                _drop(drafts, error.place, key, demands)
    for draft in drafts:
        _without_nulls(draft, demands)
    return drafts


def _drop(drafts: Sequence[Outbound], place: Place, key: str, demands: Demands) -> None:
    number, *inside = place
    draft = drafts[int(number)]
    claim = _HOLDERS.get(str(inside[0]), "") if inside else "request.unknown-message-field"
    if not inside and key in ALL_KEYS:
        claim = "reasoning.on-other-role"
        if draft.role == "assistant":
            return
    if _is_known(key, claim, demands):
        return
    holder: Any = draft.message
    for token in inside:
        holder = holder[token]
    del holder[key]
    demands.note((*place, key), "left out: the wire has no such key", claim if demands.avoids(claim) else "")


def _is_known(key: str, claim: str, demands: Demands) -> bool:
    if claim == "request.unknown-part-field":
        return demands.claims.get(claim) == "accepted"
    listed = demands.claims.get("request.known-message-fields")
    return claim == "request.unknown-message-field" and isinstance(listed, list) and key in listed


def _without_nulls(draft: Outbound, demands: Demands) -> None:
    message = draft.message
    if "tool_calls" in message and not message["tool_calls"]:
        claim = "request.null-tool-calls" if message["tool_calls"] is None else "request.empty-tool-calls"
        del message["tool_calls"]
        demands.note((draft.origin, "tool_calls"), "left out: there are no calls", claim)
    if demands.avoids("request.null-message-fields"):
        for key in [key for key, value in message.items() if value is None and key not in ("content", *ALL_KEYS)]:
            del message[key]
            demands.note((draft.origin, key), "left out: it is null", "request.null-message-fields")
