"""Which part of a provider is at fault: the model, its token limit, the engine that runs it, or a gateway before it.

A rule tells what a model may write from what only a server can get wrong. Names come from the headers and fingerprints
of replies, as real engines sent them, and else from the profile. All parts that it may be are named.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from conformance.profiles import Profile
from conformance.proxy.judging import RuleFinding
from conformance.wire.exchange import Exchange

MODEL: Final = "model"
TOKEN_LIMIT: Final = "token limit"  # noqa: S105 — no secret
PROVIDER: Final = "provider"

LIMITED: Final = frozenset({"response/calls-not-truncated"})
WRITTEN: Final = frozenset({"tool-calls/arguments-fit-schema", "tool-calls/name-declared"})
"""Rules about what a model writes freely, and a server passes on."""

ENCODED: Final = "tool-calls/arguments-are-an-object"
ENCODED_TWICE: Final = "a JSON string that holds JSON"
"""What the finding of that rule says of arguments that are encoded twice."""

DECODED: Final = frozenset(
    {
        ENCODED, "response/message-not-empty", "tool-calls/named-choice-obeyed",
        "tool-calls/no-parallel-when-disabled", "tool-calls/none-choice-obeyed", "tool-calls/required-choice-obeyed",
    }
)  # fmt: skip
"""Rules about what a model writes, and a server may enforce, or read out of the model's text."""

_ENGINES: Final[Mapping[str, str]] = {"llama.cpp": "llama.cpp"}
"""The engines that name themselves in the header `server`; source: llama.cpp b11549, run on 2026-11-22."""

_FINGERPRINTS: Final[Mapping[str, str]] = {
    r"vllm-\d": "vLLM",
    r"b\d+-\w+$": "llama.cpp",
    r"\d+\.\d+\.\d+-\d+\.\d+\.\d+-\w": "mlx-lm",
}
"""How a `system_fingerprint` begins; source: vLLM 0.32.0, llama.cpp b11549, mlx-lm 0.32.2, run on 2026-11-22."""

_LITELLM: Final = "x-litellm-"
_BEHIND_LITELLM: Final = "llm_provider-server"
"""The headers by which LiteLLM names itself and what is behind it; source: LiteLLM 1.106.2, run on 2026-11-22."""

_FINGERPRINT: Final = re.compile(r'"system_fingerprint": ?"([^"]{1,200})"')
_END: Final = 4096


class ReplyOrigin(NamedTuple):
    """The names of the engine and of the gateway that a reply comes from; empty where they are unknown."""

    engine: str = ""
    gateway: str = ""


def origin(exchange: Exchange, profile: Profile | None) -> ReplyOrigin:
    """Return where a reply comes from, by itself or else by the profile."""
    headers = exchange.headers
    gateway = "LiteLLM" if any(name.startswith(_LITELLM) for name in headers) else ""
    named = headers.get(_BEHIND_LITELLM, "") if gateway else headers.get("server", "")
    engine = _ENGINES.get(named, "") or _by_fingerprint(exchange.response)
    kind, title = ("", "") if profile is None else (profile.kind, profile.title)
    return ReplyOrigin(engine or (title if kind == "engine" else ""), gateway or (title if kind == "gateway" else ""))


def _by_fingerprint(response: Any) -> str:
    given = response.get("system_fingerprint") if isinstance(response, dict) else None
    # Some engines put it into the last chunk only.
    if isinstance(response, str) and (found := _FINGERPRINT.search(response[:_END] + response[-_END:])):
        given = found[1]
    if not isinstance(given, str):
        return ""
    return next((name for pattern, name in _FINGERPRINTS.items() if re.match(pattern, given)), "")


def part(found: RuleFinding, source: ReplyOrigin) -> str:
    """Return which part of a provider a finding is about: those that it may be, joined with `or`."""
    if found.rule in LIMITED:
        return TOKEN_LIMIT
    if found.rule in WRITTEN:
        return MODEL
    server = _server(source)
    # The model wrote good arguments, if they are encoded twice.
    is_encoded_twice = found.rule == ENCODED and ENCODED_TWICE in found.finding.message
    if found.rule in DECODED and not is_encoded_twice:
        return f"{MODEL} or {server}"
    return server


def _server(source: ReplyOrigin) -> str:
    named = [f"gateway {source.gateway}"] if source.gateway else []
    named += [f"engine {source.engine}"] if source.engine else []
    if source.gateway and not source.engine:
        named.append("what is behind it")
    return " or ".join(named) or PROVIDER
