"""What wolo sends: the messages of a request as its document says, the same mended, and the request's headers.

The document leaves out failed calls by its filtering rules and wants their errors in context by its state diagram;
`to_llm_messages` does what the rules say, `mended` what the diagram wants. How texts are combined it leaves open.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.convert.dialects.wolo import calls

SYSTEM_PROMPT: Final = "You are Wolo. You write and mend programs for the user."
DISPLAY_NAME: Final = "Wolo"
INCLUDED: Final = ("pending", "running", "completed")

FAILED: Final = "The tool failed and said nothing."
UNFINISHED: Final = "The tool has not finished; there is no result."


def to_llm_messages(
    messages: Sequence[Mapping[str, Any]],
    system_prompt: str = SYSTEM_PROMPT,
    display_name: str = DISPLAY_NAME,
    *,
    thinking: bool = False,
) -> list[dict[str, Any]]:
    """Return the request's messages as documented, which the canonical wire does not always bear.

    Failed calls are left out; pending and running ones are sent, but only completed ones are answered; reasoning
    goes with every assistant message in thinking mode and with none outside it. `mended` does better.
    """
    sent = []
    for message in messages:
        if message["role"] != "assistant":
            sent.append(_plain(message))
            continue
        parts = [part for part in _tools(message) if _status(part) in INCLUDED]
        if spoken := _assistant(message, parts, reasons=thinking):
            done = [part for part in parts if _status(part) == "completed"]
            sent += [spoken, *(_answer(part, part.get("output", "")) for part in done)]
    return _with_system(sent, system_prompt, display_name)


def mended(
    messages: Sequence[Mapping[str, Any]], system_prompt: str = SYSTEM_PROMPT, display_name: str = DISPLAY_NAME
) -> list[dict[str, Any]]:
    """Return messages for the same conversation that keep to the canonical wire.

    Every call is sent and answered: a failure by its error, what has not finished by a sentence that says so.
    Reasoning goes with calls, always, and never without. A message that goes on after its calls have ended is sent as
    the replies that it is made of; its reasoning is that of the first.
    """
    sent = []
    for message in messages:
        if message["role"] != "assistant":
            sent.append(_plain(message))
            continue
        for number, reply in enumerate(calls.replies(message)):
            said = {**message, "parts": [part for _, part in reply]}
            parts = _tools(said)
            if spoken := _assistant(said, parts, reasons=bool(parts) and not number):
                sent += [spoken, *(_answer(part, _outcome(part)) for part in parts)]
    return _with_system(sent, system_prompt, display_name)


def request_headers(
    project: str, session: str, request: str = "user", client: str = "cli", platform: str = "Linux x86_64"
) -> dict[str, str]:
    """Return the headers of a request, which are those that OpenCode sends."""
    return {
        "User-Agent": f"opencode/1.0.0 ({platform})",
        "x-opencode-project": project,
        "x-opencode-session": session,
        "x-opencode-request": request,
        "x-opencode-client": client,
    }


def _with_system(sent: list[dict[str, Any]], prompt: str, display_name: str) -> list[dict[str, Any]]:
    """Put the system prompt in front where there is none; only there the agent goes by its display name."""
    if any(message["role"] == "system" for message in sent):
        return sent
    return [{"role": "system", "content": prompt.replace(DISPLAY_NAME, display_name)}, *sent]


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": message["role"], "content": _words(message)}


def _assistant(
    message: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], *, reasons: bool
) -> dict[str, Any] | None:
    """Return an assistant message with these calls; None where it has neither text nor calls."""
    words = _words(message)
    if not words and not parts:
        return None
    sent: dict[str, Any] = {"role": "assistant", "content": words}
    if parts:
        sent["tool_calls"] = [calls.to_wire(part) for part in parts]
    if reasons and message.get("reasoning_content"):
        sent["reasoning_content"] = message["reasoning_content"]
    return sent


def _outcome(part: Mapping[str, Any]) -> str:
    output: str = part.get("output", "")
    if _status(part) == "completed":
        return output
    return output or FAILED if _status(part) == "failed" else UNFINISHED


def _answer(part: Mapping[str, Any], content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": part["id"], "content": content}


def _words(message: Mapping[str, Any]) -> str:
    return calls.JOINT.join([part.get("text", "") for part in message["parts"] if part["type"] == "text"])


def _tools(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part for part in message["parts"] if part["type"] == "tool"]


def _status(part: Mapping[str, Any]) -> str:
    return str(part.get("status", "pending"))
