"""Ingress: a provider's reply becomes a message of the canonical transcript.

Reasoning gets one name, whatever the provider calls it; `reasoning_details`, ids and arguments stay verbatim. What the
transcript cannot hold is named as lost.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.convert.dialects import storable
from conformance.documents.pointer import Place, parse
from conformance.errors import Unusable
from conformance.schemas import validator
from conformance.wire.arguments import encode
from conformance.wire.assemble import Stream, assemble
from conformance.wire.losses import Converted, Losses
from conformance.wire.reasoning import PARTS, TAGS, TEXT_KEYS, find_tagged, foreign_keys, reasoning_text
from conformance.wire.sse import read as read_events

_HELD: Final = frozenset(
    {"role", "content", "refusal", "audio", "tool_calls", "reasoning_details", "thinking_blocks", *TEXT_KEYS}
)
_REPLY_ONLY: Final = frozenset({"index"})
"""The keys of a call that number it in a reply and mean nothing outside it."""
_NO_FIELD: Final = "the transcript has no such field"
_SAME: Final = "the same reasoning is in another field"
_OTHER: Final = "the transcript holds one reasoning, and this one differs"


def read(reply: Mapping[str, Any] | Stream | str | bytes, claims: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the canonical assistant message of a reply's first choice; see `convert`, which names the losses too."""
    message: dict[str, Any] = convert(reply, claims).value
    return message


def convert(reply: Mapping[str, Any] | Stream | str | bytes, claims: Mapping[str, Any] | None = None) -> Converted:
    """Return the canonical assistant message of a reply's first choice, and what it cannot hold.

    A reply is a body, the message in one, the text of an event stream, or an assembled stream. The losses point into
    the body, or into the message if that is all there is; those of a stream point into the body that it amounts to.

    `content` is a string (null becomes ""); thinking parts of a content list become reasoning, and so does text
    between tags if the claims say that the provider uses them. Signed blocks become `reasoning_details`. The first
    field with reasoning counts. A tool call keeps its id, name, arguments and `extra_content`. Raises Unusable if the
    reply holds no message, such as an error.
    """
    found, place = _message(reply)
    message, replaced = storable(found)
    losses = Losses()
    for loss in replaced:
        losses.add((*place, *parse(loss.pointer)), loss.reason)
    if place and isinstance(reply, Mapping):
        for number in range(1, len(_objects(reply["choices"]))):
            losses.add(("choices", number), "a transcript holds one choice")
    content, thinking = _split(message.get("content"), (*place, "content"), losses)
    if not thinking:
        content, thinking = _untagged(content, claims or {}) or (content, thinking)
    details = _details(message, place, losses)
    result: dict[str, Any] = {"role": "assistant", "content": content}
    keys = (*TEXT_KEYS, *foreign_keys((claims or {}).get("reasoning.response-field")))
    result |= _reasoning(message, keys, thinking, _details_text(details), place, losses)
    if details is not None:
        result["reasoning_details"] = details
    result |= _others(message, place, losses)
    if calls := _calls(message.get("tool_calls"), (*place, "tool_calls"), losses):
        result["tool_calls"] = calls
    return losses.converted(result)


def _message(reply: Any) -> tuple[dict[str, Any], Place]:
    """Return the message of a reply, and its place in the body; the root if the reply is the message."""
    if isinstance(reply, (str, bytes)):
        reply = assemble(read_events(reply))
    found: Any = None
    place: Place = ("choices", 0, "message")
    if isinstance(reply, Stream):
        found = reply.choices[0].message if reply.choices else None
    elif isinstance(reply, Mapping) and "choices" in reply:
        choices = _objects(reply["choices"])
        found = choices[0].get("message") if choices else None
    elif isinstance(reply, Mapping) and "error" not in reply:
        found, place = reply, ()
    if not isinstance(found, Mapping):
        message = "expected a reply with a message, got one without"
        raise Unusable(message)
    return dict(found), place


def _split(content: Any, place: Place, losses: Losses) -> tuple[str, str | None]:
    """Return the text of a content, and that of its thinking parts."""
    if not isinstance(content, list):
        if not isinstance(content, str) and content:
            losses.add(place, "not text")
        return (content if isinstance(content, str) else ""), None
    texts, thinking = [], []
    for number, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        field = next((name for name, known in PARTS.items() if known == kind), None)
        if field is not None:
            thinking.append(reasoning_text({"content": [part]}, field))
        elif kind is not None and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            losses.add((*place, number), "the content of a reply is text")
    return "".join(texts), "".join(thinking) if thinking else None


def _untagged(content: str, claims: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return content and reasoning of a text that begins with reasoning between tags, if that is claimed."""
    for tag, is_usual in _tags(claims):
        found = find_tagged(content, tag)
        if found is not None and found.closed and (is_usual or found.opened):
            return found.rest.lstrip("\n"), found.reasoning.strip("\n")
    return None


def _tags(claims: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield each tag that replies may have, and whether they have it by default.

    If only some requests cause it, the opening tag is required as well: templates leave it out only by default.
    """
    switches = claims.get("reasoning.response-field-switches")
    claimed = [claims.get("reasoning.response-field")]
    for number, each in enumerate([*claimed, *(switch["field"] for switch in _objects(switches))]):
        for field in each if isinstance(each, list) else [each]:
            if field in TAGS:
                yield TAGS[field], number == 0


def _reasoning(
    message: Mapping[str, Any],
    keys: Sequence[str],
    thinking: str | None,
    summary: str | None,
    place: Place,
    losses: Losses,
) -> dict[str, str]:
    """Return the first reasoning that is not empty, else an empty one if there is one; other texts are lost."""
    fields = [(key, message[key]) for key in keys if message.get(key) is not None]
    texts = [(key, value) for key, value in fields if isinstance(value, str)]
    for key, value in fields:
        if not isinstance(value, str):
            losses.add((*place, key), "not text")
    if thinking is not None:
        texts.append(("content", thinking))
    chosen = next(((key, text) for key, text in texts if text), None)
    for key, text in texts:
        if chosen is not None and text and key != chosen[0]:
            losses.add((*place, key), _SAME if text == chosen[1] else _OTHER)
    if chosen is not None:
        return {"reasoning_content": chosen[1]}
    if summary is not None or texts:
        return {"reasoning_content": summary or ""}
    return {}


def _details(message: Mapping[str, Any], place: Place, losses: Losses) -> list[Any] | None:
    """Return the structured reasoning of a reply: its details, else its thinking blocks as details."""
    for key in ("reasoning_details", "thinking_blocks"):
        given = message.get(key)
        if isinstance(given, list) and (given or key == "reasoning_details"):
            break
        if given:
            losses.add((*place, key), "not a list")
    else:
        return None
    if key == "reasoning_details" and message.get("thinking_blocks"):
        losses.add((*place, "thinking_blocks"), "the reasoning is in reasoning_details")
    kept = []
    for number, item in enumerate(given):
        detail = _detail(item) if key == "thinking_blocks" and isinstance(item, dict) else item
        if validator("canonical/reasoning-detail").is_valid(detail):
            kept.append(detail)
        else:
            losses.add((*place, key, number), "not a valid block of reasoning")
    return kept


def _detail(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a thinking block as a reasoning detail."""
    if block.get("type") == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block.get("data")}
    signature = {"signature": block["signature"]} if "signature" in block else {}
    return {"type": "reasoning.text", "text": block.get("thinking", "")} | signature


def _details_text(details: list[Any] | None) -> str | None:
    found = [detail.get("text") or detail.get("summary") for detail in _objects(details)]
    texts = [_joined(text) for text in found if isinstance(text, (str, list))]
    return "".join(texts) if texts else None


def _joined(text: str | list[Any]) -> str:
    """Return a text; a summary may be a list of steps, each with a text of its own."""
    if isinstance(text, str):
        return text
    return "".join([step["text"] for step in _objects(text) if isinstance(step.get("text"), str)])


def _others(message: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return the refusal and the id of an audio reply; every key that the transcript has no field for is lost."""
    result: dict[str, Any] = {}
    if isinstance(message.get("refusal"), str):
        result["refusal"] = message["refusal"]
    elif message.get("refusal"):
        losses.add((*place, "refusal"), "not text")
    audio = message.get("audio")
    if isinstance(audio, dict) and isinstance(audio.get("id"), str):
        result["audio"] = {"id": audio["id"]}
        for key in audio.keys() - {"id"}:
            losses.add((*place, "audio", key), "an audio reply is sent back by its id")
    elif audio:
        losses.add((*place, "audio"), "an audio reply without an id cannot be sent back")
    for key, value in message.items():
        if key not in _HELD and value not in (None, "", [], {}):
            losses.add((*place, key), _NO_FIELD)
    return result


def _calls(given: Any, place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the calls of functions; other calls, and those without a name, are lost."""
    if not isinstance(given, list):
        if given:
            losses.add(place, "not a list of calls")
        return []
    calls = []
    for number, call in enumerate(given):
        at = (*place, number)
        if not isinstance(call, dict) or call.get("type", "function") not in ("function", "", None):
            losses.add(at, "the wire has only calls of functions")
        elif (made := _call(call, at, losses)) is not None:
            calls.append(made)
    return calls


def _call(call: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any] | None:
    """Return a call of the canonical wire, or None if it names no function.

    An id and arguments that the reply left out become empty text.
    """
    function = call.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        losses.add(place, "a call without the name of a function")
        return None
    made = {
        "id": _text(call.get("id")),
        "type": "function",
        "function": {"name": name, "arguments": _text(function.get("arguments"))},
    }
    if isinstance(call.get("extra_content"), dict):
        made["extra_content"] = call["extra_content"]
    for key, value in call.items():
        if key not in made and key not in _REPLY_ONLY and value is not None:
            losses.add((*place, key), _NO_FIELD)
    for key in function.keys() - {"name", "arguments"}:
        losses.add((*place, "function", key), _NO_FIELD)
    return made


def _text(value: Any) -> str:
    """Return a text unchanged; an object, which some servers send as arguments, becomes its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else encode(value)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
