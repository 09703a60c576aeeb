from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import parse
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFERENCE: Final = frozenset(
    {
        "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
        "max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n", "parallel_tool_calls",
        "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
        "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream",
        "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
        "web_search_options",
    }
)  # fmt: skip
"""The parameters in OpenAI's reference of chat completions."""

_NAMING: Final = (
    "request.extra-fields", "thinking.on", "thinking.off", "thinking.switches", "thinking.preserve", "thinking.budget",
    "thinking.ignored-parameters", "thinking.refused-parameters", "thinking.fixed-parameters",
    "reasoning.response-field-switches", "request.conflicts", "request.ignored-fields", "request.unsupported-fields",
    "request.max-tokens-fields", "request.limits",
)  # fmt: skip
"""The claims that name parameters of the provider, or parameters that another rule covers."""

_REFUSED = {"request.unknown-top-field": {"status": 400, "message": "Unknown parameter: '{field}'."}}


@rule(
    Level.SHOULD,
    on=requests,
    harm=Harm.FORM,
    when=lambda claimed: claimed.rejects_or_damages("request.unknown-top-field"),
    source=Source(
        "https://github.com/spring-projects/spring-ai/pull/5266",
        "The OpenAI API actually rejects unknown parameters with a 400 error",
    ),
    bad=[
        example("plain", {"/0/request/extra_body": {"top_k": 5}}, _REFUSED),
        example("plain", {"/0/request/top_k": 5}, _REFUSED),
        example("plain", {"/0/request/enable_thinking": True}, _REFUSED),
    ],
    good=[
        example("plain", {"/0/request/top_k": 5}, {**_REFUSED, "request.extra-fields": ["top_k"]}),
        example("plain", {"/0/request/enable_thinking": True}, {**_REFUSED, "thinking.on": {"enable_thinking": True}}),
        example("plain", {"/0/request/extra_body": None}, _REFUSED),
    ],
    needs=("request.unknown-top-field",),
    claim="request.unknown-top-field",
    reads=_NAMING,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request has only known parameters if the provider rejects unknown ones.

    Known are the parameters of the API reference, and those that the profile names. Another rule covers parameters that
    the provider is known to reject. To fix it, omit the parameter, or send the contents of `extra_body` at the top
    level.
    """
    body = request.value
    unknown = body.keys() - _REFERENCE
    # Most requests have no such key, and then no claim needs to be looked into.
    unknown -= {name for claim in _NAMING if unknown for name in _named(context.claims.get(claim))}
    return [
        Fault(f"expected a known parameter, got {key[:40]!r}", at=(key,), values={"field": key})
        for key in body
        if key in unknown and body[key] is not None
    ]


def _named(value: Any) -> Iterator[str]:
    """Yield the top-level keys that the value of a claim names, in whatever form."""
    if isinstance(value, list):
        for each in value:
            if isinstance(each, str):
                yield each
            else:
                yield from _named(each)
    elif isinstance(value, Mapping):
        if isinstance(value.get("when"), list):
            yield from _named(value["when"])
        elif isinstance(value.get("at"), str):
            yield parse(value["at"])[0]
        elif isinstance(value.get("field"), str):
            yield value["field"]
        else:
            yield from value
