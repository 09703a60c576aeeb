"""The message of one choice, assembled from its deltas to what it would be in a plain reply.

What each key of a delta becomes:

| key | in the message |
| --- | --- |
| `role` | the first one |
| `content` as strings, `refusal`, `reasoning`, `reasoning_content` | joined |
| `content` as lists, or as both | a list of parts: adjacent parts of text, thinking or reasoning are joined |
| `reasoning_details` | a list of items: `text` and `summary` of the fragments with one index and type are joined |
| `tool_calls` | see `calls` |
| other objects | merged: `arguments` (`function_call`), `data` and `transcript` (`audio`) joined, else the last value |
| other lists | concatenated |
| other values | the last one |

null is ignored: only `content` is null if it has no other value. An empty value is kept if there is no other.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.anomalies import NoteAnomaly, describe
from conformance.wire.calls import Calls
from conformance.wire.fragments import Details, MergedObject, PartialObject, rendered
from conformance.wire.patterns import Continued, Piece
from conformance.wire.reasoning import TEXT_KEYS
from conformance.wire.repeats import ARGUMENTS, Fragments

_STRINGS: Final = frozenset({*TEXT_KEYS, "refusal"})
_CONTENT_KEYS: Final = frozenset({"content", "function_call", "reasoning_details", "tool_calls", *_STRINGS})
_JOINED_PARTS: Final = frozenset({"reasoning", "text", "thinking"})


class PartialMessage:
    """The message of one choice while it is being assembled.

    `runs` holds the string fields to which a fragment can be appended without a check, and `empty` the empty values.
    Every other value goes through `put`, which notes anomalies. So an ordinary delta costs little, and one that repeats
    another, except for its text, nearly nothing.
    """

    __slots__ = (
        "_calls", "_content", "_details", "_fields", "_has_text", "_note", "_repeated", "_roles", "_strings", "_texts",
        "empty", "finish_reason", "index", "runs",
    )  # fmt: skip

    def __init__(self, index: int, note: NoteAnomaly) -> None:
        self.index = index
        self.finish_reason: str | None = None
        self.runs: dict[str, list[str]] = {}
        self.empty: dict[str, Any] = {}
        self._note = note
        self._strings: dict[str, list[str]] = {}
        self._content: list[Any] = []
        self._has_text = False
        self._details: Details | None = None
        self._calls: Calls | None = None
        self._roles: list[str] = []
        self._repeated: Place = ()
        self._fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, delta: dict[str, Any], at: int, position: int) -> None:
        """Add the delta of the choice at `position` in the chunk of event `at`."""
        for key, value in delta.items():
            if key in self.runs and type(value) is str:
                self.runs[key].append(value)
            elif value:
                self.put(key, value, (at, "choices", position, "delta", key))
            elif value is not None or key not in self.empty:
                self.empty[key] = value

    def continued(self, delta: dict[str, Any]) -> Continued | None:
        """Return what a delta that was added continues, if another one with a new text would do nothing else."""
        if self.finish_reason is not None:
            return None
        text = ""
        texts: list[Piece] = []
        constant: list[tuple[list[str], str]] = []
        for key, value in delta.items():
            if not value:
                continue
            if key == "role" or (key in self._texts and self._fields.get(key) == value):
                run = self.runs.get("role") if key == "role" else self._texts[key]
                if run is None or type(value) is not str:
                    return None
                constant.append((run, value))
                continue
            for piece in self._continued(key, value):
                if piece is None or (text and piece.text != text):
                    return None
                text = piece.text
                texts.append(piece)
        # Looking for the text in the data would find the constant value as well.
        if constant and text in [value for _, value in constant]:
            return None
        return Continued(text, texts, constant)

    def _continued(self, key: str, value: Any) -> Sequence[Piece | None]:
        """Return the texts under one key of a delta; with None if it does more than continue them."""
        if key in self.runs and type(value) is str:
            return (Piece((key,), self.runs[key], value),)
        if key == "tool_calls" and self._calls is not None:
            run = self._calls.continued(value)
            text = "" if run is None else value[0]["function"]["arguments"]
            return (Piece((key, 0, "function", "arguments"), run, text),) if run is not None and text else (None,)
        if type(value) is not list or len(value) != 1:
            return (None,)
        if key == "reasoning_details" and self._details is not None:
            return self._details.continued(value[0], (key, 0))
        last = self._content[-1] if key == "content" and self._content and not self._has_text else None
        if type(last) is PartialObject and _is_joined(last, value[0]):
            return last.continued(value[0], (key, 0))
        return (None,)

    def put(self, key: str, value: Any, place: Place) -> None:
        """Add the value of one key of a delta; the value is not empty."""
        if self.finish_reason is not None and key in _CONTENT_KEYS:
            self._note("after-finish", place, f"after finish_reason {describe(self.finish_reason)}")
        if key == "tool_calls":
            if self._calls is None:
                self._calls = Calls(self._note)
            self._calls.add(value, place)
        elif key == "content":
            self._add_content(value, place)
        elif key in _STRINGS:
            self._add_string(key, value, place)
        elif key == "reasoning_details" and type(value) is list:
            if self._details is None:
                self._details = Details(self._note)
            self._details.add(value, place)
        else:
            self._add_other(key, value, place)

    def finish(self, reason: str, place: Place) -> None:
        """Set the finish reason; the last one is kept, as a client that reads the stream would."""
        self._note("finish", place, reason)
        self.finish_reason = reason
        self.runs.clear()

    def close(self) -> dict[str, Any]:
        """Return the message."""
        if self._roles:
            again = ", ".join(sorted(set(self._roles)))
            self._note("role-repeated", self._repeated, f"{again} in {len(self._roles)} more deltas")
        message = {"role": self._fields["role"]} if "role" in self._fields else {}
        if self._content:
            message["content"] = _join_content(self._content)
        elif "content" in self.empty and "content" not in self._fields:
            message["content"] = self.empty["content"]
        for key, run in self._strings.items():
            message[key] = "".join(run)
        if self._details is not None:
            message["reasoning_details"] = self._details.render()
        if self._calls is not None:
            message["tool_calls"] = self._calls.render()
        fields = {key: rendered(value) for key, value in self._fields.items()}
        for key, value in (*fields.items(), *self.empty.items()):
            if value is not None and key not in message:
                message[key] = value
        return message

    def texts(self) -> dict[str, str]:
        """Return the fragments under each key that the assembler does not know, joined; the message has the last."""
        return {key: "".join(fragments) for key, fragments in self._texts.items()}

    def fragments(self) -> Iterator[Fragments]:
        """Yield the texts of the message whose meaning is known, in the fragments in which they came."""
        for part in self._content:
            if type(part) is list:
                yield Fragments("content", part)
            else:
                yield from [Fragments(str(part.fields.get("type")), run) for run in part.runs()]
        for key, run in self._strings.items():
            yield Fragments(key, run)
        if self._details is not None:
            yield from [Fragments("reasoning_details", run) for run in self._details.runs()]
        if self._calls is not None:
            yield from [Fragments(ARGUMENTS, run) for run in self._calls.runs()]

    def calls(self) -> tuple[Place, ...]:
        """Return the place at which each tool call begins."""
        return () if self._calls is None else self._calls.places()

    def _add_content(self, value: Any, place: Place) -> None:
        if type(value) is str:
            self._add_text(value, place)
        elif type(value) is list:
            if (self._content and type(self._content[-1]) is list) or self.empty.get("content") == "":
                self._note("content-type-changed", place, "from a string to a list")
                self.empty.pop("content", None)
            self.runs.pop("content", None)
            for part in value:
                self._add_part(part, place)
        else:
            self._note("not-text", place, f"got {describe(value)}")
            self._fields["content"] = value

    def _add_text(self, value: str, place: Place) -> None:
        """Begin or continue a run of strings, which is stored as a list among the parts."""
        if not self._content or type(self._content[-1]) is not list:
            if self._content:
                self._note("content-type-changed", place, "from a list to a string")
            self._content.append([])
            self._has_text = True
        run = self._content[-1]
        run.append(value)
        for key in TEXT_KEYS:
            self.runs.pop(key, None)
        if self.finish_reason is None:
            self.runs["content"] = run

    def _add_part(self, part: Any, place: Place) -> None:
        if type(part) is not dict:
            self._note("not-an-object", place, f"got {describe(part)}")
            return
        kind = part.get("type")
        if kind in ("reasoning", "thinking") and self._has_text:
            self._note("reasoning-after-content", place, f"a {kind} part after text")
        last = self._content[-1] if self._content else None
        if type(last) is PartialObject and _is_joined(last, part):
            last.add(part)
        else:
            self._content.append(PartialObject(part))

    def _add_string(self, key: str, value: Any, place: Place) -> None:
        if type(value) is not str:
            self._note("not-text", place, f"got {describe(value)}")
            self._fields[key] = value
            return
        run = self._strings.setdefault(key, [])
        run.append(value)
        if key in TEXT_KEYS and self._has_text:
            self._note("reasoning-after-content", place, "")
            self.runs.pop("content", None)
        if self.finish_reason is None:
            self.runs[key] = run

    def _add_other(self, key: str, value: Any, place: Place) -> None:
        known = self._fields.get(key)
        if key == "role":
            self._add_role(value, place)
        elif type(value) is list:
            # A new list, because the parsed one belongs to its chunk.
            if type(known) is not list:
                known = self._fields[key] = []
            known += value
        elif type(value) is dict and type(known) is dict:
            self._fields[key] = MergedObject(known, value)
        elif type(value) is dict and type(known) is MergedObject:
            known.add(value)
        else:
            known = rendered(known)
            if known is not None and known != value:
                self._note("overwritten", place, f"{describe(known)}, now {describe(value)}")
            self._fields[key] = value
            if type(value) is str:
                self._texts.setdefault(key, []).append(value)

    def _add_role(self, value: Any, place: Place) -> None:
        if "role" not in self._fields:
            self._fields["role"] = value
            return
        self._repeated = self._repeated or place
        self._roles.append(value if type(value) is str else describe(value))
        self.runs["role"] = self._roles


def _is_joined(last: PartialObject, part: Any) -> bool:
    """Return whether a part of the content continues the last one."""
    kind = part.get("type") if type(part) is dict else None
    is_alike = not last.fields.get("closed") and last.fields.get("type") == kind
    return is_alike and type(kind) is str and kind in _JOINED_PARTS


def _join_content(content: list[Any]) -> Any:
    """Return a string if there were only strings, else parts, with one text part for each run of strings."""
    if len(content) == 1 and type(content[0]) is list:
        return "".join(content[0])
    return [{"type": "text", "text": "".join(part)} if type(part) is list else part.render() for part in content]
