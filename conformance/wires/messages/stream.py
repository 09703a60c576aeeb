"""The event stream of Messages, assembled to the reply that it adds up to, with everything irregular noted.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.drafts import events_of
from conformance.wire.native import Irregularity, NativeEvent
from conformance.wire.repeats import ARGUMENTS, Fragments
from conformance.wire.sse import read
from conformance.wire.values import as_object, as_word

_TEXTS: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
_CONTINUED: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""The kinds of deltas that usually follow each other, each with the key of its text."""
_OF_BLOCK: Final = {
    "text_delta": ("text",),
    "thinking_delta": ("thinking",),
    "signature_delta": ("thinking",),
    "input_json_delta": ("tool_use", "server_tool_use", "mcp_tool_use"),
}


class AssembledMessage(NamedTuple):
    """A stream as a reply.

    `reply`: None if the stream does not begin one. `error`: the body of the event that reports one. `inputs`: the JSON
    text of each block's input, by index. `begins`: the event that begins each block. `complete`: whether the stream
    says that the message is finished. `continuing`: the numbers of the events that only continue a text. `fragments`:
    the texts in the fragments in which they came.
    """

    events: tuple[NativeEvent, ...]
    reply: dict[str, Any] | None
    error: dict[str, Any] | None
    inputs: dict[int, str]
    begins: dict[int, int]
    complete: bool
    continuing: frozenset[int]
    irregularities: tuple[Irregularity, ...]
    fragments: tuple[Fragments, ...]


def assemble(text: str) -> AssembledMessage:
    """Return what the events of a stream add up to."""
    assembly = _MessageAssembly()
    events = events_of(read(text))
    for number, event in enumerate(events):
        if not assembly.continues(number, event):
            assembly.add(number, event)
    return assembly.assembled(events)


class _MessageAssembly:
    """The state of a stream while its events are read.

    `inputs`, `texts`: the parts of each block's input, and of its texts by their keys. `last`: the event before, as the
    next one has to be to continue its text; the text's key; its parts.
    """

    def __init__(self) -> None:
        self.reply: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.blocks: dict[int, dict[str, Any]] = {}
        self.inputs: dict[int, list[str]] = {}
        self.texts: dict[int, dict[str, list[str]]] = {}
        self.last: tuple[NativeEvent, str, list[str]] | None = None
        self.continuing: list[int] = []
        self.begins: dict[int, int] = {}
        self.open: dict[int, None] = {}
        self.signed: set[int] = set()
        self.started = False
        self.ended = False
        self.stopped = False
        self.found: list[Irregularity] = []

    def note(self, kind: str, number: int, message: str) -> None:
        place: Place = ("response", number)
        self.found.append(Irregularity(kind, place, message))

    def continues(self, number: int, event: NativeEvent) -> bool:
        """Read an event that repeats the one before but for its text, as most do; return whether it is one."""
        if self.last is None or type(event.value) is not dict:
            return False
        like, key, parts = self.last
        text = as_object(event.value.get("delta")).get(key)
        if type(text) is not str:
            return False
        like.value["delta"][key] = text
        # In Python, 0 equals false.
        if event != like or type(event.value.get("index")) is not int:
            return False
        parts.append(text)
        self.continuing.append(number)
        return True

    def add(self, number: int, event: NativeEvent) -> None:
        """Read one event."""
        self.last, known = None, len(self.found)
        value = as_object(event.value)
        kind = value.get("type")
        if not value:
            self.note(
                "event-not-json", number, "expected the data of the event to be a JSON object, got something else"
            )
        elif event.name and event.name != kind:
            self.note(
                "event-name", number, f"expected the event to be named {kind!r} as in its data, got {event.name!r}"
            )
        if self.stopped and kind != "ping":
            self.note("after-stop", number, f"expected nothing after message_stop, got {kind!r}")
        match kind:
            case "message_start":
                self._start(number, value)
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                self._begun(number, kind)
                parts = self._block(number, kind, value)
                if parts is not None and len(self.found) == known:
                    delta = value["delta"]
                    like = NativeEvent(event.name, {**value, "delta": dict(delta)})
                    self.last = like, _CONTINUED[delta["type"]], parts
            case "message_delta":
                self._end(number, value)
            case "message_stop":
                self._stop(number)
            case "error":
                self.error = dict(value)

    def _start(self, number: int, value: dict[str, Any] | Any) -> None:
        if self.started:
            self.note("second-start", number, "expected one message_start, got another one")
        self.started = True
        self.reply = {**as_object(value.get("message"))}

    def _begun(self, number: int, kind: str) -> None:
        """Note, once, what comes before the start of the message."""
        if self.reply is None:
            self.note("no-start", number, f"expected message_start first, got {kind}")
            self.reply = {}

    def _block(self, number: int, kind: str, value: Any) -> list[str] | None:
        """Read an event about a block; return the parts of the text that it continues if it is such a delta."""
        index = value.get("index")
        if type(index) is not int:
            self.note("index-missing", number, f"expected an index, a whole number, got {index!r}")
        elif kind == "content_block_start":
            self._begin(number, index, value)
        elif index not in self.open:
            self.note("block-not-open", number, f"expected a block that is open, got the index {index}")
        elif kind == "content_block_stop":
            del self.open[index]
        else:
            return self._extend(number, index, as_object(value.get("delta")))
        return None

    def _begin(self, number: int, index: int, value: Any) -> None:
        if self.open:
            listed = ", ".join(map(str, self.open))
            self.note(
                "blocks-overlap", number, f"expected block {listed} to be stopped first, got the start of {index}"
            )
        if self.ended:
            self.note("after-delta", number, f"expected no block after message_delta, got the start of {index}")
        expected = len(self.blocks)
        if index != expected:
            self.note("index-jumps", number, f"expected the index {expected}, got {index}")
        self.blocks[index] = {**as_object(value.get("content_block"))}
        self.texts[index] = {}
        self.begins.setdefault(index, number)
        self.open[index] = None

    def _extend(self, number: int, index: int, delta: Any) -> list[str] | None:
        block, kind = self.blocks[index], as_word(delta.get("type"))
        if kind in _OF_BLOCK and block.get("type") not in _OF_BLOCK[kind]:
            self.note(
                "delta-misplaced", number, f"expected no {kind} in a block of type {block.get('type')!r}, got one"
            )
        if index in self.signed:
            self.note(
                "after-signature", number, "expected the signature to be the last delta of its block, got another"
            )
        if kind == "citations_delta":
            known = block.get("citations")
            block["citations"] = [*(known if type(known) is list else ()), delta.get("citation")]
        parts = None
        if kind == "input_json_delta" and type(delta.get("partial_json")) is str:
            parts = self.inputs.setdefault(index, [])
            parts.append(delta["partial_json"])
        elif kind in _TEXTS:
            parts = self._parts_of(index, block, _TEXTS[kind])
            parts.append(as_word(delta.get(_TEXTS[kind])))
            if kind == "signature_delta":
                self.signed.add(index)
        return parts if kind in _CONTINUED else None

    def _parts_of(self, index: int, block: dict[str, Any], key: str) -> list[str]:
        """Return the parts of a text of a block; the first one is what the block began with."""
        texts = self.texts[index]
        if key not in texts:
            texts[key] = [as_word(block.get(key))]
            block[key] = ""
        return texts[key]

    def _end(self, number: int, value: Any) -> None:
        self._begun(number, "message_delta")
        if not self.ended:
            self._close(number)
        self.ended = True
        reply = self.reply or {}
        usage = {**as_object(reply.get("usage")), **as_object(value.get("usage"))}
        self.reply = {**reply, **as_object(value.get("delta")), "usage": usage}

    def _stop(self, number: int) -> None:
        if not self.ended:
            self._close(number)
            self.note("no-delta", number, "expected message_delta with the stop_reason before message_stop, got none")
        self.stopped = True

    def _close(self, number: int) -> None:
        if self.open:
            listed = ", ".join(map(str, self.open))
            self.note("block-not-stopped", number, f"expected every block to be stopped, got block {listed} still open")

    def assembled(self, events: tuple[NativeEvent, ...]) -> AssembledMessage:
        reply = self.reply
        for index, texts in self.texts.items():
            self.blocks[index] |= {key: "".join(parts) for key, parts in texts.items()}
        if reply is not None:
            reply = {**reply, "content": [self.blocks[index] for index in sorted(self.blocks)]}
        order = {index: place for place, index in enumerate(sorted(self.blocks))}
        inputs = {order[index]: "".join(parts) for index, parts in self.inputs.items()}
        begins = {order[index]: number for index, number in self.begins.items()}
        continuing, found, fragments = frozenset(self.continuing), tuple(self.found), tuple(self._fragments())
        return AssembledMessage(events, reply, self.error, inputs, begins, self.stopped, continuing, found, fragments)

    def _fragments(self) -> Iterator[Fragments]:
        yield from [Fragments(key, parts) for texts in self.texts.values() for key, parts in texts.items()]
        yield from [Fragments(ARGUMENTS, parts) for parts in self.inputs.values()]
