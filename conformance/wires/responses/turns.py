"""Items of Responses as messages of chat completions: one walk over them, for the judge and for the converter.

Neighbouring items of the assistant are one message: its reasoning items become `reasoning_details`, in order, its calls
`tool_calls` under their `call_id`. Outputs become tool messages where they stand.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.blocks import Block
from conformance.wire.codec import Codec
from conformance.wire.content import AS_STRING, EMPTY_TEXT
from conformance.wire.drafts import Draft
from conformance.wire.keys import key_of
from conformance.wire.values import objects
from conformance.wires.responses.blocks import (
    LOCAL,
    READ_PARTS,
    TEXTS,
    details_of,
    is_empty,
    join,
    joins,
    name_of,
    read_call,
    read_part,
    reasoning_item,
    whole_detail,
)
from conformance.wires.responses.kinds import CALLS, OUTPUTS, kind_of
from conformance.wires.responses.state import Memory, first_new

HELD: Final = "the server holds it already"
AT_SERVER: Final = "stands for what only the server has"
_ROLES: Final = ("user", "system", "developer")
_OPAQUE: Final = ("compaction", "compaction_summary")
_LOGS: Final = ("annotations", "logprobs")
_READ_TEXTS: Final = Codec(lambda _: "on the wire, instructions and results are text", dict, LOCAL)
"""Of what is not text, nothing is left in instructions and results."""


class WalkMark(NamedTuple):
    """Where a walk has come to: how it reads, and how many calls, useless items, kinds and items with tools it met."""

    is_stored: bool
    is_whole: bool
    calls: int
    unjudged: int
    hosted: int
    bringing: int


class ItemsWalk:
    """Reads items one after the other into a draft.

    `memory`: what the earlier exchanges of the session say; None for a body alone, of which a transcript is made.
    `is_whole`: whether everything that an output may answer is at hand. `unjudged`: the native places of items of which
    nothing can be said, since what they belong to is only at the server. `hosted`: the kinds of items that have no
    counterpart in chat completions. `calls`: the ids of the calls that were read. `looked_up`: how many
    items were looked up that may say something else later. `bringing`: the items that bring tools along.
    """

    marks_before = False

    def __init__(self, draft: Draft, memory: Memory | None, *, is_stored: bool, is_whole: bool = True) -> None:
        self.draft = draft
        self.memory = memory
        self.is_whole = is_whole
        self.is_stored = is_stored
        self.unjudged: list[Place] = []
        self.hosted: dict[str, None] = {}
        self._before = len(draft.messages)
        self._called: set[Any] | None = None
        self.calls: list[Any] = []
        self.bringing: list[tuple[Place, Mapping[str, Any]]] = []
        self.looked_up = 0
        self._begin()

    def _begin(self) -> None:
        """Begin a new message of the assistant, which is not there until an item of it is."""
        self._place: Place | None = None
        self._blocks: list[Block] = []
        self._refusals: list[tuple[str, Place, int]] = []
        self._said: list[Place] = []
        self._inputs: dict[int, Place] = {}
        self._last: dict[str, Any] | None = None

    def mark(self) -> WalkMark | None:
        """Return what another walk over the same items goes on from here with; None if what was read may change."""
        # A message of the assistant is open, or later replies may say more of an item.
        if self._place is not None or self.looked_up:
            return None
        counts = len(self.calls), len(self.unjudged), len(self.hosted), len(self.bringing)
        return WalkMark(self.is_stored, self.is_whole, *counts)

    def resume(self, earlier: "ItemsWalk", mark: WalkMark) -> None:
        """Go on from where an earlier walk had come to."""
        self.is_whole = mark.is_whole
        self._call_ids(earlier.calls[: mark.calls])
        self.unjudged += earlier.unjudged[: mark.unjudged]
        self.hosted |= dict.fromkeys(list(earlier.hosted)[: mark.hosted])
        self.bringing += earlier.bringing[: mark.bringing]

    def _call_ids(self, keys: Sequence[Any]) -> None:
        self.calls += keys
        if self._called is not None:
            self._called.update(keys)

    def _is_called(self, identity: Any) -> bool:
        """Return whether a call has an id, among those that were read and those of messages that the server holds."""
        if self._called is None:
            held = self.draft.messages[: self._before]
            self._called = {key_of(call.get("id")) for each in held for call in each.get("tool_calls") or ()}
            self._called.update(self.calls)
        return key_of(identity) in self._called

    def read(self, given: Any, place: Place, held: Sequence[Mapping[str, Any]] = ()) -> None:
        """Read the input of a request: a text, or items; what `held` messages have already is not there twice."""
        if type(given) is str:
            self.draft.lose(place, "comes back as an item")
            self.draft.add({"role": "user", "content": given}, place)
        new = first_new(given, held, self.memory)
        for position, item in objects(given):
            if position < new:
                self._note_tools(item, (*place, position))
                self.draft.lose((*place, position), HELD)
            else:
                self.add(item, (*place, position))
        self.end()

    def add(self, item: Mapping[str, Any], place: Place) -> None:
        """Read an item of a request that is at a native place."""
        self._note_tools(item, place)
        self._add(item, place)

    def _note_tools(self, item: Mapping[str, Any], place: Place) -> None:
        if "tools" in item and kind_of(item) != "message":
            self.bringing.append((place, item))

    def _add(self, item: Mapping[str, Any], place: Place) -> None:
        kind = kind_of(item)
        if kind == "item_reference":
            self._refer(item, place)
        elif kind == "message" and item.get("role") != "assistant":
            self._ask(item, place)
        elif kind in OUTPUTS:
            self._answer(item, place)
        else:
            is_own = self.speak(kind, item, place)
            if kind in _OPAQUE:
                self.is_whole = False
            if kind in _OPAQUE or not (is_own or kind.endswith("_call")):
                self.end()

    def speak(self, kind: str, item: Mapping[str, Any], place: Place) -> bool:
        """Read an item of the assistant; return whether it has a counterpart."""
        if kind == "message":
            self._say(item, place)
        elif kind in CALLS:
            self._call(item, kind, place)
        elif kind == "reasoning":
            self._reason(item, place)
        else:
            self.hosted[kind] = None
            self.draft.lose(place, "the wire has messages, reasoning, and calls of functions")
            return False
        if self._place is None:
            self._place = place
        return True

    def end(self) -> None:
        """End the message of the assistant, if there is one."""
        if self._place is None:
            return
        if self.memory is not None:
            message: dict[str, Any] = {"role": "assistant", "content": None}
            self.fill(message, self.draft.add(message, self._place))
        elif self._blocks or self._refusals:
            self.draft.turn(self._blocks, self._place)
            if self._refusals:
                self._refuse(self.draft.messages[-1])
        self._begin()

    def fill(self, message: dict[str, Any], at: Place) -> None:
        """Add what the assistant said to a message that is at a place."""
        places = self.draft.places
        self.draft.fill(message, at, self._blocks)
        for place in self._said[:1]:
            places.setdefault((*at, "content"), place)
        for number, place in self._inputs.items():
            places[*at, "tool_calls", number, "function", "arguments"] = (*place, CALLS["custom_tool_call"])
        if self._refusals:
            self._refuse(message)

    def _refuse(self, message: dict[str, Any]) -> None:
        for _, place, before in self._refusals:
            if len(self._refusals) > 1 or before < len(self._blocks):
                self.draft.lose(place, "a message has one refusal, which comes last")
        message["refusal"] = "".join([text for text, _, _ in self._refusals])

    def _refer(self, item: Mapping[str, Any], place: Place) -> None:
        found = None if self.memory is None else self.memory.resolve(item.get("id"))
        self.looked_up += self.memory is None or self.memory.grows
        if found is not None:
            self._add(found, place)
            return
        self.draft.lose(place, AT_SERVER)
        if self.memory is not None:
            self.is_whole = False
            self.unjudged.append(place)

    def _ask(self, item: Mapping[str, Any], place: Place) -> None:
        """Add a message of a user, or one with instructions."""
        if self._place is not None:
            self.end()
        role = item.get("role")
        if self.memory is None and not self._note_asked(item, role, place):
            return
        message: dict[str, Any] = {"role": role}
        if "content" in item:
            message["content"] = self._content(item["content"], (*place, "content"), shows=role == "user")
        self.draft.add(message, place)

    def _note_asked(self, item: Mapping[str, Any], role: Any, place: Place) -> bool:
        """Note what a message does not come back with; return whether a transcript has a message for its role."""
        if role not in _ROLES:
            self.draft.lose(place, "the wire has no such role")
            return False
        self.draft.rest(item, ("type", "role", "content"), place, LOCAL)
        content = item.get("content")
        if role == "system" and not self.draft.messages and type(content) is str and content:
            self.draft.lose(place, "comes back as the instructions")
        return True

    def _answer(self, item: Mapping[str, Any], place: Place) -> None:
        """Add the output of a call."""
        if self._place is not None:
            self.end()
        identity = item.get("call_id")
        if not self.is_whole and not self._is_called(identity):
            self.unjudged.append(place)
            return
        if self.memory is None:
            if item["type"] != OUTPUTS[0]:
                self.draft.lose((*place, "type"), f"comes back as {OUTPUTS[0]}")
            self.draft.rest(item, ("type", "call_id", "output"), place, LOCAL)
        content = self._content(item.get("output"), (*place, "output"), shows=False)
        message: dict[str, Any] = {"role": "tool", "content": content}
        if "call_id" in item:
            message["tool_call_id"] = identity
        at = self.draft.add(message, place)
        self.draft.places[*at, "tool_call_id"] = (*place, "call_id")
        self.draft.places[*at, "content"] = (*place, "output")

    def _content(self, content: Any, place: Place, *, shows: bool) -> Any:
        """Return content; in a transcript, only what a user says `shows` more than text."""
        if type(content) is not list:
            return content
        if self.memory is not None:
            return [READ_PARTS.written_or_kept(part) for _, part in objects(content)]
        if not content:
            self.draft.lose(place, AS_STRING)
        codec = READ_PARTS if shows else _READ_TEXTS
        found = [self._named_part(part, (*place, number), codec) for number, part in objects(content)]
        return [part for part in found if part is not None] or ""

    def _named_part(self, part: Mapping[str, Any], place: Place, codec: Codec) -> Any:
        """Return a part for a transcript, and note what it cannot hold; an empty text is a text on this wire."""
        kind = part.get("type")
        if kind not in TEXTS or type(part.get("text")) is not str:
            return self.draft.piece(codec, part, place)
        if kind != TEXTS[0]:
            self.draft.lose((*place, "type"), f"comes back as {TEXTS[0]}")
        self.draft.rest(part, ("type", "text"), place, LOCAL)
        return read_part(part)

    def _say(self, item: Mapping[str, Any], place: Place) -> None:
        """Add a message of the assistant; a transcript has no empty texts."""
        content, keeps = item.get("content"), self.memory is not None
        self._said.append(place)
        if not keeps:
            self._note_message(item, place)
        if type(content) is str:
            content = [{"type": TEXTS[1], "text": content}]
        for _, part in objects(content):
            text, refusal = part.get("text"), part.get("refusal")
            if type(refusal) is str and (refusal or keeps):
                self._refusals.append((refusal, place, len(self._blocks)))
            elif part.get("type") in TEXTS and type(text) is str and (text or keeps):
                self._put(Block("text", text, place))

    def _note_message(self, item: Mapping[str, Any], place: Place) -> None:
        """Note what a message does not come back with: each of its texts is a message of its own."""
        self.draft.rest(item, ("type", "role", "content"), place, LOCAL)
        content, at = item.get("content"), (*place, "content")
        parts: list[tuple[Place, Mapping[str, Any]]] = [((*at, number), part) for number, part in objects(content)]
        if type(content) is str:
            self.draft.lose(at, "comes back as a part")
            parts = [(at, {"type": TEXTS[1], "text": content})]
        is_first = True
        for within, part in parts:
            is_first &= not self._note_part(part, within, is_first=is_first)
        if is_first:
            self.draft.lose(place, "an empty message is left out")

    def _note_part(self, part: Mapping[str, Any], place: Place, *, is_first: bool) -> bool:
        """Note what a part of a message does not come back with; return whether it comes back at all."""
        kind = part.get("type")
        is_said = kind in TEXTS or kind == "refusal"
        if not is_said or not part.get("refusal" if kind == "refusal" else "text"):
            self.draft.lose(place, EMPTY_TEXT if is_said else "the wire has no such content")
            return False
        if not is_first:
            self.draft.lose(place, "comes back as a message of its own")
        elif kind not in (TEXTS[1], "refusal"):
            self.draft.lose((*place, "type"), f"comes back as {TEXTS[1]}")
        known = [key for key in _LOGS if part.get(key) == []]
        self.draft.rest(part, ("type", "text", "refusal", *known), place, LOCAL)
        return True

    def _put(self, block: Block) -> None:
        self._blocks.append(block)
        self._last = None

    def _call(self, item: Mapping[str, Any], kind: str, place: Place) -> None:
        self._call_ids((key_of(item.get("call_id")),))
        if self.memory is None and not self._note_call(item, kind, place):
            return
        call = read_call(item)
        if kind != "function_call":
            self._inputs[sum([block.kind == "call" for block in self._blocks])] = place
        if self.memory is not None and "namespace" in item:
            # Tools of two namespaces may share a name; to the judge, they are two.
            call["function"]["name"] = name_of(item)
        self._put(Block("call", call, place))

    def _note_call(self, item: Mapping[str, Any], kind: str, place: Place) -> bool:
        """Note what a call does not come back with; return whether it is one of a transcript."""
        if not item.get("name"):
            self.draft.lose(place, "the wire has no calls without a name")
            return False
        if kind == "function_call":
            self.draft.rest(item, ("type", "call_id", "name", "arguments"), place, LOCAL)
        else:
            self.draft.lose(place, "comes back as the call of a function, with the input as its only argument")
        return True

    def _reason(self, item: Mapping[str, Any], place: Place) -> None:
        """Add reasoning; without text, blob or a store, an item holds nothing that could come back."""
        if self.memory is None:
            self._reason_alone(item, place)
            return
        detail, is_settled = self.memory.reasoning(item)
        self.looked_up += not is_settled
        if self.is_stored or not is_empty(detail):
            self._put(Block("detail", detail, place))

    def _reason_alone(self, item: Mapping[str, Any], place: Place) -> None:
        """Add the pieces of a reasoning item; what nothing separates from the item before comes back in one with it."""
        self._note_reasoning(item, place)
        details = list(details_of(item))
        if not details:
            self.draft.lose(place, "a reasoning item without id, text and blob is left out")
            return
        if not self.is_stored and is_empty(whole_detail(item)):
            self.draft.lose(place, "the id stands for reasoning that the server does not store")
            return
        whole, *pieces = map(reasoning_item, details)
        if self._last is not None and joins(self._last, whole):
            self.draft.lose(place, "comes back in one item with the reasoning before it")
            pieces.insert(0, whole)
            whole = self._last
        for piece in pieces:
            join(whole, piece)
        for detail in details:
            self._put(Block("detail", detail, place))
        self._last = whole

    def _note_reasoning(self, item: Mapping[str, Any], place: Place) -> None:
        """Note what of a reasoning item is not among its details."""
        self.draft.rest(item, ("type", "id", "summary", "content", "encrypted_content"), place, LOCAL)
        for name, kind in (("summary", "summary_text"), ("content", "reasoning_text")):
            for number, part in objects(item.get(name)):
                at: Place = (*place, name, number)
                if not part.get("text"):
                    self.draft.lose(at, EMPTY_TEXT)
                    continue
                if part["type"] != kind:
                    self.draft.lose((*at, "type"), f"comes back as {kind}")
                self.draft.rest(part, ("type", "text"), at, LOCAL)
        if item.get("encrypted_content") == "":
            self.draft.lose((*place, "encrypted_content"), "an empty blob is left out")
