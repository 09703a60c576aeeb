import re
from collections.abc import Mapping
from typing import Any, Final

from conformance import profiles
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import has_reasoning
from conformance.rules.context import as_words
from conformance.wire.elements import Reply
from conformance.wire.values import as_object
from conformance.wire.views import replies

_FIELD: Final = "reasoning.response-field"
_SWITCHES: Final = "thinking.switches"
_MOVERS: Final = "reasoning.response-field-switches"
_THOUGHT: Final = re.compile("reason|think|thought", re.IGNORECASE)
_ASKED: Final = {"thinking.switches": [{"at": "/thinking/type", "equals": "enabled", "thinks": True}]}
_PROMISED: Final = {_FIELD: "reasoning_content", **_ASKED}
_NOT_THOUGHT: Final = {"/0/response/usage/completion_tokens_details": {"reasoning_tokens": 0}}
_THINKING: Final = {"/0/request/thinking": {"type": "enabled"}}


def _is_promised(reply: Reply, context: Context) -> bool:
    """Return whether a request turns thinking on, and the reply came to its end where reasoning is documented."""
    if not reply.complete or reply.finish_reason not in ("stop", "tool_calls") or _follows_results(reply):
        return False
    native = context.exchange.native
    body = context.exchange.request if native is None else native.request
    moved = _first(context.claim(_MOVERS), body)
    field = as_words(context.claim(_FIELD) if moved is None else moved["field"])
    if "none" in field or not field:
        return False
    # Only what the request says counts: a model that thinks by default may skip it for an easy question.
    asked = _first(context.claim(_SWITCHES), body)
    said = asked or moved
    # A switch may be that something is absent, and tools move the field without asking for any reasoning.
    is_said = said is not None and profiles.matches({"at": said["at"]}, body) and _THOUGHT.search(said["at"])
    return bool(is_said) and (asked is None or asked["thinks"] is True)


def _first(switches: Any, body: Any) -> Mapping[str, Any] | None:
    """Return the first switch whose condition a request meets."""
    return next((switch for switch in switches or () if profiles.matches(switch, body)), None)


def _follows_results(reply: Reply) -> bool:
    """Return whether a reply answers tool results: many models think before their first call only."""
    listed = (reply.request or {}).get("messages")
    return type(listed) is list and bool(listed) and as_object(listed[-1]).get("role") == "tool"


@rule(
    Level.SHOULD,
    on=replies,
    where=_is_promised,
    needs=(_FIELD,),
    source=Source(
        "https://github.com/BerriAI/litellm/issues/27956",
        "`reasoning_content` is always `null` in the LiteLLM response even though the model generates extensive "
        "internal reasoning",
    ),
    bad=[
        example("plain", _THINKING, _PROMISED),
    ],
    good=[
        example("plain", {**_THINKING, "/0/response/choices/0/message/reasoning_content": "It is dry."}, _PROMISED),
        example(
            "plain", {**_THINKING, "/0/response/usage/completion_tokens_details": {"reasoning_tokens": 0}}, _PROMISED
        ),
    ],
    reads=(_SWITCHES, _MOVERS),
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A reply to a request that turns thinking on carries reasoning if the provider documents where.

    A server without its reasoning parser, or a gateway that drops the switch or the field, answers as if the model did
    not think, and a later request may need that reasoning. To fix it, pass the switch on to the model and the field on
    to the client.
    """
    if has_reasoning(reply) or _counts_none(context):
        return []
    return [Fault("expected reasoning, because the request turns thinking on, got none", at=("message",))]


def _counts_none(context: Context) -> bool:
    """Return whether the usage says that the model did not think."""
    usages = context.usages
    details = [as_object(usage.value.get("completion_tokens_details")) for usage in usages]
    return any([each.get("reasoning_tokens") == 0 for each in details])
