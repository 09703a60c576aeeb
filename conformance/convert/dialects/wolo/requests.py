"""What wolo sends: the messages of a request as documented, messages that fit the wire, and the headers.

By its filtering rules the document leaves out failed calls, by its state diagram their errors are in context;
`to_llm_messages` follows the rules, `to_wire_messages` the diagram. How texts are joined is not documented.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.convert.dialects.wolo import calls

SYSTEM_PROMPT: Final = "You are Wolo, an AI coding agent that helps users with software engineering tasks."
"""The document gives only the beginning of the prompt, which is this sentence."""
DISPLAY_NAME: Final = "Wolo"
INCLUDED: Final = ("pending", "running", "completed")

FAILED: Final = "The tool failed without output."


def to_llm_messages(
    messages: Sequence[Mapping[str, Any]],
    system_prompt: str = SYSTEM_PROMPT,
    display_name: str = DISPLAY_NAME,
    *,
    thinking: bool = False,
) -> list[dict[str, Any]]:
    """Return the messages of a request as documented, which are not always valid on the canonical wire.

    Failed calls are left out; pending and running ones are sent, but only completed ones are answered; all assistant
    messages have their reasoning in thinking mode, and none outside it. `to_wire_messages` does better.
    """
    sent = []
    for message in messages:
        if message["role"] != "assistant":
            sent.append(_plain(message))
            continue
        parts = [part for part in _tools(message) if _status(part) in INCLUDED]
        if assistant := _assistant(message, parts, with_reasoning=thinking):
            done = [part for part in parts if _status(part) == "completed"]
            sent += [assistant, *(_tool_message(part, part.get("output", "")) for part in done)]
    return _with_system(sent, system_prompt, display_name)


def to_wire_messages(
    messages: Sequence[Mapping[str, Any]], system_prompt: str = SYSTEM_PROMPT, display_name: str = DISPLAY_NAME
) -> list[dict[str, Any]]:
    """Return messages for the same conversation that are valid on the canonical wire.

    Every call is sent and answered: a failed one by its error, an unfinished one by a note. Messages with calls have
    their reasoning, others do not. A message that continues after its calls have ended is sent as the replies that it
    consists of; the reasoning goes with the first.
    """
    sent = []
    for message in messages:
        if message["role"] != "assistant":
            sent.append(_plain(message))
            continue
        for number, reply in enumerate(calls.replies(message)):
            part_message = {**message, "parts": [part for _, part in reply]}
            parts = _tools(part_message)
            if assistant := _assistant(part_message, parts, with_reasoning=bool(parts) and not number):
                sent += [assistant, *(_tool_message(part, _output(part)) for part in parts)]
    return _with_system(sent, system_prompt, display_name)


def request_headers(
    project: str, session: str, request: str = "user", client: str = "cli", platform: str = "Linux x86_64"
) -> dict[str, str]:
    """Return the headers of a request, which are those of OpenCode."""
    return {
        "User-Agent": f"opencode/1.0.0 ({platform})",
        "x-opencode-project": project,
        "x-opencode-session": session,
        "x-opencode-request": request,
        "x-opencode-client": client,
    }


def _with_system(sent: list[dict[str, Any]], prompt: str, display_name: str) -> list[dict[str, Any]]:
    """Put the system prompt first if there is no system message; only that prompt has the display name."""
    if any(message["role"] == "system" for message in sent):
        return sent
    return [{"role": "system", "content": prompt.replace(DISPLAY_NAME, display_name)}, *sent]


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": message["role"], "content": _text(message)}


def _assistant(
    message: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], *, with_reasoning: bool
) -> dict[str, Any] | None:
    """Return an assistant message with these calls; None if it has neither text nor calls."""
    text = _text(message)
    if not text and not parts:
        return None
    sent: dict[str, Any] = {"role": "assistant", "content": text}
    if parts:
        sent["tool_calls"] = [calls.to_wire(part) for part in parts]
    if with_reasoning and message.get("reasoning_content"):
        sent["reasoning_content"] = message["reasoning_content"]
    return sent


def _output(part: Mapping[str, Any]) -> str:
    output: str = part.get("output", "")
    if _status(part) == "completed":
        return output
    return output or FAILED if _status(part) == "failed" else calls.UNFINISHED


def _tool_message(part: Mapping[str, Any], content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": part["id"], "content": content}


def _text(message: Mapping[str, Any]) -> str:
    return calls.SEPARATOR.join([part.get("text", "") for part in message["parts"] if part["type"] == "text"])


def _tools(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part for part in message["parts"] if part["type"] == "tool"]


def _status(part: Mapping[str, Any]) -> str:
    return str(part.get("status", "pending"))
