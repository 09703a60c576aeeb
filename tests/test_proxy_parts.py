"""Which part of a provider a finding of the proxy names: model, token limit, engine or gateway."""

import json
from dataclasses import replace
from typing import Any

import pytest

from conformance import rules
from conformance.documents.pointer import edit
from conformance.proxy import origins
from conformance.reporting.renderers import traffic
from conformance.wire.exchange import Exchange
from tests.checking import BASES
from tests.traffic import checked, copy_of

ARGUMENTS = "/response/choices/0/message/tool_calls/0/function/arguments"
ENCODED = json.dumps(json.dumps({"city": "Paris"}))
LITELLM = {"x-litellm-version": "1.106.2", "llm_provider-server": "llama.cpp"}
PARTS: list[tuple[str, dict[str, Any], dict[str, str], str, str]] = [
    ("an engine by its header", {ARGUMENTS: ENCODED}, {"Server": "llama.cpp"}, "", "engine llama.cpp"),
    (
        "an engine by its fingerprint",
        {"/response/usage/total_tokens": 1, "/response/system_fingerprint": "vllm-0.32.0-1002f87c"},
        {},
        "",
        "engine vLLM",
    ),
    ("an engine by the profile", {ARGUMENTS: ENCODED}, {"Server": "uvicorn"}, "sglang", "engine SGLang"),
    (
        "a gateway that names its engine",
        {ARGUMENTS: ENCODED},
        LITELLM,
        "",
        "gateway LiteLLM or engine llama.cpp",
    ),
    (
        "a gateway alone",
        {ARGUMENTS: ENCODED},
        {"X-LiteLLM-Call-Id": "1"},
        "",
        "gateway LiteLLM or what is behind it",
    ),
    ("a server that does not say what it is", {ARGUMENTS: ENCODED}, {"Server": "uvicorn"}, "", "provider"),
    ("a model", {ARGUMENTS: '{"town": "Paris"}'}, {"Server": "llama.cpp"}, "", "model"),
    (
        "a model or its engine",
        {ARGUMENTS: '{"city": '},
        {"Server": "llama.cpp"},
        "",
        "model or engine llama.cpp",
    ),
    (
        "the token limit",
        {ARGUMENTS: '{"city": ', "/response/choices/0/finish_reason": "length"},
        {"Server": "llama.cpp"},
        "",
        "token limit",
    ),
]


class TestParts:
    """One tap: what of a provider is at fault, as far as its replies or the profile show it."""

    @pytest.mark.parametrize(
        ("changes", "headers", "provider", "part"), [each[1:] for each in PARTS], ids=[each[0] for each in PARTS]
    )
    def test_a_finding_names_the_part_that_has_to_fix_it(
        self, changes: dict[str, Any], headers: dict[str, str], provider: str, part: str
    ) -> None:
        whole = copy_of(edit(BASES["tool-call"][0], changes))
        found, lines = checked([replace(whole, headers=[*whole.headers, *headers.items()])], profile=provider)
        shown = [
            line
            for line in lines
            if any(each in line for each in (*origins.DECODED, *origins.WRITTEN, *origins.LIMITED, "usage/"))
        ]
        assert [True] == [f"({part}) at" in line for line in shown]
        assert found.tally.parts[part]
        text = "\n".join(traffic.summary(found.tally, {}, provider, [], lambda _, text: text))
        assert part == "provider" or f"× {part}" in text

    def test_a_stream_names_its_engine_too(self) -> None:
        chunk = {"choices": [], "system_fingerprint": "0.32.2-0.32.4-Linux-x86_64"}
        event, other = f"data: {json.dumps(chunk)}\n\n", 'data: {"choices": []}\n\n' * 1000
        for stream in (event + other, other + event + "data: [DONE]\n\n"):
            exchange = Exchange(None, stream, 200, headers={"server": "BaseHTTP/0.6"})
            assert ("mlx-lm", "") == origins.origin(exchange, None)

    def test_a_gateway_between_two_taps_is_named(self) -> None:
        good, bad = BASES["plain"][0], edit(BASES["plain"][0], {"/response/choices/0/finish_reason": 7})
        front = copy_of(bad, tap=0)
        _, lines = checked([copy_of(good, tap=1), replace(front, headers=[*front.headers, *LITELLM.items()])])
        assert any("shape/choice MUST (gateway LiteLLM) at" in line for line in lines)

    def test_the_rules_that_name_a_part_exist(self) -> None:
        assert (origins.LIMITED | origins.WRITTEN | origins.DECODED) <= set(rules.by_id())
