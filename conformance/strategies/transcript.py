"""Transcripts as agent loops keep them: turns with calls and without, results that failed, ids of every kind."""

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
"""Ids as other hosts write them: short and long, bare numbers, characters that some patterns do not allow."""

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
SAID: Final = st.one_of(*map(st.just, _WORDS), st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
"""Words that break what trims them, escapes them or counts bytes: any Unicode but lone surrogates, never empty."""

NAMES: Final = ("get_weather", "get_time")
"""The functions that are called: those that scenarios offer, each of which takes a city."""

_RESULTS: Final[Mapping[str, st.SearchStrategy[str | None]]] = {
    "answered": SAID,
    "failed": st.just("Error: the service is gone.") | st.just('{"error": "timeout"}'),
    "denied": st.just("The user denied this call."),
    "missing": st.none(),
}
_DETAILS: Final = st.lists(
    st.fixed_dictionaries({"type": st.just("reasoning.text"), "text": SAID}, optional={"signature": st.just("c2ln")})
    | st.fixed_dictionaries({"type": st.just("reasoning.summary"), "summary": SAID})
    | st.fixed_dictionaries({"type": st.just("reasoning.encrypted"), "data": st.just("b3BhcXVl")}),
    min_size=1,
    max_size=2,
)
_SIGNATURE: Final = st.fixed_dictionaries({"google": st.fixed_dictionaries({"thought_signature": st.just("c2ln")})})
_THOUGHTS: Final[Mapping[str, st.SearchStrategy[Message]]] = {
    "absent": st.fixed_dictionaries({}),
    "empty": st.fixed_dictionaries({"reasoning_content": st.just("")}),
    "text": st.fixed_dictionaries({"reasoning_content": SAID}),
    "details": st.fixed_dictionaries({"reasoning_details": _DETAILS}),
    "signatures": st.fixed_dictionaries({"extra_content": _SIGNATURE}),
}


class _Call(NamedTuple):
    """A call without its id, and the content of its result; None where there is none."""

    name: str
    arguments: str
    result: str | None


class _Step(NamedTuple):
    """An assistant's message with calls: its reasoning, its words, its calls."""

    thought: Message
    content: str
    calls: list[_Call]


class _Turn(NamedTuple):
    """What the user says, what the assistant does about it, and its answer with the reasoning of that."""

    user: str
    steps: list[_Step]
    answer: str
    thought: Message


def transcripts(  # noqa: PLR0913 — each is one option, given by name
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
    """Return a strategy of transcripts as `schemas/canonical/transcript.json` has them: lists of messages.

    A transcript holds from one to `max_turns` messages of the user, each followed by up to two messages of the
    assistant with up to `max_calls` calls and their results, and then by its answer. `sendable` leaves out the last
    answer, so that the transcript ends with a user's message or with results. `system` says whether a system
    message comes first; None for both. The other options name what may come, one or several of

    - `ids`: how calls are named, in one way throughout a transcript, see `IDS`: with `colliding across turns` each
      message begins again with call_0, with `colliding within a turn` all calls of a message have the same id;
    - `reasoning`: of the assistant's messages, see `REASONING`: `details` are structured blocks, `signatures` stand
      in the `extra_content` of a message's first call;
    - `results`: of calls, see `RESULTS`; `missing`, which leaves a result out, has to be asked for;
    - `arguments`: how their text is written, see `ARGUMENTS`; `cut`, which is no JSON, has to be asked for.

    Raises UnknownName for a name that is none of these.
    """
    thoughts = _chosen("reasoning", reasoning, _THOUGHTS)
    writings = st.sampled_from(named("arguments", arguments, ARGUMENTS))
    written = st.builds(lambda write, city: write({"city": city}), writings, SAID)
    call = st.builds(_Call, st.sampled_from(NAMES), written, _chosen("results", results, _RESULTS))
    step = st.builds(_Step, thoughts, st.just("") | SAID, st.lists(call, min_size=1, max_size=max(1, max_calls)))
    turn = st.builds(_Turn, SAID, st.lists(step, max_size=2 if max_calls else 0), SAID, thoughts)
    return _assembled(
        st.sampled_from(named("ids", ids, IDS)),
        st.none() | SAID if system is None else SAID if system else st.none(),
        st.lists(turn, min_size=1, max_size=max_turns),
        sendable=sendable,
    )


@st.composite
def _assembled(
    draw: st.DrawFn,
    naming: st.SearchStrategy[Callable[[int, int, str], str]],
    system: st.SearchStrategy[str | None],
    turns: st.SearchStrategy[list[_Turn]],
    *,
    sendable: bool,
) -> list[Message]:
    """Draw the parts of a transcript; a composite is reported as what it gives, not as how that was made."""
    ident, words, numbers = draw(naming), draw(system), count()
    messages: list[Message] = [] if words is None else [{"role": "system", "content": words}]
    for turn in draw(turns):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            names = [call.name for call in step.calls]
            messages += _step(step, [ident(next(numbers), *place) for place in enumerate(names)])
        thought = {key: turn.thought[key] for key in turn.thought if key != "extra_content"}
        messages.append({"role": "assistant", "content": turn.answer, **thought})
    return messages[:-1] if sendable else messages


def _step(step: _Step, ids: list[str]) -> list[Message]:
    """Return the assistant's message and its results, in the order of its calls."""
    thought = dict(step.thought)
    calls: list[Message] = [
        {"id": ident, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for ident, call in zip(ids, step.calls, strict=True)
    ]
    if "extra_content" in thought:
        calls[0]["extra_content"] = thought.pop("extra_content")
    results = [
        {"role": "tool", "tool_call_id": ident, "content": call.result}
        for ident, call in zip(ids, step.calls, strict=True)
        if call.result is not None
    ]
    return [{"role": "assistant", "content": step.content, **thought, "tool_calls": calls}, *results]


def _chosen(option: str, names: str | Sequence[str], table: Mapping[str, st.SearchStrategy[T]]) -> st.SearchStrategy[T]:
    return st.one_of(named(option, names, table))


def named(option: str, names: str | Sequence[str], table: Mapping[str, T]) -> list[T]:
    """Return what an option names, in the order of the table: the first is what hypothesis shrinks to."""
    chosen = [names] if isinstance(names, str) else names
    for name in chosen:
        if name not in table:
            raise UnknownName(f"option of {option}", name, table)
    return [table[name] for name in table if name in chosen]
