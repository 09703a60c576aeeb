"""Reasoning that stands in the wrong field: between tags in the content, or under a name that nobody reads."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.convert.egress import request_fields, with_reasoning
from conformance.fixes.content import REASONING
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.wire.native import CHAT
from conformance.wire.reasoning import ALL_KEYS, KEYS, TAGS, TEXT_KEYS, find_tagged

ORDER: Final = 12
RULES: Final = ("reasoning/*", "request/no-unknown-fields", "request/no-local-only-fields")

_LIST: Final = "messages"


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield requests with the reasoning of the message at fault in another field, or without it on a plain turn."""
    if problem.exchange.protocol != CHAT or problem.place[:1] != (_LIST,) or len(problem.place) < 2:
        return
    position = problem.place[1]
    message = problem.request[_LIST][position]
    if message.get("role") != "assistant":
        return
    if isinstance(message.get("thinking_blocks"), list):
        details = [_detail(block) for block in message["thinking_blocks"]]
        made = {key: value for key, value in message.items() if key != "thinking_blocks"}
        yield _candidate(problem, position, {**made, "reasoning_details": details}, "send the blocks as details")
    fields = request_fields(problem.claims, problem.contested)
    for bare, text in _sources(message):
        if not message.get("tool_calls"):
            # Reasoning is sent with calls only: on other turns nothing reads it.
            yield _candidate(problem, position, bare, "leave the reasoning out", spared=frozenset({REASONING}))
        for field in dict.fromkeys((*fields, *TEXT_KEYS[:1])):
            if field not in TAGS and text:
                made = with_reasoning(bare, field, {"reasoning_content": text})
                yield _candidate(problem, position, made, f"send the reasoning as {field}")


def _detail(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a thinking block as a reasoning detail."""
    if block.get("type") == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block.get("data")}
    signed = {"signature": block["signature"]} if "signature" in block else {}
    return {"type": "reasoning.text", "text": block.get("thinking", "")} | signed


def _sources(message: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield a message without the reasoning of one field, and its text."""
    for tag in TAGS.values():
        found = find_tagged(message.get("content"), tag)
        if found is not None and found.closed:
            yield {**message, "content": found.rest.lstrip()}, found.reasoning.strip()
    bare = {key: value for key, value in message.items() if key not in ALL_KEYS}
    for key in KEYS:
        if isinstance(message.get(key), str):
            yield bare, message[key]
            kept = {name: value for name, value in message.items() if name != key}
            yield kept, message[key]


def _candidate(
    problem: ClientProblem, position: Any, message: dict[str, Any], title: str, spared: frozenset[str] = frozenset()
) -> Candidate:
    messages = list(problem.request[_LIST])
    messages[position] = message
    return Candidate({**problem.request, _LIST: messages}, title, spared=spared, whole=True)
