"""Members of replies beyond the canonical wire, for providers that are claimed to have them, with recorded values.

Names without a value here occur only where something asks for them: audio, citations of a search, executed tools.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.simulator.reply_context import ReplyContext

CREATED: Final = 1_767_225_600
"""The `created` time of every simulated reply: the first second of 2026."""

_OF_REPLY: Final[Mapping[str, Any]] = {
    "provider": "Simulator",
    "system_fingerprint": "fp_simulated",
    "service_tier": "default",
    "x_groq": {"id": "req_simulated"},
    "usage_breakdown": None,
    "time_info": {
        "queue_time": 0.0, "prompt_time": 0.0, "completion_time": 0.0, "total_time": 0.0, "created": CREATED
    },
    "request_id": "simulated",
    "generationId": "gen_simulated",
    "citations": [],
    "search_results": [],
    "prompt": [],
    "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}],
    "kv_transfer_params": None,
    "metrics": None,
    "prompt_logprobs": None,
    "prompt_text": None,
    "prompt_token_ids": None,
}  # fmt: skip
_OF_CHUNK: Final[Mapping[str, Any]] = {"obfuscation": "simulated", "p": "simulated"}
_NOT_OF_CHUNK: Final = frozenset({"prompt", "usage_breakdown", "x_groq"})
_OF_CHOICE: Final[Mapping[str, Any]] = {
    "logprobs": None,
    "content_filter_results": {},
    "routed_experts": None,
    "seed": None,
    "stop_reason": None,
    "token_ids": None,
    "trace_details": None,
}
_OF_MESSAGE: Final[Mapping[str, Any]] = {
    "refusal": None,
    "annotations": [],
    "graph_data": None,
    "image_data": None,
    "llm_data": None,
    "name": None,
    "provider_metadata": {},
    "translation_data": None,
    "web_search_data": None,
}
_OF_DELTA: Final = frozenset({"refusal", "provider_metadata"})


def of_reply(context: ReplyContext) -> dict[str, Any]:
    """Return the further members of a plain reply."""
    named = context.claim_values("reply.fields")
    made = {name: _OF_REPLY[name] for name in named if name in _OF_REPLY}
    if "search_results" not in named:
        made.pop("citations", None)
    # Groq's own tier stands where OpenAI has `default`; clients map it back.
    return made | ({"service_tier": "on_demand"} if "x_groq" in named and "service_tier" in named else {})


def of_chunk(context: ReplyContext) -> dict[str, Any]:
    """Return the further members of each chunk of a stream."""
    made = {name: value for name, value in of_reply(context).items() if name not in _NOT_OF_CHUNK}
    return made | {name: _OF_CHUNK[name] for name in context.claim_values("reply.fields") if name in _OF_CHUNK}


def of_first_chunk(context: ReplyContext) -> dict[str, Any]:
    """Return the further members that only the first chunk of a stream has."""
    return {name: value for name, value in of_reply(context).items() if name == "x_groq"}


def of_choice(context: ReplyContext) -> dict[str, Any]:
    """Return the further members of a choice."""
    return {name: _OF_CHOICE[name] for name in context.claim_values("reply.choice-fields") if name in _OF_CHOICE}


def of_message(context: ReplyContext) -> dict[str, Any]:
    """Return the further members of the message of a plain reply."""
    return {name: _OF_MESSAGE[name] for name in context.claim_values("reply.message-fields") if name in _OF_MESSAGE}


def of_first_delta(context: ReplyContext) -> dict[str, Any]:
    """Return the further members of the first delta of a stream."""
    return {name: value for name, value in of_message(context).items() if name in _OF_DELTA}


def of_usage(context: ReplyContext, count: Mapping[str, Any]) -> dict[str, Any]:
    """Return token counts with the further counts that the provider gives, which are zero, and times."""
    whole = {name: dict(value) if isinstance(value, dict) else value for name, value in count.items()}
    for path in context.claim_values("usage.fields"):
        holder, _, key = path.rpartition("/")
        is_count = key.endswith("_tokens") and "reasoning" not in key
        if "/" in holder or not (is_count or key.endswith("_time")):
            continue
        inside = whole.setdefault(holder, {}) if holder else whole
        if isinstance(inside, dict):
            inside.setdefault(key, 0 if is_count else 0.0)
    if "prompt_cache_miss_tokens" in whole:
        whole["prompt_cache_miss_tokens"] = whole["prompt_tokens"]
    return whole
