"""The parameters at the top level of a request: those of the API reference, and those of providers."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

REFERENCE: Final = frozenset(
    {
        "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
        "max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n", "parallel_tool_calls",
        "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_retention", "reasoning_effort",
        "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options",
        "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
    }
)  # fmt: skip
"""The parameters in OpenAI's reference of chat completions."""

VENDORS: Final = frozenset(
    {
        "add_generation_prompt", "add_special_tokens", "allowed_token_ids", "bad_words", "best_of", "betas",
        "cache_control", "cache_salt", "chat_template", "citation_options", "compound_custom",
        "context_length_exceeded_behavior", "continue_final_message", "debug", "deferred", "disable_tool_validation",
        "do_sample", "documents", "echo", "enable_search", "exclude_domains", "extra_headers", "extras", "format",
        "guided_choice", "guided_grammar", "guided_json", "guided_regex", "ignore_eos", "include_domains",
        "include_stop_str_in_output", "incremental_output", "keep_alive", "length_penalty", "live_search", "min_p",
        "min_tokens", "mm_processor_kwargs", "models", "options", "plugins", "preset", "priority", "prompt_logprobs",
        "prompt_mode", "prompt_truncate_len", "provider", "providerOptions", "random_seed", "raw_output",
        "repetition_penalty", "request_id", "result_format", "route", "safe_prompt", "search_options",
        "search_parameters", "search_settings", "sensitive_word_check", "session_id", "skip_special_tokens",
        "spaces_between_special_tokens", "stop_token_ids", "structured_outputs", "template", "tool_stream", "top_a",
        "top_k", "trace", "transforms", "translation_options", "truncate_prompt_tokens", "usage", "use_beam_search",
        "user_id", "web_search",
    }
)  # fmt: skip
"""Further parameters that some provider documents."""

NAMING: Final = (
    "thinking.on", "thinking.off", "thinking.switches", "thinking.preserve", "thinking.budget",
    "thinking.ignored-parameters", "thinking.refused-parameters", "thinking.fixed-parameters",
    "reasoning.response-field-switches", "request.conflicts", "request.ignored-fields", "request.unsupported-fields",
    "request.max-tokens-fields",
)  # fmt: skip
"""The claims that name parameters of the provider, or parameters that another rule covers."""


def known(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the parameters that a provider may have, by its claims."""
    return frozenset({*REFERENCE, *VENDORS, *(name for each in NAMING for name in _named(claims.get(each)))})


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
            yield value["at"].split("/")[1]
        elif isinstance(value.get("field"), str):
            yield value["field"]
        else:
            yield from value
