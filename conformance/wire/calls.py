"""Tool calls of a stream, assembled from their fragments.

Which call a fragment belongs to (the first row that matches):

| the fragment's index | its id | | it goes to |
| --- | --- | --- | --- |
| not an integer | of a known call | | the latest call with that id |
| not an integer | another, not empty | | a new call |
| not an integer | none or empty | and a name | a new call |
| not an integer | none or empty | no name | the latest call; without one, a new call |
| not seen yet | any | | a new call |
| open | none, empty, or of the latest call on it | | the latest call on that index |
| open | another, but the latest call on it has none | and a second name | a new call on that index (`index-reused`) |
| open | another, but the latest call on it has none | | that call, which takes the id (`id-late`) |
| open | of an earlier call on that index | | that call |
| open | another, not empty | | a new call on that index (`index-reused`) |

Each call has the keys that its fragments had and no others: what is missing stays missing. The first id, type and
name are kept; argument strings are joined; other keys keep the last value.
"""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from conformance.documents.pointer import Place
from conformance.wire.anomalies import NoteAnomaly, describe
from conformance.wire.keys import key_of

_OF_CALL: Final = frozenset({"index", "id", "type", "function"})
_OF_FUNCTION: Final = frozenset({"name", "arguments"})


class _PartialCall:
    """A call that is being assembled."""

    __slots__ = ("arguments", "fields", "function", "has_function", "id", "index", "name", "number", "place")

    def __init__(self, number: int, place: Place, index: int | None) -> None:
        self.number = number
        self.place = place
        self.index = index
        self.id: Any = None
        self.name: Any = None
        self.fields: dict[str, Any] = {}
        self.function: dict[str, Any] = {}
        self.arguments: list[Any] = []
        self.has_function = False

    def render(self) -> dict[str, Any]:
        """Return the call as it would be in a plain reply."""
        if not self.has_function:
            return self.fields
        arguments = {"arguments": _join(self.arguments)} if self.arguments else {}
        return {**self.fields, "function": {**self.function, **arguments}}


class Calls:
    """The tool calls of one choice.

    `_last_of`: the latest call on an index. `_last_with`: the latest call with an id, by its key. `_first_with`: the
    first call with an id on an index.
    """

    __slots__ = ("_calls", "_first_with", "_last_of", "_last_with", "_next", "_note")

    def __init__(self, note: NoteAnomaly) -> None:
        self._note = note
        self._calls: list[_PartialCall] = []
        self._last_of: dict[int, _PartialCall] = {}
        self._last_with: dict[Any, _PartialCall] = {}
        self._first_with: dict[tuple[int, Any], _PartialCall] = {}
        self._next = 0

    def add(self, fragments: Any, place: Place) -> None:
        """Add the `tool_calls` of one delta; `place` is that of their list."""
        if type(fragments) is not list:
            self._note("tool-calls-not-a-list", place, f"got {describe(fragments)}")
            return
        for position, fragment in enumerate(fragments):
            if self._only_continues(fragment):
                self._calls[-1].arguments.append(fragment["function"]["arguments"])
                continue
            at = (*place, position)
            if type(fragment) is not dict:
                self._note("not-an-object", at, f"got {describe(fragment)}")
                continue
            call = self._find(fragment, at)
            if call is None:
                self._open(fragment, at)
            else:
                self._extend(call, fragment, at)

    def _only_continues(self, fragment: Any) -> bool:
        """Return whether a fragment only holds more arguments of the latest call, as most do."""
        if not self._calls or type(fragment) is not dict or len(fragment) != 2:
            return False
        function = fragment.get("function")
        # Python keeps one object per small integer; other integers take the slow path.
        index = fragment.get("index")
        # `is` is quick; a number that is not the same object takes the slower path, with the same result.
        if index is None or index is not self._calls[-1].index or type(function) is not dict or len(function) != 1:
            return False
        return type(function.get("arguments")) is str

    def continued(self, fragments: Any) -> list[Any] | None:
        """Return where the arguments of the next such fragment go; None if a fragment does more than continue."""
        if type(fragments) is list and len(fragments) == 1 and self._only_continues(fragments[0]):
            return self._calls[-1].arguments
        return None

    def render(self) -> list[dict[str, Any]]:
        """Return the calls, in the order in which they were opened."""
        return [call.render() for call in self._calls]

    def runs(self) -> Iterator[list[str]]:
        """Yield the fragments of each call's arguments that are texts."""
        for call in self._calls:
            yield [text for text in call.arguments if type(text) is str]

    def places(self) -> tuple[Place, ...]:
        """Return the place of each call's first fragment."""
        return tuple(call.place for call in self._calls)

    def _find(self, fragment: dict[str, Any], at: Place) -> _PartialCall | None:
        index, call_id = fragment.get("index"), fragment.get("id")
        if type(index) is not int:
            self._note("index-missing", at, "absent" if "index" not in fragment else f"got {describe(index)}")
            return self._find_without_index(fragment, call_id)
        call = self._last_of.get(index)
        if call is None or not call_id or call_id == call.id:
            return call
        return self._find_other(call, fragment, call_id, at)

    def _find_without_index(self, fragment: dict[str, Any], call_id: Any) -> _PartialCall | None:
        if call_id:
            return self._last_with.get(key_of(call_id))
        function = fragment.get("function")
        # Providers that send whole calls without indexes name each; only the rest of a call has no name.
        if not self._calls or (type(function) is dict and function.get("name")):
            return None
        return self._calls[-1]

    def _find_other(self, call: _PartialCall, fragment: dict[str, Any], call_id: Any, at: Place) -> _PartialCall | None:
        """Find the call of a fragment whose index is open but whose id is not that of the latest call on it."""
        function = fragment.get("function")
        has_second_name = type(function) is dict and bool(function.get("name")) and bool(call.name)
        if not call.id and not has_second_name:
            return call
        earlier = self._first_with.get((fragment["index"], key_of(call_id)))
        if earlier is not None:
            return earlier
        self._note("index-reused", at, f"index {call.index} is that of {describe(call.id)}, now {describe(call_id)}")
        return None

    def _open(self, fragment: dict[str, Any], at: Place) -> None:
        index = fragment.get("index")
        call = _PartialCall(len(self._calls), at, index if type(index) is int else None)
        if type(index) is int:
            self._note_index(index, at)
            self._last_of[index] = call
        self._calls.append(call)
        call_id = fragment.get("id")
        if "id" in fragment:
            self._give_id(call, call_id)
        if not call_id:
            self._note("id-missing", at, "absent" if "id" not in fragment else f"got {describe(call_id)}")
        elif type(call_id) is not str:
            self._note("id-not-string", at, f"got {describe(call_id)}")
        if fragment.get("type") is None:
            self._note("type-missing", at, "null" if "type" in fragment else "absent")
        else:
            call.fields["type"] = fragment["type"]
        self._open_function(call, fragment.get("function"), at)
        if not fragment.keys() <= _OF_CALL:
            _add_unknown(call.fields, fragment, _OF_CALL)

    def _give_id(self, call: _PartialCall, call_id: Any) -> None:
        call.id = call.fields["id"] = call_id
        if not call_id:
            return
        key = key_of(call_id)
        # An id may come late, so the call that gets it now need not be the latest one that has it.
        if self._last_with.setdefault(key, call).number < call.number:
            self._last_with[key] = call
        if call.index is not None and self._first_with.setdefault((call.index, key), call).number > call.number:
            self._first_with[call.index, key] = call

    def _note_index(self, index: int, at: Place) -> None:
        if index < 0:
            self._note("index-negative", at, f"got {index}")
        elif index != self._next and index not in self._last_of:
            self._note("index-gap", at, f"expected {self._next}, got {index}")
        # What follows a gap is in order: one gap is one anomaly.
        self._next = max(self._next, index + 1)

    def _open_function(self, call: _PartialCall, function: Any, at: Place) -> None:
        if type(function) is not dict:
            self._note("function-missing", at, "absent" if function is None else f"got {describe(function)}")
            return
        call.has_function = True
        name = function.get("name")
        if name is None:
            self._note("name-missing", at, "null" if "name" in function else "absent")
        else:
            call.name = call.function["name"] = name
        if name == "":
            self._note("name-empty", at, "in the first fragment")
        if function.get("arguments") is None:
            self._note("arguments-missing", at, "null" if "arguments" in function else "absent")
        else:
            self._add_arguments(call, function["arguments"], at)
        if not function.keys() <= _OF_FUNCTION:
            _add_unknown(call.function, function, _OF_FUNCTION)

    def _extend(self, call: _PartialCall, fragment: dict[str, Any], at: Place) -> None:
        if call is not self._calls[-1]:
            self._note("interleaved", at, f"call {call.number} continues after {len(self._calls)} were opened")
        if "id" in fragment:
            self._repeat_id(call, fragment["id"], at)
        if fragment.get("type") is not None:
            self._note("type-repeated", at, f"got {describe(fragment['type'])}")
            # The first one is kept, but a first fragment may have none.
            call.fields.setdefault("type", fragment["type"])
        function = fragment.get("function")
        if type(function) is not dict:
            self._note("function-missing", at, "absent" if function is None else f"got {describe(function)}")
        else:
            call.has_function = True
            self._extend_function(call, function, at)
        if not fragment.keys() <= _OF_CALL:
            _add_unknown(call.fields, fragment, _OF_CALL)

    def _extend_function(self, call: _PartialCall, function: dict[str, Any], at: Place) -> None:
        if "name" in function:
            self._repeat_name(call, function["name"], at)
        arguments = function.get("arguments")
        if arguments is None:
            self._note("fragment-without-arguments", at, "null" if "arguments" in function else "absent")
        else:
            self._add_arguments(call, arguments, at)
        if not function.keys() <= _OF_FUNCTION:
            _add_unknown(call.function, function, _OF_FUNCTION)

    def _repeat_id(self, call: _PartialCall, call_id: Any, at: Place) -> None:
        if call_id is None:
            self._note("id-null", at, "")
        elif call_id == "":
            self._note("id-empty", at, "")
        elif call_id == call.id:
            self._note("id-repeated", at, describe(call_id))
        else:
            self._note("id-late", at, describe(call_id))
            self._give_id(call, call_id)

    def _repeat_name(self, call: _PartialCall, name: Any, at: Place) -> None:
        if name is None:
            self._note("name-null", at, "")
        elif name == "":
            self._note("name-empty", at, "in a later fragment")
        elif call.name and name != call.name:
            self._note("name-changed", at, f"from {describe(call.name)} to {describe(name)}")
        else:
            self._note("name-repeated" if call.name else "name-late", at, describe(name))
            call.name = call.function["name"] = name

    def _add_arguments(self, call: _PartialCall, arguments: Any, at: Place) -> None:
        call.arguments.append(arguments)
        if type(arguments) is not str:
            self._note("arguments-not-string", at, f"got {describe(arguments)}")


def _join(fragments: list[Any]) -> Any:
    """Join fragments of arguments; a single one is returned as it is, even if it is not a string."""
    if len(fragments) == 1:
        return fragments[0]
    return "".join(item if type(item) is str else orjson.dumps(item).decode() for item in fragments)


def _add_unknown(fields: dict[str, Any], given: dict[str, Any], known: frozenset[str]) -> None:
    fields.update({key: value for key, value in given.items() if key not in known})
