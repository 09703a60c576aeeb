"""Egress: a canonical transcript becomes the messages of a request to one provider.

Everything that providers require of a history is handled here: reasoning is sent with tool turns, in the field that
the provider reads, and left out of plain turns unless it is required there; ids, results, contents and roles are
changed if a claim says that they would be rejected or corrupted, and stay verbatim otherwise. If possible, a change
depends only on the messages before it, so that a request repeats the one before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.convert.egress.calls import assign_ids, fix_arguments, split_calls
from conformance.convert.egress.content import fix_content, is_sent
from conformance.convert.egress.drafts import Demands, Identity, Note, Outbound, Prepared
from conformance.convert.egress.keys import drafts_of
from conformance.convert.egress.reasoning import fix_reasoning, fix_signatures, request_fields, with_reasoning
from conformance.convert.egress.results import NO_RESULT, pair_results
from conformance.convert.egress.roles import fix_roles

_NOTHING: Final[Mapping[str, Any]] = {}

__all__ = ["NO_RESULT", "Identity", "Note", "Prepared", "prepare", "request_fields", "with_reasoning"]


def prepare(
    transcript: Sequence[Mapping[str, Any]],
    claims: Mapping[str, Any],
    *,
    unanswered: str = NO_RESULT,
    contested: Mapping[str, Any] = _NOTHING,
) -> Prepared:
    """Return new messages for a request, with the ids of their calls and a note of every difference.

    `claims` are those of the provider for the model of the request, and `contested` the refusals that other sources
    give of what these call accepted, ignored or unknown: of two forms, the one is sent that no source says is refused.
    `unanswered` is the result of a call without one. The transcript is not changed. What the provider is known to
    reject and cannot be fixed is sent as it is.
    """
    demands = Demands(claims, contested, has_calls=any(message.get("tool_calls") for message in transcript))
    drafts, turns = pair_results(drafts_of(transcript, demands), demands, unanswered)
    ids = assign_ids(turns, demands)
    fix_arguments(turns, demands)
    drafts = split_calls(drafts, turns, demands)
    drafts = fix_roles([draft for draft in drafts if is_sent(draft, demands)], demands)
    origins = tuple([draft.origin for draft in drafts])
    return Prepared(_finished(drafts, demands), origins, ids, demands.notes)


def _finished(drafts: Sequence[Outbound], demands: Demands) -> list[dict[str, Any]]:
    """Return the messages in their final order, with reasoning and content in their final form."""
    users = [position for position, draft in enumerate(drafts) if draft.role == "user"]
    last = users[-1] if users else -1
    messages = []
    for position, draft in enumerate(drafts):
        if draft.role == "assistant":
            fix_signatures(draft, demands)
            fix_reasoning(draft, demands, current=position > last)
        fix_content(draft, demands)
        messages.append(draft.message)
    return messages
