from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Usage
from conformance.wire.native import CHAT
from conformance.wire.views import usages

_TOTAL = "/0/response/usage/total_tokens"
_DETAILS = {"/0/response/usage/completion_tokens_details": {"reasoning_tokens": 7}}
_WITH_REASONING = {"usage.total": "prompt+completion+reasoning"}


@rule(
    Level.MUST,
    on=usages,
    where=lambda usage, _context: (
        type(usage.value.get("total_tokens")) is int
        and type(usage.value.get("prompt_tokens")) is int
        and type(usage.value.get("completion_tokens")) is int
    ),
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object",
        "Total number of tokens used in the request (prompt + completion).",
    ),
    bad=[
        example("plain", {_TOTAL: 31}),
        example("stream-plain", {"/0/response/4/usage/total_tokens": 20}),
        example("plain", _DETAILS, _WITH_REASONING),
        example("plain", {_TOTAL: 29}, {"usage.total": "larger"}),
    ],
    good=[
        example("plain"),
        example("stream-plain"),
        example("plain", {_TOTAL: 37, **_DETAILS}, _WITH_REASONING),
        example("plain", {_TOTAL: 58}, {"usage.total": "larger"}),
    ],
    reads=("usage.total",),
    wires=(CHAT, "gemini", "responses"),
)
def judge(usage: Usage, context: Context) -> list[Fault]:
    """The total token count is the sum of prompt and completion tokens.

    Some providers count reasoning separately, or tokens that no field shows; if the profile says so, that sum is
    expected. To fix it, add up the counts that are reported.
    """
    value = usage.value
    total, parts = value["total_tokens"], value["prompt_tokens"] + value["completion_tokens"]
    if total == parts and not context.claims:
        return []
    kind = context.claim("usage.total")
    if kind == "prompt+completion+reasoning":
        parts += _reasoning(value)
    if total == parts or (kind == "larger" and total > parts):
        return []
    return [Fault(f"expected {parts}, the sum of its parts, got {total}", at=("total_tokens",))]


def _reasoning(value: dict[str, Any]) -> int:
    details = value.get("completion_tokens_details")
    holders = [details if type(details) is dict else {}, value]
    return next((each["reasoning_tokens"] for each in holders if type(each.get("reasoning_tokens")) is int), 0)
