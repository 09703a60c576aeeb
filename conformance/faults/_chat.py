"""What faults read of chat completions: the messages or deltas of a reply, its calls, its texts."""

import json
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any, Final

from conformance.faults import Outgoing
from conformance.wire.native import NativeEvent

REASONING: Final = ("reasoning_content", "reasoning")
"""The fields of a message that hold its reasoning as text."""


def chunks(sent: Outgoing) -> list[dict[str, Any]]:
    """Return the plain body, or the chunks of a stream; nothing for an error."""
    return [each for each in sent.values if isinstance(each, dict) and isinstance(each.get("choices"), list)]


def choices(sent: Outgoing) -> list[dict[str, Any]]:
    """Return the choices of all chunks."""
    return [choice for chunk in chunks(sent) for choice in chunk["choices"]]


def messages(sent: Outgoing) -> list[dict[str, Any]]:
    """Return the message of a plain reply, or the deltas of a stream."""
    return [choice["message"] if "message" in choice else choice["delta"] for choice in choices(sent)]


def calls(sent: Outgoing) -> list[list[dict[str, Any]]]:
    """Return the calls, each as the list of its fragments."""
    found: list[list[dict[str, Any]]] = []
    for message in messages(sent):
        for fragment in message.get("tool_calls") or ():
            if fragment.get("id") or fragment["function"].get("name") or not found:
                found.append([])
            found[-1].append(fragment)
    return found


def arguments(call: list[dict[str, Any]]) -> str:
    """Return the text of a call's arguments."""
    return "".join([fragment["function"].get("arguments") or "" for fragment in call])


def set_arguments(call: list[dict[str, Any]], value: Any) -> None:
    """Put all arguments of a call into its first fragment."""
    for fragment in call[1:]:
        fragment["function"]["arguments"] = ""
    call[0]["function"]["arguments"] = value


def changed_arguments(sent: Outgoing, change: Callable[[Any], Any]) -> None:
    """Change the value of the arguments of every call that has an object there."""
    for call in calls(sent):
        try:
            value = json.loads(arguments(call))
        except ValueError:
            continue
        changed = change(value)
        if json.dumps(changed) != json.dumps(value):
            set_arguments(call, json.dumps(changed, ensure_ascii=False))


def text(sent: Outgoing, field: str = "content") -> str:
    """Return the text of a field of the whole reply."""
    return "".join([each[field] for each in messages(sent) if isinstance(each.get(field), str)])


def set_text(sent: Outgoing, value: str, field: str = "content") -> None:
    """Put the text of a field into the last message that has some, and leave it empty in the others."""
    holders = [each for each in messages(sent) if isinstance(each.get(field), str) and each[field]]
    for each in holders:
        each[field] = ""
    if holders:
        holders[-1][field] = value


def reasoning_field(sent: Outgoing) -> str:
    """Return the field that holds the reasoning; empty if there is none."""
    return next((name for name in REASONING if text(sent, name)), "")


def is_event(event: NativeEvent, name: str) -> bool:
    """Return whether an event is a chunk whose delta has a text of that name."""
    found = event.value.get("choices") if isinstance(event.value, dict) else None
    return bool(found and found[0].get("delta", {}).get(name))


def usages(sent: Outgoing) -> list[dict[str, Any]]:
    """Return the objects that count tokens, wherever they stand."""
    return sent.objects(lambda value: "prompt_tokens" in value)


def results(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tool messages at the end of a request, in order."""
    listed = request.get("messages") or ()
    return [*takewhile(lambda each: each.get("role") == "tool", reversed(listed))][::-1]
