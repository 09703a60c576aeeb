"""Sessions of agents, drawn by a seed, with faults planted in their histories: edited, cut, compacted, branched …"""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from conformance import Exchange
from conformance.wires import by_name

Body = dict[str, Any]
Messages = list[Any]

TEXTS = ("It is warm.", "OK", "<think>Rome.</think>It is cold.", "", "I will look.", "Done.", "It is 21 °C.")
REASONING = ("I need the weather.", "Two calls are enough.", "", "Rome is left.")
CITIES = ("Paris", "Rome", "Oslo")
MANY_CITIES = tuple([f"City {number}" for number in range(400)])
"""So many that hardly two calls are equal."""
MODELS = ("example-model", "deepseek-reasoner", "gpt-5", "claude-sonnet-4-5", "gemini-3-pro-preview")
PROVIDERS = (None, "deepseek", "mistral", "openai", "openrouter", "anthropic", "gemini", "moonshot")


class Session:
    """One conversation in the making: its messages, and how its ids are made."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.ids = source.choice(("unique", "numbered", "unique", "empty"))
        self.cities = source.choice((CITIES, MANY_CITIES))
        self.made = 0
        self.messages: Messages = [{"role": "user", "content": "What is the weather?"}]
        if source.random() < 0.7:
            self.messages.insert(0, {"role": "system", "content": "You are helpful."})
        tool = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
        self.rest: Body = {"model": source.choice(MODELS), "tools": [{"type": "function", "function": tool}]}

    def reply(self) -> Body:
        """Return a reply: calls, a text, or both."""
        source = self.source
        message: Body = {"role": "assistant", "content": source.choice(TEXTS)}
        if source.random() < 0.5:
            message["reasoning_content"] = source.choice(REASONING)
        if source.random() < 0.7:
            message["tool_calls"] = [self._call(number) for number in range(source.choice((1, 1, 2, 3)))]
            message["content"] = source.choice((None, message["content"]))
        return message

    def _call(self, number: int) -> Body:
        self.made += 1
        identity = {"unique": f"call_{self.made}", "numbered": f"call_{number}", "empty": ""}[self.ids]
        arguments = f'{{"city": "{self.source.choice(self.cities)}"}}'
        return {"id": identity, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}

    def go_on(self, reply: Body) -> None:
        """Append a reply, and what follows it: the results of its calls, or the next question."""
        self.messages = [*self.messages, copy.deepcopy(reply)]
        for call in reply.get("tool_calls", ()):
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": self.source.choice(TEXTS)})
        if not reply.get("tool_calls") or self.source.random() < 0.15:
            self.messages.append({"role": "user", "content": self.source.choice(("And Rome?", "Go on.", "OK"))})

    def copy(self) -> "Session":
        """Return a branch of the session."""
        made = copy.copy(self)
        made.messages = copy.deepcopy(self.messages)
        return made


def _position(session: Session) -> int:
    return session.source.randrange(len(session.messages))


def _edit(session: Session) -> None:
    message = session.messages[_position(session)]
    if type(message) is dict:
        message["content"] = f"{message.get('content')} (edited)"


def _edit_call(session: Session) -> None:
    calls = [call for each in session.messages if type(each) is dict for call in each.get("tool_calls", ())]
    if calls:
        call = session.source.choice(calls)
        if session.source.random() < 0.5:
            call["id"] = "call_other"
        else:
            call["function"]["arguments"] = '{"city":"Lima"}'


def _drop(session: Session) -> None:
    if len(session.messages) > 2:
        del session.messages[_position(session)]


def _truncate(session: Session) -> None:
    session.messages = [*session.messages[:1], *session.messages[len(session.messages) // 2 :]]


def _compact(session: Session) -> None:
    summary = {"role": "user", "content": "So far: the weather was asked for."}
    session.messages = [*session.messages[:1], summary, *session.messages[-2:]]


def _reorder(session: Session) -> None:
    one, other = _position(session), _position(session)
    listed = session.messages
    listed[one], listed[other] = listed[other], listed[one]


def _unknown_key(session: Session) -> None:
    message = session.messages[_position(session)]
    if type(message) is dict:
        message["timestamp"] = 1767225600


def _drop_reasoning(session: Session) -> None:
    for message in session.messages:
        if type(message) is dict:
            message.pop("reasoning_content", None)


def _repeat_result(session: Session) -> None:
    results = [each for each in session.messages if type(each) is dict and each.get("role") == "tool"]
    if results:
        session.messages.insert(_position(session), copy.deepcopy(session.source.choice(results)))


def _interrupt(session: Session) -> None:
    session.messages.insert(_position(session), {"role": "user", "content": "Wait."})


def _other_model(session: Session) -> None:
    session.rest = {**session.rest, "model": session.source.choice(MODELS)}


def _other_parameter(session: Session) -> None:
    session.rest = {**session.rest, "temperature": session.source.choice((0, 0.0, 1, True))}


def _wrong_type(session: Session) -> None:
    listed = session.messages
    position = _position(session)
    if session.source.random() < 0.5:
        listed[position] = session.source.choice((None, 7, "text"))
    elif type(listed[position]) is dict:
        listed[position]["content"] = session.source.choice((7, 7.0, True, {}, [{"type": "text", "text": ""}]))


def _other_notation(session: Session) -> None:
    session.messages = [
        dict(reversed(each.items())) if type(each) is dict and session.source.random() < 0.3 else each
        for each in session.messages
    ]


FAULTS: tuple[Callable[[Session], None], ...] = (
    _edit, _edit_call, _drop, _truncate, _compact, _reorder, _unknown_key, _drop_reasoning, _repeat_result, _interrupt,
    _other_model, _other_parameter, _other_notation,
)  # fmt: skip


def _exchange(session: Session, reply: Body, wire: str) -> Exchange:
    source = session.source
    body = {**session.rest, "messages": copy.deepcopy(session.messages)}
    reason = "tool_calls" if reply.get("tool_calls") else "stop"
    choices = [{"index": 0, "message": copy.deepcopy(reply), "finish_reason": reason}]
    made = {"id": f"chatcmpl-{source.randrange(99)}", "object": "chat.completion", "created": 1767225600}
    answer: Body = {**made, "model": body["model"], "choices": choices}
    if source.random() < 0.05:
        return Exchange(body, {"error": {"message": "Too many requests.", "type": "rate_limit_error"}}, 429)
    if wire == "chat":
        return Exchange(body, answer if source.random() < 0.95 else None, 200)
    writing = by_name(wire).writing
    native = writing.request(body)
    url = f"https://api.example.com/v1{by_name(wire).path(body)}"
    return Exchange(native, writing.reply(answer, native), 200, url=url)


def drawn(seed: int, most: int = 14) -> Iterator[Exchange]:
    """Yield the exchanges of a recording, `most` at most: of one session or of two, with faults of its clients."""
    source = random.Random(seed)  # noqa: S311 — repeatable, not secret
    wire = source.choice(("chat", "chat", "chat", "messages", "responses", "gemini"))
    sessions = [Session(source) for _ in range(source.choice((1, 1, 1, 2)))]
    saved: list[Session] = []
    faults = source.choice((0.0, 0.1, 0.4))
    for _ in range(source.randint(2, most)):
        at = source.randrange(len(sessions))
        if saved and source.random() < faults / 2:
            sessions[at] = source.choice(saved).copy()
        session = sessions[at]
        if source.random() < 0.3:
            saved.append(session.copy())
        if source.random() < faults:
            source.choice((*FAULTS, _wrong_type) if wire == "chat" else FAULTS)(session)
        reply = session.reply()
        yield _exchange(session, reply, wire)
        if source.random() < 0.9:
            session.go_on(reply)
