"""The event stream of Messages, assembled to the reply that it adds up to, with everything irregular noted.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.protocols.drafts import as_object, as_word, events_of
from conformance.wire.native import Irregularity, NativeEvent
from conformance.wire.sse import read

_TEXTS: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
_OF_BLOCK: Final = {
    "text_delta": ("text",),
    "thinking_delta": ("thinking",),
    "signature_delta": ("thinking",),
    "input_json_delta": ("tool_use", "server_tool_use", "mcp_tool_use"),
}


class Assembled(NamedTuple):
    """A stream as a reply.

    `reply`: None if the stream does not begin one. `error`: the body of the event that reports one. `inputs`: the JSON
    text of each block's input, by index. `begins`: the event that begins each block. `complete`: whether the stream
    says that the message is finished.
    """

    events: tuple[NativeEvent, ...]
    reply: dict[str, Any] | None
    error: dict[str, Any] | None
    inputs: dict[int, str]
    begins: dict[int, int]
    complete: bool
    irregularities: tuple[Irregularity, ...]


def assemble(text: str) -> Assembled:
    """Return what the events of a stream add up to."""
    assembly = _Assembly()
    events = events_of(read(text))
    for number, event in enumerate(events):
        assembly.add(number, event)
    return assembly.assembled(events)


class _Assembly:
    """The state of a stream while its events are read."""

    def __init__(self) -> None:
        self.reply: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.blocks: dict[int, dict[str, Any]] = {}
        self.inputs: dict[int, str] = {}
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

    def add(self, number: int, event: NativeEvent) -> None:
        """Read one event."""
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
                self._block(number, kind, value)
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

    def _block(self, number: int, kind: str, value: Any) -> None:
        index = value.get("index")
        if type(index) is not int:
            self.note("index-missing", number, f"expected an index, a whole number, got {index!r}")
            return
        if kind == "content_block_start":
            self._begin(number, index, value)
        elif index not in self.open:
            self.note("block-not-open", number, f"expected a block that is open, got the index {index}")
        elif kind == "content_block_stop":
            del self.open[index]
        else:
            self._extend(number, index, as_object(value.get("delta")))

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
        self.begins.setdefault(index, number)
        self.open[index] = None

    def _extend(self, number: int, index: int, delta: Any) -> None:
        block, kind = self.blocks[index], as_word(delta.get("type"))
        if kind in _OF_BLOCK and block.get("type") not in _OF_BLOCK[kind]:
            self.note(
                "delta-misplaced", number, f"expected no {kind} in a block of type {block.get('type')!r}, got one"
            )
        if index in self.signed:
            self.note(
                "after-signature", number, "expected the signature to be the last delta of its block, got another"
            )
        if kind == "input_json_delta" and type(delta.get("partial_json")) is str:
            self.inputs[index] = self.inputs.get(index, "") + delta["partial_json"]
        elif kind == "citations_delta":
            known = block.get("citations")
            block["citations"] = [*(known if type(known) is list else ()), delta.get("citation")]
        elif kind in _TEXTS:
            key = _TEXTS[kind]
            known, more = block.get(key), delta.get(key)
            block[key] = (known if type(known) is str else "") + (more if type(more) is str else "")
            if kind == "signature_delta":
                self.signed.add(index)

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

    def assembled(self, events: tuple[NativeEvent, ...]) -> Assembled:
        reply = self.reply
        if reply is not None:
            reply = {**reply, "content": [self.blocks[index] for index in sorted(self.blocks)]}
        order = {index: place for place, index in enumerate(sorted(self.blocks))}
        inputs = {order[index]: text for index, text in self.inputs.items()}
        begins = {order[index]: number for index, number in self.begins.items()}
        return Assembled(events, reply, self.error, inputs, begins, self.stopped, tuple(self.found))
