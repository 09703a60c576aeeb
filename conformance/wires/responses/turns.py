"""Items of Responses as messages of chat completions.

Neighbouring items of the assistant are one message: its reasoning items become `reasoning_details`, in order and whole,
its calls `tool_calls` under their `call_id`. Outputs become tool messages where they stand.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.keys import key_of
from conformance.wire.media import image_at
from conformance.wires.drafts import Draft, objects, rendered
from conformance.wires.responses.state import Memory, is_empty

CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""The kinds of calls that the client runs as functions, each with the key of what they are called with."""
OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_TEXTS: Final = ("input_text", "output_text", "text", "summary_text")
_OPAQUE: Final = ("compaction", "compaction_summary")


class Transcript:
    """Messages in the making, item by item.

    `is_whole`: whether everything that an output may answer is at hand. `unjudged`: the native places of items of which
    nothing can be said, since what they belong to is only at the server. `hosted`: the kinds of items that have no
    counterpart in chat completions.
    """

    def __init__(self, draft: Draft, memory: Memory, *, is_whole: bool, is_stored: bool) -> None:
        self.draft = draft
        self.memory = memory
        self.is_whole = is_whole
        self.is_stored = is_stored
        self.unjudged: list[Place] = []
        self.hosted: dict[str, None] = {}
        self.tools: list[Place] = []
        self._open: tuple[dict[str, Any], Place] | None = None
        self._called = {key_of(call.get("id")) for each in draft.messages for call in each.get("tool_calls") or ()}

    def add(self, item: Mapping[str, Any], place: Place) -> None:
        """Add an item that is at a native place."""
        kind = kind_of(item)
        if kind == "item_reference":
            self._refer(item, place)
        elif kind == "message" and item.get("role") != "assistant":
            self._open = None
            self.draft.add({"role": item.get("role"), **_content(item)}, place)
        elif kind in OUTPUTS:
            self._answer(item, place)
        elif kind in ("message", "reasoning") or kind in CALLS:
            if kind in CALLS:
                self._called.add(key_of(item.get("call_id")))
            message, at = self._message(place)
            fill(message, at, item, place, self)
        else:
            self.hosted[kind] = None
            if kind in _OPAQUE:
                self.is_whole = False
            if kind in _OPAQUE or not kind.endswith("_call"):
                self._open = None

    def _refer(self, item: Mapping[str, Any], place: Place) -> None:
        found = self.memory.resolve(item.get("id"))
        if found is None:
            self.is_whole = False
            self.unjudged.append(place)
        else:
            self.add(found, place)

    def _message(self, place: Place) -> tuple[dict[str, Any], Place]:
        """Return the assistant message in the making; a new one after what is not the assistant's."""
        if self._open is None:
            message: dict[str, Any] = {"role": "assistant", "content": None}
            self._open = message, self.draft.add(message, place)
        return self._open

    def _answer(self, item: Mapping[str, Any], place: Place) -> None:
        self._open = None
        identity = item.get("call_id")
        if not self.is_whole and key_of(identity) not in self._called:
            self.unjudged.append(place)
            return
        output = item.get("output")
        message: dict[str, Any] = {"role": "tool", "content": _parts(output) if type(output) is list else output}
        if "call_id" in item:
            message["tool_call_id"] = identity
        at = self.draft.add(message, place)
        self.draft.places[*at, "tool_call_id"] = (*place, "call_id")
        self.draft.places[*at, "content"] = (*place, "output")


def kind_of(item: Mapping[str, Any]) -> str:
    """Return the type of an item; a message may be without one."""
    kind = item.get("type")
    return kind if type(kind) is str else "message" if "role" in item else ""


def fill(message: dict[str, Any], at: Place, item: Mapping[str, Any], place: Place, into: Transcript) -> None:
    """Add an item of the assistant to a message."""
    places, kind = into.draft.places, kind_of(item)
    if kind == "message":
        _say(message, item)
        places.setdefault((*at, "content"), place)
    elif kind in CALLS:
        calls = message.setdefault("tool_calls", [])
        to: Place = (*at, "tool_calls", len(calls))
        calls.append(_call(item, CALLS[kind]))
        places |= {to: place, (*to, "id"): (*place, "call_id"), (*to, "function", "name"): (*place, "name")}
        places[*to, "function", "arguments"] = (*place, CALLS[kind])
    elif kind == "reasoning":
        made = into.memory.reasoning(item)
        # Without text, blob or a store, an item holds nothing that could come back.
        if not is_empty(made) or into.is_stored:
            details = message.setdefault("reasoning_details", [])
            places[*at, "reasoning_details", len(details)] = place
            places.setdefault((*at, "reasoning_details"), place)
            details.append(made)
    else:
        into.hosted[kind] = None


def _say(message: dict[str, Any], item: Mapping[str, Any]) -> None:
    content = item.get("content")
    texts = [content] if type(content) is str else []
    for _, part in objects(content):
        if type(part.get("refusal")) is str:
            message["refusal"] = (message.get("refusal") or "") + part["refusal"]
        elif part.get("type") in _TEXTS and type(part.get("text")) is str:
            texts.append(part["text"])
    if texts:
        message["content"] = (message["content"] or "") + "".join(texts)


def _call(item: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a call; the text that a custom tool is called with stands under a key of its own, as in its definition."""
    arguments = item.get(key)
    if key == "input":
        arguments = rendered({"input": arguments})
    call = {"type": "function", "function": {"name": name_of(item), "arguments": arguments}}
    return call | ({"id": item["call_id"]} if "call_id" in item else {})


def name_of(item: Mapping[str, Any]) -> Any:
    """Return the name of a function, within its namespace if it has one.

    A function that is declared by itself and found by tool search is called in a namespace of its own name.
    """
    name, space = item.get("name"), item.get("namespace")
    return f"{space}.{name}" if type(space) is str and space not in ("", name) and type(name) is str else name


def _content(item: Mapping[str, Any]) -> dict[str, Any]:
    if "content" not in item:
        return {}
    content = item["content"]
    return {"content": _parts(content) if type(content) is list else content}


def _parts(content: list[Any]) -> list[Any]:
    """Return content parts; what chat completions cannot hold keeps its own form."""
    return [_part(part) for _, part in objects(content)]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part.get("type") in _TEXTS and "text" in part:
        return {"type": "text", "text": part["text"]}
    if part.get("type") == "input_image" and type(part.get("image_url")) is str:
        return image_at(part["image_url"], part.get("detail"))
    return dict(part)
