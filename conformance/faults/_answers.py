"""What faults read on every wire: the text of an answer, its reasoning, the results that it answers, ids and counts."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.faults import Outgoing
from conformance.faults._chat import reasoning_field


class TextPiece(NamedTuple):
    """A text of a reply: the object that holds it, and its key there."""

    holder: dict[str, Any]
    key: str

    @property
    def text(self) -> str:
        """Return the text."""
        found = self.holder.get(self.key)
        return found if isinstance(found, str) else ""


class PiecedText(NamedTuple):
    """One text of a reply: the pieces that add up to it, and what repeats it whole, as streams of Responses do."""

    pieces: list[TextPiece]
    repeated: list[TextPiece]

    @property
    def whole(self) -> str:
        """Return the whole text."""
        return "".join([each.text for each in self.pieces])

    def write(self, value: str) -> None:
        """Put another text into the last piece that has some, and leave the others empty."""
        last = max((at for at, each in enumerate(self.pieces) if each.text), default=None)
        for at, piece in enumerate(self.pieces):
            piece.holder[piece.key] = value if at == last else ""
        for piece in self.repeated:
            piece.holder[piece.key] = value


_DELTAS: Final = {"text": "response.output_text.delta", "reasoning": "response.reasoning_summary_text.delta"}
_PARTS: Final = {
    "text": ("output_text", "response.output_text.done"),
    "reasoning": ("summary_text", "response.reasoning_summary_text.done"),
}


def answer(sent: Outgoing) -> PiecedText:
    """Return the text of the answer; it has no pieces if the reply has none."""
    return _texts(sent, "text")


def reasoning(sent: Outgoing) -> PiecedText:
    """Return the reasoning."""
    return _texts(sent, "reasoning")


def _texts(sent: Outgoing, kind: str) -> PiecedText:
    if sent.wire == "responses":
        whole = [TextPiece(each, "text") for each in sent.objects(lambda value: value.get("type") in _PARTS[kind])]
        whole = [each for each in whole if each.text]
        if sent.events is None:
            return PiecedText(whole, [])
        return PiecedText(
            [TextPiece(each, "delta") for each in sent.objects(lambda v: v.get("type") == _DELTAS[kind])], whole
        )
    if sent.wire == "messages":
        key = "text" if kind == "text" else "thinking"
        return PiecedText(
            [TextPiece(each, key) for each in sent.objects(lambda v: v.get("type") in (key, f"{key}_delta"))], []
        )
    if sent.wire == "gemini":
        is_thought = kind == "reasoning"
        parts = sent.objects(lambda value: "text" in value and value.get("thought", False) is is_thought)
        return PiecedText([TextPiece(each, "text") for each in parts], [])
    key = "content" if kind == "text" else reasoning_field(sent)
    return PiecedText(
        [TextPiece(each, key) for each in sent.objects(lambda v: isinstance(v.get(key), str) and "id" not in v)], []
    )


def results(sent: Outgoing) -> list[str]:
    """Return the results at the end of the request, in order; nothing if it ends otherwise."""
    groups = _groups(sent)
    return groups[-1] if groups else []


def earlier_results(sent: Outgoing) -> list[str]:
    """Return the results before those."""
    return [each for group in _groups(sent)[:-1] for each in group]


def _groups(sent: Outgoing) -> list[list[str]]:
    """Return the results of each turn; the last group is empty if the request ends with something else."""
    entries = sent.request.get({"responses": "input", "gemini": "contents"}.get(sent.wire, "messages"))
    groups: list[list[str]] = [[]]
    for entry in entries:
        found = list(_results_in(entry))
        if found:
            groups[-1] += found
        elif groups[-1]:
            groups.append([])
    return groups


def _results_in(entry: Mapping[str, Any]) -> Iterator[str]:
    if entry.get("role") == "tool":
        yield str(entry.get("content"))
    elif entry.get("type") == "function_call_output":
        yield str(entry.get("output"))
    parts = entry.get("parts", entry.get("content"))
    for part in parts if isinstance(parts, list) else ():
        if part.get("type") == "tool_result":
            yield str(part.get("content"))
        elif "functionResponse" in part:
            yield str(next(iter(part["functionResponse"]["response"].values()), ""))


def envelopes(sent: Outgoing) -> list[dict[str, Any]]:
    """Return the objects that hold the id and the model of the reply."""
    key = {"gemini": "modelVersion"}.get(sent.wire, "model")
    return sent.objects(lambda value: key in value and ("id" in value or "responseId" in value))


ID: Final = {"gemini": "responseId"}
MODEL: Final = {"gemini": "modelVersion"}
"""The keys of the id and of the model of a reply where they are not `id` and `model`."""

_COUNTS: Final = {
    "chat": ("prompt_tokens", "completion_tokens", "total_tokens"),
    "messages": ("input_tokens", "output_tokens"),
    "responses": ("input_tokens", "output_tokens", "total_tokens"),
    "gemini": ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"),
}


def counts(sent: Outgoing) -> list[tuple[dict[str, Any], str]]:
    """Return the objects that count tokens, each with the key of a count."""
    keys = _COUNTS[sent.wire]
    usages = sent.objects(lambda value: any(isinstance(value.get(key), int) for key in keys))
    return [(usage, key) for usage in usages for key in keys if key in usage]


def call_names(sent: Outgoing) -> list[TextPiece]:
    """Return the names of calls; a stream of Responses has each of them twice or more."""
    holders = [each["function"] for each in sent.calls()] if sent.wire == "chat" else sent.calls()
    return [TextPiece(each, "name") for each in holders if each.get("name")]


def call_arguments(sent: Outgoing) -> list[PiecedText]:
    """Return the JSON text of the arguments of each call on Responses, and of each streamed call on Messages."""
    starts = sent.objects(lambda value: value.get("type") in ("content_block_start", "response.output_item.added"))
    return [_arguments_of(sent, each) for each in starts if _is_call(each.get("item") or each["content_block"])]


def _is_call(item: Mapping[str, Any]) -> bool:
    return item.get("type") in ("tool_use", "function_call")


def _arguments_of(sent: Outgoing, start: Mapping[str, Any]) -> PiecedText:
    if "content_block" in start:
        index = start["index"]
        deltas = [each["delta"] for each in sent.objects(lambda v: v.get("index") == index and "delta" in v)]
        return PiecedText([TextPiece(each, "partial_json") for each in deltas], [])
    number = start["output_index"]
    events = sent.objects(lambda value: value.get("output_index") == number)
    items = sent.objects(lambda value: value.get("id") == start["item"]["id"] and bool(value.get("arguments")))
    whole = [*items, *[each for each in events if "arguments" in each]]
    pieces = [TextPiece(each, "delta") for each in events if "delta" in each]
    return PiecedText(pieces, [TextPiece(each, "arguments") for each in whole])
