"""What the profiles of providers say of models and days, and whether recorded replies agree."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import profiles
from conformance.formats.records import date_of, date_of_reply
from conformance.profiles import Profile
from tests.loops import every

V32 = "Missing `reasoning_content` field in the assistant message at message index {index}."
V4 = "The `reasoning_content` in the thinking mode must be passed back to the API."
HISTORY: list[tuple[str, str, str, str, Any]] = [
    ("deepseek", "deepseek-reasoner", "2025-02-01", "reasoning.input.reasoning_content", {"status": 400}),
    ("deepseek", "deepseek-reasoner", "2026-01-12", "reasoning.input.reasoning_content", "accepted"),
    ("deepseek", "deepseek-reasoner", "2025-02-01", "reasoning.omitted-on-tool-turn", "accepted"),
    ("deepseek", "deepseek-reasoner", "2026-03-11", "reasoning.omitted-on-tool-turn", V32),
    ("deepseek", "deepseek-reasoner", "2026-04-23", "reasoning.omitted-on-tool-turn", V32),
    ("deepseek", "deepseek-v4-pro", "2026-04-24", "reasoning.omitted-on-tool-turn", V4),
    ("deepseek", "deepseek-flash", "", "reasoning.omitted-on-tool-turn", V4),
    ("deepseek", "deepseek-reasoner", "2026-03-11", "reasoning.omitted-on-earlier-tool-turn", "accepted"),
    ("deepseek", "deepseek-v4-pro", "", "reasoning.omitted-on-earlier-tool-turn", V4),
    ("deepseek", "deepseek-v4-pro", "", "reasoning.empty-on-tool-turn", "accepted"),
    ("deepseek", "deepseek-reasoner", "2025-02-03", "request.successive-same-role", "deepseek-reasoner does not"),
    ("deepseek", "deepseek-chat", "2025-02-03", "request.successive-same-role", "accepted"),
    ("deepseek", "deepseek-v4-flash", "2026-09-09", "request.image-parts", "Failed to deserialize the JSON body"),
    ("deepseek", "deepseek-v4-flash-vision-exp", "2026-09-09", "request.image-parts", "accepted"),
    ("deepseek", "deepseek-v4-flash", "", "request.image-parts", "accepted"),
    ("deepseek", "deepseek-v4-pro", "2026-09-10", "request.image-parts", "damaged"),
    ("deepseek", "deepseek-v4-pro", "", "request.image-parts", "accepted"),
    ("doubleword", "", "2026-07-16", "reasoning.response-field", ["reasoning", "reasoning_details"]),
    ("doubleword", "", "2026-08-13", "reasoning.response-field", ["reasoning_content", "reasoning_details"]),
    ("xai", "grok-3", "2026-05-14", "thinking.mode", "never"),
    ("xai", "grok-3", "2026-05-15", "thinking.mode", "default-on"),
    ("groq", "openai/gpt-oss-120b", "", "reasoning.input.reasoning_content", "'messages.{index}' : for"),
    ("groq", "openai/gpt-oss-120b", "", "reasoning.input.reasoning", "accepted"),
    ("groq", "llama-3.3-70b-versatile", "", "reasoning.input.reasoning", "messages[{index}].reasoning: reasoning"),
    ("groq", "openai/gpt-oss-120b", "", "reasoning.omitted-on-tool-turn", "accepted"),
    ("openai", "gpt-5.6-terra", "", "thinking.with-tools", "Function tools with reasoning_effort are not"),
    ("openai", "gpt-5-mini", "", "thinking.with-tools", "accepted"),
    ("zai", "glm-4.6", "2025-11-11", "reply.object", "absent"),
    ("zai", "glm-4.6", "2025-12-16", "reply.object", "chat.completion"),
    ("zai", "glm-4.5v", "2025-10-14", "ids.format-in-stream", r"call_\d{14}[0-9a-f]{16}_\d+"),
    ("groq", "llama3-70b-8192", "2025-10-03", "request.retired-model", "The model `{model}` has been decommissioned"),
    ("together", "deepseek-ai/DeepSeek-V3.1", "", "reply.call-index", "negative"),
    ("moonshot", "kimi-k2.6", "2026-01-31", "thinking.fixed-parameters", None),
    ("openrouter", "", "", "tools.choice-unsupported", "No endpoints found that support the provided"),
    ("llamacpp", "", "", "request.several-last-assistant", "Cannot have 2 or more assistant messages"),
]


@every(("provider", "model", "date", "name", "expected"), HISTORY)
def test_what_one_provider_demands_another_refuses_and_both_change(
    provider: str, model: str, date: str, name: str, expected: Any
) -> None:
    value = profiles.load(provider).at(model, date).get(name)
    if isinstance(value, dict) and isinstance(expected, str):
        value = value["message"][: len(expected)]
    assert expected == value


NOT_THEIRS = {
    "deepseek:48": "a reply of Azure, which hosts the model",
    "groq:22": "a reply of Mistral, by its model and id",
    "openai:17": "edited: the reply is of another model and month than the request",
    "openai:151": "written by hand: its id is chatcmpl-struct123",
}


@pytest.mark.parametrize("name", ["deepseek", "groq", "openai"])
def test_recorded_replies_are_as_claimed_for_their_model_and_day(shared: Path, name: str) -> None:
    profile = profiles.load(name)
    wrong = [
        f"{place}: {claim} is {seen!r}"
        for place, record in recorded(shared, name)
        if place not in NOT_THEIRS
        for claim, seen in contradicted(profile, record)
    ]
    assert not wrong


def recorded(shared: Path, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in (name, "sessions"):
        with gzip.open(shared / "recordings" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                record = json.loads(line)
                if record["provider"] == name and isinstance(record["response"], dict):
                    yield f"{file}:{number}", record


def contradicted(profile: Profile, record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    request, reply = record["request"] or {}, record["response"]
    date = date_of(record["recorded_at"]) or date_of_reply(reply) or date_of(record["commit_date"])
    claims = profile.at(request.get("model") or reply.get("model") or "", date)
    for claim, seen in facts(reply):
        known = claims.get(claim, "unknown")
        fits = re.fullmatch if claim.endswith("format") else str.__eq__
        if known != "unknown" and not any(fits(each, seen) for each in (known if isinstance(known, list) else [known])):
            yield claim, seen


def facts(reply: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "choices" in reply:
        yield "reply.id-format", reply["id"]
        yield "reply.object", reply["object"]
    for choice in reply.get("choices", ()):
        message = choice["message"]
        yield "finish.reasons", str(choice.get("finish_reason"))
        for field in ("reasoning_content", "reasoning"):
            if message.get(field):
                yield "reasoning.response-field", field
        for call in message.get("tool_calls") or ():
            yield "ids.format", call["id"]
            yield "reply.call-index", "present" if "index" in call else "absent"
            content = message.get("content", ...)
            yield "content.in-tool-reply", {None: "null", "": "empty", ...: "absent"}.get(content, "text")
