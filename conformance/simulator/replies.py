"""How a provider replies, by its claims: the message of a scripted turn, and the body that holds it."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.scenarios import Turn
from conformance.simulator.reasoning import sign, with_thought, without_thought
from conformance.simulator.reply_context import Likeness
from conformance.simulator.usage import usage

CREATED: Final = 1_767_225_600
"""The `created` time of every simulated reply: the first second of 2026."""

DEFAULT_REPLY_ID: Final = r"chatcmpl-[A-Za-z0-9]{29}"
WORDS: Final = "One moment."
"""What is said beside calls by those who always say something there."""

_MEMBERS: Final = {"provider": "Simulator", "system_fingerprint": "fp_simulated", "service_tier": "default"}
"""What stands at the top of replies beside the canonical members, where it is claimed to."""


def message(likeness: Likeness, turn: Turn) -> dict[str, Any]:
    """Return the assistant message of a turn."""
    said: dict[str, Any] = {"role": "assistant", "content": turn.says}
    if turn.calls and not turn.says:
        said = {"role": "assistant"} | _silence(likeness)
    if likeness.thinks and turn.thinks:
        said = with_thought(said, turn.thinks, likeness)
    else:
        said = without_thought(said, likeness)
    if turn.calls:
        one = likeness.request.get("parallel_tool_calls") is False and likeness.claims_that("tools.parallel-switch")
        calls = turn.calls[:1] if one else turn.calls
        said["tool_calls"] = [_call(likeness, turn, n) for n in range(len(calls))]
    if likeness.thinks:
        sign(said, likeness)
    return said


def body(likeness: Likeness, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole reply of a request that does not stream."""
    shown = dict(said)
    if "tool_calls" in said:
        shown["tool_calls"] = [_plain(likeness, call, n) for n, call in enumerate(said["tool_calls"])]
    elif likeness.one("reply.tool-calls-when-none", "absent") in ("null", "empty"):
        shown["tool_calls"] = None if likeness.one("reply.tool-calls-when-none", "") == "null" else []
    reason = finish_reason(likeness, said, streamed=False)
    choice = {"index": 0, "message": shown, "finish_reason": reason} | native(likeness, reason)
    kind = str(likeness.one("reply.object", "chat.completion"))
    return frame(likeness, kind) | {"choices": [choice], "usage": usage(likeness, said)}


def frame(likeness: Likeness, kind: str) -> dict[str, Any]:
    """Return the members that a reply and each of its chunks begin with; an `absent` kind is left out."""
    identity = likeness.text(str(likeness.one("reply.id-format", DEFAULT_REPLY_ID)), "reply")
    whole = {"id": identity, "object": kind, "created": CREATED, "model": likeness.request.get("model")}
    if likeness.whole:
        whole |= {name: _MEMBERS[name] for name in likeness.every("reply.fields") if name in _MEMBERS}
    return {key: value for key, value in whole.items() if (key, value) != ("object", "absent")}


def finish_reason(likeness: Likeness, said: Mapping[str, Any], *, streamed: bool) -> str:
    """Return why a reply ends: with calls as it is claimed of this kind of reply and choice."""
    if not said.get("tool_calls"):
        return "stop"
    usual = likeness.one("finish.with-calls", "tool_calls")
    if streamed:
        usual = likeness.one("finish.with-calls-in-stream", usual)
    choice = likeness.request.get("tool_choice")
    if isinstance(choice, Mapping) and "function" in choice:
        return str(likeness.one("finish.with-named-tool-choice", "stop"))
    return str(likeness.one("finish.with-required-tool-choice", usual) if choice == "required" else usual)


def native(likeness: Likeness, reason: str | None) -> dict[str, str | None]:
    """Return the finish reason under the key in which the upstream's own stands, where there is one."""
    field = likeness.one("finish.native-field", "")
    return {str(field): reason} if field else {}


def _silence(likeness: Likeness) -> dict[str, Any]:
    """Return the content of a message that only calls, in a claimed form, without words where there is a choice."""
    forms = likeness.every("content.in-tool-reply") or ("empty",)
    form = next((each for each in forms if each != "text"), "text")
    if form == "absent":
        return {}
    return {"content": {"null": None, "text": WORDS, "list": [{"type": "text", "text": WORDS}]}.get(form, "")}


def _call(likeness: Likeness, turn: Turn, position: int) -> dict[str, Any]:
    name, given = turn.calls[position]
    if isinstance(given, str):
        text = given
    else:
        text = orjson.dumps(given).decode() if given else str(likeness.one("arguments.when-none", "{}"))
    identity = turn.ids[position] if turn.ids else likeness.call_id(name, position)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def _plain(likeness: Likeness, call: Mapping[str, Any], position: int) -> dict[str, Any]:
    """Return a call as it stands in a reply that is not streamed."""
    shown = dict(call)
    if likeness.one("reply.call-type", "present") == "absent":
        del shown["type"]
    indexes = {"present": position, "null": None, "negative": -1}
    form = likeness.one("reply.call-index", "absent")
    return {"index": indexes[form], **shown} if form in indexes else shown
