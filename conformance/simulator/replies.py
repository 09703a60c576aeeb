"""Replies as the claims describe them: the message of a scripted turn, the body around it and its token counts."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.scenarios import ScriptTurn, arguments_text
from conformance.simulator import members, script
from conformance.simulator.reasoning import sign, with_reasoning, without_reasoning
from conformance.simulator.reply_context import ReplyContext, tokens

DEFAULT_REPLY_ID: Final = r"chatcmpl-[A-Za-z0-9]{29}"
TEXT_BESIDE_CALLS: Final = "One moment."
"""The content beside tool calls of a provider that always has some there."""

_UNEXPLAINED: Final = 7
"""Tokens that a total has beyond the sum of its terms, if the provider claims a larger total."""


class PlayedChoice(NamedTuple):
    """One choice of a reply: its message, and whether the token limit cut it."""

    message: dict[str, Any]
    is_cut: bool = False


def choices(context: ReplyContext, turn: ScriptTurn) -> list[PlayedChoice]:
    """Return as many choices of a turn as the request wants, which differ in the ids of their calls only."""
    parameters = context.parameters
    bounded, is_cut = script.bounded(turn, parameters, thinks=context.thinks)
    return [PlayedChoice(message(context, bounded, number), is_cut) for number in range(parameters.choices)]


def message(context: ReplyContext, turn: ScriptTurn, choice: int = 0) -> dict[str, Any]:
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
        # Calls of all choices are numbered together, so that no two have the same id.
        first = choice * len(calls)
        made["tool_calls"] = [_call(context, turn, n, first + n) for n in range(len(calls))]
    if context.thinks:
        sign(made, context)
    if turn.says and context.is_true("responses.phases"):
        made["phase"] = "commentary" if turn.calls else "final_answer"
    return made


def body(context: ReplyContext, choices: Sequence[PlayedChoice]) -> dict[str, Any]:
    """Return the body of a plain reply."""
    kind = str(context.claim("reply.object", "chat.completion"))
    listed = [_plain_choice(context, choice, number) for number, choice in enumerate(choices)]
    return frame(context, kind) | members.of_reply(context) | {"choices": listed, "usage": usage(context, choices)}


def _plain_choice(context: ReplyContext, choice: PlayedChoice, number: int) -> dict[str, Any]:
    message = choice.message
    shown = message | {name: value for name, value in members.of_message(context).items() if name not in message}
    if "tool_calls" in message:
        shown["tool_calls"] = [_plain_call(context, call, n) for n, call in enumerate(message["tool_calls"])]
    elif context.claim("reply.tool-calls-when-none", "absent") in ("null", "empty"):
        shown["tool_calls"] = None if context.claim("reply.tool-calls-when-none", "") == "null" else []
    reason = finish_reason(context, choice, streamed=False)
    further = members.of_choice(context) | logprobs(context, message.get("content"))
    whole = {"message": shown, "finish_reason": reason} | native_finish_reason(context, reason) | further
    return whole if context.claim("reply.choice-index", "present") == "absent" else {"index": number} | whole


def frame(context: ReplyContext, kind: str) -> dict[str, Any]:
    """Return the members that a reply and each of its chunks begin with; an `absent` kind is omitted."""
    identity = context.reply_id(str(context.claim("reply.id-format", DEFAULT_REPLY_ID)))
    whole = {"id": identity, "object": kind, "created": members.CREATED, "model": context.request.get("model")}
    omitted = context.claim_values("reply.omitted-fields")
    return {key: value for key, value in whole.items() if (key, value) != ("object", "absent") and key not in omitted}


def finish_reason(context: ReplyContext, choice: PlayedChoice, *, streamed: bool) -> str:
    """Return the finish reason; with calls, the one claimed for this kind of reply and tool choice."""
    has_calls = bool(choice.message.get("tool_calls"))
    if choice.is_cut:
        return str(context.claim("finish.with-truncated-call", "length")) if has_calls else "length"
    if not has_calls:
        return "stop"
    usual = context.claim("finish.with-calls", "tool_calls")
    if streamed:
        usual = context.claim("finish.with-calls-in-stream", usual)
    wanted = context.request.get("tool_choice")
    if isinstance(wanted, Mapping) and "function" in wanted:
        return str(context.claim("finish.with-named-tool-choice", "stop"))
    return str(context.claim("finish.with-required-tool-choice", usual) if wanted == "required" else usual)


def logprobs(context: ReplyContext, text: Any) -> dict[str, Any]:
    """Return the log probabilities of a text as the member of a choice, if the request wants them."""
    number = context.parameters.alternatives
    if number is None:
        return {}
    size = script.CHARACTERS_PER_TOKEN
    tokens = [text[start : start + size] for start in range(0, len(text), size)] if isinstance(text, str) else []
    shown = [_logprob(token) | {"top_logprobs": [_logprob(token)] * min(number, 1)} for token in tokens]
    return {"logprobs": {"content": shown, "refusal": None} if shown else None}


def _logprob(token: str) -> dict[str, Any]:
    """Return the log probability of a token, which is certain since replies are scripted."""
    return {"token": token, "logprob": 0.0, "bytes": [*token.encode()]}


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


def _call(context: ReplyContext, turn: ScriptTurn, position: int, number: int) -> dict[str, Any]:
    name, arguments = turn.calls[position]
    is_empty = not isinstance(arguments, str) and not arguments
    text = str(context.claim("arguments.when-none", "{}")) if is_empty else arguments_text(arguments)
    identity = turn.ids[position] if turn.ids else context.call_id(name, number)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def _plain_call(context: ReplyContext, call: Mapping[str, Any], position: int) -> dict[str, Any]:
    """Return a call as a plain reply holds it."""
    shown = dict(call)
    if context.claim("reply.call-type", "present") == "absent":
        del shown["type"]
    indexes = {"present": position, "null": None, "negative": -1}
    form = context.claim("reply.call-index", "absent")
    return {"index": indexes[form], **shown} if form in indexes else shown


def usage(context: ReplyContext, choices: Sequence[PlayedChoice]) -> dict[str, Any]:
    """Return the `usage` object of a reply, summed and split as claimed."""
    limit = context.parameters.limit
    counts = [tokens(choice.message) for choice in choices]
    prompt = context.prompt_tokens()
    output = sum(counts if limit is None else [min(count, limit) for count in counts])
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
    return members.of_usage(context, count)


def _put(count: dict[str, Any], pointer: str, number: int) -> None:
    *holders, key = pointer.strip("/").split("/")
    # The claims name the place by a pointer, and its holders may not be there yet.
    for holder in holders:
        count = count.setdefault(holder, {})
    count[key] = number
