"""Egress: a canonical transcript becomes the messages of a request to one provider.

Everything that providers demand of a history is met here, once: reasoning goes back with tool turns, under the name
that the provider reads, and stays behind on plain turns unless it is demanded there; ids, results, contents and roles
are fixed where a claim says that they would be rejected, and stay verbatim where none does. A fix depends on
what stands before it alone, wherever that can be, so that a request says again what the one before it said.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.convert.egress.calls import argued, identified
from conformance.convert.egress.content import is_sent, worded
from conformance.convert.egress.keys import closed
from conformance.convert.egress.notes import Demands, Draft, Identity, Note, Prepared
from conformance.convert.egress.reasoning import reasoned, request_fields, with_reasoning
from conformance.convert.egress.results import NO_RESULT, arranged
from conformance.convert.egress.roles import seated
from conformance.convert.egress.signatures import signed

__all__ = [
    "NO_RESULT",
    "Identity",
    "Note",
    "Prepared",
    "explain",
    "prepare",
    "request_fields",
    "with_reasoning",
]


def prepare(
    transcript: Sequence[Mapping[str, Any]], claims: Mapping[str, Any], *, unanswered: str = NO_RESULT
) -> list[dict[str, Any]]:
    """Return fresh messages for a request; `claims` are those of the provider for the model that is asked.

    `unanswered` is the result of a call that has none. The transcript is left whole. What of it the provider is known
    not to take and cannot be fixed is sent as it is; `explain` tells of it.
    """
    return explain(transcript, claims, unanswered=unanswered).messages


def explain(
    transcript: Sequence[Mapping[str, Any]], claims: Mapping[str, Any], *, unanswered: str = NO_RESULT
) -> Prepared:
    """Return the messages that `prepare` gives, with the ids of their calls and a note of every departure."""
    demands = Demands(claims)
    drafts, turns = arranged(closed(transcript, demands), demands, unanswered)
    ids = identified(turns, demands)
    argued(turns, demands)
    drafts = seated([draft for draft in drafts if is_sent(draft, demands)], demands)
    origins = tuple([draft.origin for draft in drafts])
    return Prepared(_finished(drafts, demands), origins, ids, demands.notes)


def _finished(drafts: Sequence[Draft], demands: Demands) -> list[dict[str, Any]]:
    """Return the messages once their order is settled, each with its reasoning and its content in form."""
    users = [position for position, draft in enumerate(drafts) if draft.role == "user"]
    last = users[-1] if users else -1
    messages = []
    for position, draft in enumerate(drafts):
        if draft.role == "assistant":
            signed(draft, demands)
            reasoned(draft, demands, current=position > last)
        worded(draft, demands)
        messages.append(draft.message)
    return messages
