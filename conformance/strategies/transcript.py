"""Transcripts of agent loops: turns with and without calls, failed results, ids of every kind."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from hypothesis import strategies as st

from conformance.errors import UnknownName

Message: TypeAlias = dict[str, Any]
T = TypeVar("T")

_FOREIGN: Final = (
    "toolu_01A09q90qw90lq917835lq9{number}",
    "chatcmpl-tool-4f3a9d0e5b6c47d2a1b0c9d8e7f6a5b{number}",
    "fc_68a1b2c3d4e5f60718293a4b5c6d7e8f9001a2b3c4d5e6f7|rs_{number}",
    "D681PevK{number}",
    "{number}",
    "find results/№ {number}",
)
"""Ids of other providers: short and long, plain numbers, characters that some patterns do not allow."""

IDS: Final[Mapping[str, Callable[[int, int, str], str]]] = {
    "unique": lambda number, _position, _name: f"call_{number}",
    "kimi": lambda number, _position, name: f"functions.{name}:{number}",
    "mistral": lambda number, _position, _name: f"{number:09}",
    "foreign": lambda number, _position, _name: _FOREIGN[number % len(_FOREIGN)].format(number=number),
    "colliding across turns": lambda _number, position, _name: f"call_{position}",
    "colliding within a turn": lambda _number, _position, _name: "call_0",
    "empty": lambda _number, _position, _name: "",
}
"""The id of a call, by its number in the transcript, its position in its message, and the name of its function."""

REASONING: Final = ("absent", "empty", "text", "details", "signatures")
RESULTS: Final = ("answered", "failed", "denied", "missing")
ARGUMENTS: Final[Mapping[str, Callable[[Any], str]]] = {
    "compact": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "spaced": lambda value: json.dumps(value, ensure_ascii=False, indent=2),
    "escaped": json.dumps,
    "cut": lambda value: json.dumps(value)[:-1],
}
"""How the text of a call's arguments is written."""

_WORDS: Final = ("Hello", "18 °C", "two\nlines\n", "  kept  ", '"{}"\\', "雪\u2028👩‍🚀")
TEXTS: Final = st.one_of(*map(st.just, _WORDS), st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
"""Texts that break code that trims, escapes or counts bytes: any Unicode without lone surrogates, never empty."""

NAMES: Final = ("get_weather", "get_time")
"""The functions that are called: those of the scenarios, each with a city as its argument."""

_RESULTS: Final[Mapping[str, st.SearchStrategy[str | None]]] = {
    "answered": TEXTS,
    "failed": st.just("Error: the service is gone.") | st.just('{"error": "timeout"}'),
    "denied": st.just("The user denied this call."),
    "missing": st.none(),
}
_DETAILS: Final = st.lists(
    st.fixed_dictionaries({"type": st.just("reasoning.text"), "text": TEXTS}, optional={"signature": st.just("c2ln")})
    | st.fixed_dictionaries({"type": st.just("reasoning.summary"), "summary": TEXTS})
    | st.fixed_dictionaries({"type": st.just("reasoning.encrypted"), "data": st.just("b3BhcXVl")}),
    min_size=1,
    max_size=2,
)
_SIGNATURE: Final = st.fixed_dictionaries({"google": st.fixed_dictionaries({"thought_signature": st.just("c2ln")})})
_REASONING_KEYS: Final[Mapping[str, st.SearchStrategy[Message]]] = {
    "absent": st.fixed_dictionaries({}),
    "empty": st.fixed_dictionaries({"reasoning_content": st.just("")}),
    "text": st.fixed_dictionaries({"reasoning_content": TEXTS}),
    "details": st.fixed_dictionaries({"reasoning_details": _DETAILS}),
    "signatures": st.fixed_dictionaries({"extra_content": _SIGNATURE}),
}


class _DrawnCall(NamedTuple):
    """A call without its id, and the content of its result; None if it has none."""

    name: str
    arguments: str
    result: str | None


class _Step(NamedTuple):
    """An assistant message with calls: its reasoning, its text, its calls."""

    reasoning: Message
    content: str
    calls: list[_DrawnCall]


class _Turn(NamedTuple):
    """A user message, the assistant messages with calls, and the answer with its reasoning."""

    user: str
    steps: list[_Step]
    answer: str
    reasoning: Message


def transcripts(  # noqa: PLR0913 — keyword options
    *,
    ids: str | Sequence[str] = tuple(IDS),
    reasoning: str | Sequence[str] = REASONING,
    results: str | Sequence[str] = RESULTS[:-1],
    arguments: str | Sequence[str] = tuple(ARGUMENTS)[:-1],
    system: bool | None = None,
    sendable: bool = True,
    max_turns: int = 3,
    max_calls: int = 3,
) -> st.SearchStrategy[list[Message]]:
    """Return a strategy for transcripts, lists of messages that are valid by `schemas/canonical/transcript.json`.

    A transcript has one to `max_turns` user messages, each followed by up to two assistant messages with up to
    `max_calls` calls and their results, and then by the answer. `sendable` leaves out the last answer, so that the
    transcript ends with a user message or with results. `system` is whether it begins with a system message; None for
    both. Each of the other options takes one or several names:

    - `ids`: the form of the ids, one for each transcript, see `IDS`: with `colliding across turns` each message starts
      again with call_0, with `colliding within a turn` all calls of a message have the same id;
    - `reasoning`: that of the assistant messages, see `REASONING`: `details` are structured blocks, `signatures` are
      in the `extra_content` of a message's first call;
    - `results`: those of the calls, see `RESULTS`; `missing`, which leaves a result out, is not a default;
    - `arguments`: how their text is written, see `ARGUMENTS`; `cut`, which is not valid JSON, is not a default.

    Raises UnknownName for any other name.
    """
    reasonings = _chosen("reasoning", reasoning, _REASONING_KEYS)
    writings = st.sampled_from(named("arguments", arguments, ARGUMENTS))
    written = st.builds(lambda write, city: write({"city": city}), writings, TEXTS)
    call = st.builds(_DrawnCall, st.sampled_from(NAMES), written, _chosen("results", results, _RESULTS))
    step = st.builds(_Step, reasonings, st.just("") | TEXTS, _calls(call, max_calls))
    turn = st.builds(_Turn, TEXTS, st.lists(step, max_size=2 if max_calls else 0), TEXTS, reasonings)
    return _assembled(
        st.sampled_from(named("ids", ids, IDS)),
        st.none() | TEXTS if system is None else TEXTS if system else st.none(),
        st.lists(turn, min_size=1, max_size=max_turns),
        sendable=sendable,
    )


def _calls(call: st.SearchStrategy[_DrawnCall], most: int) -> st.SearchStrategy[list[_DrawnCall]]:
    """Return a strategy for calls that differ: the same call twice in one reply is a fault of servers."""
    return st.lists(call, min_size=1, max_size=max(1, most), unique_by=lambda each: (each.name, _value(each.arguments)))


def _value(arguments: str) -> str:
    """Return what arguments say, however they are written; a text that is cut says what it holds."""
    try:
        return json.dumps(json.loads(arguments))
    except json.JSONDecodeError:
        return arguments


@st.composite
def _assembled(
    draw: st.DrawFn,
    naming: st.SearchStrategy[Callable[[int, int, str], str]],
    system: st.SearchStrategy[str | None],
    turns: st.SearchStrategy[list[_Turn]],
    *,
    sendable: bool,
) -> list[Message]:
    """Draw the parts of a transcript; hypothesis reports the result of a composite, not its parts."""
    ident, instructions, numbers = draw(naming), draw(system), count()
    messages: list[Message] = [] if instructions is None else [{"role": "system", "content": instructions}]
    for turn in draw(turns):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            names = [call.name for call in step.calls]
            messages += _step(step, [ident(next(numbers), *place) for place in enumerate(names)])
        keys = {key: value for key, value in turn.reasoning.items() if key != "extra_content"}
        messages.append({"role": "assistant", "content": turn.answer, **keys})
    return messages[:-1] if sendable else messages


def _step(step: _Step, ids: list[str]) -> list[Message]:
    """Return the assistant message and its results, in the order of its calls."""
    keys = dict(step.reasoning)
    calls: list[Message] = [
        {"id": ident, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for ident, call in zip(ids, step.calls, strict=True)
    ]
    if "extra_content" in keys:
        calls[0]["extra_content"] = keys.pop("extra_content")
    results = [
        {"role": "tool", "tool_call_id": ident, "content": call.result}
        for ident, call in zip(ids, step.calls, strict=True)
        if call.result is not None
    ]
    return [{"role": "assistant", "content": step.content, **keys, "tool_calls": calls}, *results]


def _chosen(option: str, names: str | Sequence[str], table: Mapping[str, st.SearchStrategy[T]]) -> st.SearchStrategy[T]:
    return st.one_of(named(option, names, table))


def named(option: str, names: str | Sequence[str], table: Mapping[str, T]) -> list[T]:
    """Return the values that an option names, in the order of the table: hypothesis shrinks to the first."""
    chosen = [names] if isinstance(names, str) else names
    for name in chosen:
        if name not in table:
            raise UnknownName(f"option of {option}", name, table)
    return [table[name] for name in table if name in chosen]
