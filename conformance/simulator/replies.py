"""Replies as the claims describe them: the message of a scripted turn, the body around it and its token counts."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.scenarios import Turn
from conformance.simulator.reasoning import sign, with_reasoning, without_reasoning
from conformance.simulator.reply_context import ReplyContext

CREATED: Final = 1_767_225_600
"""The `created` time of every simulated reply: the first second of 2026."""

DEFAULT_REPLY_ID: Final = r"chatcmpl-[A-Za-z0-9]{29}"
TEXT_BESIDE_CALLS: Final = "One moment."
"""The content beside tool calls of a provider that always has some there."""

BYTES_PER_TOKEN: Final = 4
_UNEXPLAINED: Final = 7
"""Tokens that a total has beyond the sum of its terms, if the provider claims a larger total."""

_MEMBERS: Final = {"provider": "Simulator", "system_fingerprint": "fp_simulated", "service_tier": "default"}
"""Top-level members of replies that are not canonical, for providers that claim them."""


def message(context: ReplyContext, turn: Turn) -> dict[str, Any]:
    """Return the assistant message of a turn."""
    made: dict[str, Any] = {"role": "assistant", "content": turn.says}
    if turn.calls and not turn.says:
        made = {"role": "assistant"} | _content_beside_calls(context)
    if context.thinks and turn.thinks:
        made = with_reasoning(made, turn.thinks, context)
    else:
        made = without_reasoning(made, context)
    if turn.calls:
        one = context.request.get("parallel_tool_calls") is False and context.is_true("tools.parallel-switch")
        calls = turn.calls[:1] if one else turn.calls
        made["tool_calls"] = [_call(context, turn, n) for n in range(len(calls))]
    if context.thinks:
        sign(made, context)
    return made


def body(context: ReplyContext, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a plain reply."""
    shown = dict(message)
    if "tool_calls" in message:
        shown["tool_calls"] = [_plain_call(context, call, n) for n, call in enumerate(message["tool_calls"])]
    elif context.claim("reply.tool-calls-when-none", "absent") in ("null", "empty"):
        shown["tool_calls"] = None if context.claim("reply.tool-calls-when-none", "") == "null" else []
    reason = finish_reason(context, message, streamed=False)
    choice = {"index": 0, "message": shown, "finish_reason": reason} | native_finish_reason(context, reason)
    kind = str(context.claim("reply.object", "chat.completion"))
    return frame(context, kind) | {"choices": [choice], "usage": usage(context, message)}


def frame(context: ReplyContext, kind: str) -> dict[str, Any]:
    """Return the members that a reply and each of its chunks begin with; an `absent` kind is omitted."""
    identity = context.matching_text(str(context.claim("reply.id-format", DEFAULT_REPLY_ID)), "reply")
    whole = {"id": identity, "object": kind, "created": CREATED, "model": context.request.get("model")}
    if context.all_members:
        whole |= {name: _MEMBERS[name] for name in context.claim_values("reply.fields") if name in _MEMBERS}
    return {key: value for key, value in whole.items() if (key, value) != ("object", "absent")}


def finish_reason(context: ReplyContext, message: Mapping[str, Any], *, streamed: bool) -> str:
    """Return the finish reason; with calls, the one claimed for this kind of reply and tool choice."""
    if not message.get("tool_calls"):
        return "stop"
    usual = context.claim("finish.with-calls", "tool_calls")
    if streamed:
        usual = context.claim("finish.with-calls-in-stream", usual)
    choice = context.request.get("tool_choice")
    if isinstance(choice, Mapping) and "function" in choice:
        return str(context.claim("finish.with-named-tool-choice", "stop"))
    return str(context.claim("finish.with-required-tool-choice", usual) if choice == "required" else usual)


def native_finish_reason(context: ReplyContext, reason: str | None) -> dict[str, str | None]:
    """Return the finish reason under the key of the upstream's own one, for gateways that have such a key."""
    field = context.claim("finish.native-field", "")
    return {str(field): reason} if field else {}


def _content_beside_calls(context: ReplyContext) -> dict[str, Any]:
    """Return the content of a message that only calls tools, in a claimed form, preferably without text."""
    forms = context.claim_values("content.in-tool-reply") or ("empty",)
    form = next((listed for listed in forms if listed != "text"), "text")
    if form == "absent":
        return {}
    return {
        "content": {"null": None, "text": TEXT_BESIDE_CALLS, "list": [{"type": "text", "text": TEXT_BESIDE_CALLS}]}.get(
            form, ""
        )
    }


def _call(context: ReplyContext, turn: Turn, position: int) -> dict[str, Any]:
    name, arguments = turn.calls[position]
    if isinstance(arguments, str):
        text = arguments
    else:
        text = orjson.dumps(arguments).decode() if arguments else str(context.claim("arguments.when-none", "{}"))
    identity = turn.ids[position] if turn.ids else context.call_id(name, position)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def _plain_call(context: ReplyContext, call: Mapping[str, Any], position: int) -> dict[str, Any]:
    """Return a call as a plain reply holds it."""
    shown = dict(call)
    if context.claim("reply.call-type", "present") == "absent":
        del shown["type"]
    indexes = {"present": position, "null": None, "negative": -1}
    form = context.claim("reply.call-index", "absent")
    return {"index": indexes[form], **shown} if form in indexes else shown


def tokens(value: Any) -> int:
    """Return the approximate number of tokens of a JSON value."""
    return len(orjson.dumps(value)) // BYTES_PER_TOKEN + 1


def usage(context: ReplyContext, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `usage` object of a reply, summed and split as claimed."""
    prompt, output = tokens(context.request.get("messages")), tokens(message)
    kind = context.claim("usage.reasoning-tokens", "inside")
    reasoning = output // 2 if context.thinks and kind != "absent" else 0
    completion = output - reasoning if kind == "outside" else output
    sums = {
        "prompt+completion+reasoning": prompt + completion + reasoning,
        "larger": prompt + completion + reasoning + _UNEXPLAINED,
    }
    total = sums.get(str(context.claim("usage.total", "")), prompt + completion)
    count: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}
    if context.thinks and kind != "absent":
        _put(count, context.claim("usage.reasoning-at", "/completion_tokens_details/reasoning_tokens"), reasoning)
    for pointer in context.claim_values("usage.cached-at"):
        _put(count, pointer, 0)
    return count


def _put(count: dict[str, Any], pointer: str, number: int) -> None:
    *holders, key = pointer.strip("/").split("/")
    for holder in holders:
        count = count.setdefault(holder, {})
    count[key] = number
