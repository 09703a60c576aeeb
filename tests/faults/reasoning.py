"""Faults of reasoning: lost, renamed, doubled, moved."""

from collections.abc import Mapping
from typing import Any

from tests.faults import Reply, fault, thinks, thinks_in_text

FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
_FIELD = "reasoning/in-claimed-field"


def _drop(reply: Reply) -> None:
    for delta in reply.deltas:
        for name in FIELDS:
            delta.pop(name, None)
        if isinstance(delta.get("content"), list):
            kept = [part for part in delta["content"] if part.get("type") != "thinking"]
            delta["content"] = kept or ""


def _rename(reply: Reply, name: str) -> None:
    for delta in reply.deltas:
        for old in FIELDS[:2]:
            if old in delta:
                delta[name] = delta.pop(old)
        delta.pop("reasoning_details", None)


@fault(_FIELD, "core: reasoning-field", needs=thinks)
def reasoning_lost_on_tool_turns(_request: Mapping[str, Any], reply: Reply) -> None:
    """Replies with calls come without their reasoning."""
    if reply.calls:
        _drop(reply)


@fault(_FIELD, "core: reasoning-field", needs=thinks)
def reasoning_lost(_request: Mapping[str, Any], reply: Reply) -> None:
    """All replies come without their reasoning."""
    _drop(reply)


@fault(_FIELD, "core: reasoning-field", needs=thinks, variants=("stream",))
def reasoning_lost_in_streams(_request: Mapping[str, Any], reply: Reply) -> None:
    """Streams come without their reasoning."""
    if reply.streamed:
        _drop(reply)


@fault(_FIELD, "as-scripted", needs=thinks)
def reasoning_lost_on_answers(_request: Mapping[str, Any], reply: Reply) -> None:
    """Replies without calls come without their reasoning."""
    if not reply.calls:
        _drop(reply)


@fault(_FIELD, "core: reasoning-field", needs=thinks_in_text)
def reasoning_renamed(_request: Mapping[str, Any], reply: Reply) -> None:
    """Reasoning comes in a field that no profile has."""
    _rename(reply, "thinking_text")


@fault(_FIELD, needs=lambda claims: claims.get("reasoning.response-field") == "reasoning_content")
def reasoning_under_other_name(_request: Mapping[str, Any], reply: Reply) -> None:
    """Reasoning comes as reasoning instead of reasoning_content."""
    _rename(reply, "reasoning")


@fault(_FIELD, needs=lambda claims: claims.get("reasoning.response-field") == "reasoning")
def reasoning_under_old_name(_request: Mapping[str, Any], reply: Reply) -> None:
    """Reasoning comes as reasoning_content instead of reasoning."""
    _rename(reply, "reasoning_content")


@fault(_FIELD, "reasoning/fields-agree", "as-scripted", needs=thinks_in_text)
def reasoning_under_both_names(_request: Mapping[str, Any], reply: Reply) -> None:
    """Reasoning comes under both names."""
    for delta in reply.deltas:
        text = delta.get("reasoning_content") or delta.get("reasoning")
        if text:
            delta["reasoning_content"] = delta["reasoning"] = text


@fault("reasoning/no-think-tags-in-content", _FIELD, needs=thinks_in_text)
def reasoning_in_tags(_request: Mapping[str, Any], reply: Reply) -> None:
    """Reasoning stands in the content, between tags."""
    texts = [delta[name] for delta in reply.deltas for name in FIELDS[:2] if delta.get(name)]
    _drop(reply)
    if texts:
        target = next((each for each in reply.deltas if "role" in each), reply.deltas[0])
        target["content"] = f"<think>\n{''.join(texts)}\n</think>\n\n{target.get('content') or ''}"


@fault("as-scripted", needs=thinks_in_text)
def reasoning_loses_a_character(_request: Mapping[str, Any], reply: Reply) -> None:
    """Reasoning lacks its last character but one."""
    for delta in reply.deltas:
        for name in FIELDS[:2]:
            if len(delta.get(name) or "") > 2:
                delta[name] = delta[name][:-2] + delta[name][-1]


@fault(_FIELD, "as-scripted", needs=thinks_in_text)
def reasoning_empty(_request: Mapping[str, Any], reply: Reply) -> None:
    """Reasoning is an empty text."""
    for delta in reply.deltas:
        for name in FIELDS[:2]:
            if name in delta:
                delta[name] = ""
        delta.pop("reasoning_details", None)
