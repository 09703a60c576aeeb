"""What a fault does to a client: what it did, compared with what the same client does on healthy replies."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from conformance.adapters.loop import parse_arguments
from conformance.adapters.normalize import normalize_text
from conformance.broken_clients import ANSWER, CALL, ERROR, HANG, NOTHING, REQUEST
from conformance.wire.exchange import Conversation
from tests.harm.workers import Reported

_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
_WIDTH: Final = 120
_EMPTY: Final = "(an empty text)"


class Outcome(NamedTuple):
    """What a fault costs a client, and the words that show it."""

    outcome: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a client did: its texts and error, the calls that it ran, and the history in its last request.

    `history` has what follows from replies of the model: for an assistant message its calls, whether they are signed,
    and its reasoning, for a result the number of its call and its text. `said` are the texts of the assistant messages.
    """

    texts: tuple[str, ...] = ()
    error: str = ""
    hung: bool = False
    calls: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Return the class of the error; the words of a refusal may differ from those of another."""
        return self.error.partition(":")[0]


def seen(reported: Reported, conversation: Conversation) -> Seen:
    """Return what a client did in a session."""
    messages = conversation[-1].request.get("messages") if conversation else None
    listed = [each for each in messages or () if isinstance(each, dict)]
    history, said = tuple(_history(listed)), tuple(_said(listed))
    if reported.hung or reported.answer is None:
        return Seen(error=reported.failure, hung=reported.hung, history=history, said=said)
    raised = reported.answer.error
    started = [call for event in reported.answer.events if event.event == "start" for call in event.calls]
    return Seen(
        tuple([text or "" for text in reported.answer.texts or ()]),
        f"{raised.type}: {raised.message}" if raised else "",
        calls=tuple(sorted([f"{name} {_json(arguments)}" for name, arguments in started])),
        history=history,
        said=said,
    )


def outcome(healthy: Seen, faulty: Seen) -> Outcome:
    """Return what the client did otherwise than on healthy replies: the worst of it."""
    if faulty.hung:
        return Outcome(HANG)
    if faulty.error and faulty.kind != healthy.kind:
        return Outcome(ERROR, shown(faulty.error))
    if faulty.calls != healthy.calls:
        return Outcome(CALL, _difference(healthy.calls, faulty.calls))
    if faulty.history != healthy.history:
        return Outcome(REQUEST, _difference(healthy.history, faulty.history))
    if faulty.texts != healthy.texts or faulty.said != healthy.said:
        before, after = (healthy.texts, faulty.texts) if faulty.texts != healthy.texts else (healthy.said, faulty.said)
        return Outcome(ANSWER, _difference(before, after))
    return Outcome(NOTHING)


def shown(text: str) -> str:
    """Return a text as it is kept: one line without what changes from run to run."""
    line = " ".join(normalize_text(text, {}).split())
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…"


def _difference(before: Sequence[str], after: Sequence[str]) -> str:
    listed = (("without", Counter(before) - Counter(after)), ("with", Counter(after) - Counter(before)))
    parts = [f"{word} {' and '.join([each or _EMPTY for each in texts])}" for word, texts in listed if texts]
    return shown("; ".join(parts) or "in another order")


def _history(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    ids: list[Any] = []
    for message in messages:
        if message.get("role") == "assistant":
            calls = [each for each in message.get("tool_calls") or () if isinstance(each, dict)]
            ids += [each.get("id") for each in calls]
            functions = [each.get("function") or {} for each in calls]
            listed = [[each.get("name"), parse_arguments(each.get("arguments"))] for each in functions]
            signed = [number for number, each in enumerate(calls, 1) if each.get("extra_content")]
            thought = [_json(message[key]) for key in _REASONING if message.get(key)]
            signatures = [f"signature of call {number}" for number in signed]
            yield f"assistant {' '.join([_json(listed), *signatures, *thought])}"
        elif message.get("role") == "tool":
            given = message.get("tool_call_id")
            number = ids.index(given) + 1 if given in ids else 0
            yield f"result of call {number}: {_text(message.get('content'))}"
        elif message.get("role") == "user":
            yield f"user {_text(message.get('content'))}"


def _said(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (_text(each.get("content")) for each in messages if each.get("role") == "assistant")


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join([str(part.get("text", "")) for part in content if isinstance(part, dict)])
    return content if isinstance(content, str) else ""


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
