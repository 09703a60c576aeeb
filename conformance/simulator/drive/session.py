"""A session of a whole agent: the script's deeds become calls of the tools that each request declares.

The next request of the conversation gets the next turn, as in every session. Agents send others, too: for a title, to
classify a prompt, or to make a conversation shorter. Those are answered, and kept apart.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.results import Refusal
from conformance.scenarios import RESULT, Scenario, ScriptTurn
from conformance.simulator import script, wire_requests
from conformance.simulator.drive.agent_tool import AgentTool
from conformance.simulator.drive.folder import DrivenFolder
from conformance.simulator.drive.tools import callable_tools, find
from conformance.simulator.parameters import NO_PARAMETERS, Parameters, read_parameters
from conformance.simulator.repeats import asks_again
from conformance.simulator.responder import Responder
from conformance.simulator.sessions import AFTER_SCRIPT, ScenarioSession
from conformance.transport.http import HttpReply
from conformance.wire.changes import message_key
from conformance.wire.exchange import Exchange
from conformance.wire.text import content_text
from conformance.wire.values import as_object, objects

NOTHING: Final = "nothing"
"""What the model says for a result that does not hold what it should."""

_TITLE: Final = "Reading notes"
_SUMMARISED: Final = "are being read, one after the other. The next one comes now."
_SUMMARY: Final = f"Summary: notes of the folder {{mark}} {_SUMMARISED}"
_NO_TOOL: Final = "There is no tool for that."
_SHORTER: Final = re.compile(
    r"\b(?:summari[sz]e|condense)\b|\b(?:create|write|provide|generate|produce|make|give|output)\b.{0,120}\b(?:summary|handoff)\b",
    re.I | re.S,
)
_LAST_WORDS: Final = 20_000
_WAIT: Final = {"retry-after": "1"}

_TOO_LONG: Final[Mapping[str, Refusal]] = {
    # https://platform.openai.com/docs/guides/error-codes, and error_texts/ for the others.
    "chat": Refusal(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. "
        "Please reduce the length of the messages.",
        "invalid_request_error",
        "context_length_exceeded",
        "messages",
    ),
    "responses": Refusal(
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "invalid_request_error",
        "context_length_exceeded",
        "input",
    ),
    "messages": Refusal(400, "prompt is too long: 213462 tokens > 200000 maximum", "invalid_request_error"),
    "gemini": Refusal(
        400,
        "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).",
        "INVALID_ARGUMENT",
    ),
}


@dataclass(frozen=True, slots=True)
class PlayedCall:
    """A call of an agent's tool: its name and arguments, and how it behaves."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    fails: bool
    denied: bool


@dataclass(slots=True)
class DrivenSession(ScenarioSession):
    """One run of a scenario for agents.

    `folder` holds its files. `chosen`: the tools that the user named for deeds. `beside`: the exchanges that are not
    part of the conversation. `given`: for each exchange of it, the number of its turn; None if it got none. `played`:
    the turns as they were sent. `lacking`: the deeds for which the agent has no tool. `tools`: those that it was found
    to have. `knows_prompts`: the user sends the prompts of the script, and no others.
    """

    folder: DrivenFolder = field(kw_only=True)
    chosen: Mapping[str, str] = field(default_factory=dict)
    knows_prompts: bool = True
    beside: list[Exchange] = field(default_factory=list)
    given: list[int | None] = field(default_factory=list)
    played: dict[int, ScriptTurn] = field(default_factory=dict)
    calls: list[PlayedCall] = field(default_factory=list)
    lacking: set[str] = field(default_factory=set)
    tools: dict[str, AgentTool] = field(default_factory=dict)
    shortened: int | None = None
    _due: int = 0
    _firsts: dict[int, int] = field(default_factory=dict)
    _messages: Any = None
    _refused: Any = None
    _cuts: list[int] = field(default_factory=list)
    _is_beside: bool = False
    _number: int | None = None
    _is_shortening: bool = False

    @property
    def is_over(self) -> bool:
        """Return whether the whole script was played."""
        return self._due >= len(self.scenario.turns)

    @property
    def concrete(self) -> Scenario:
        """Return the scenario with the turns as they were sent."""
        turns = [self.played.get(number, turn) for number, turn in enumerate(self.scenario.turns)]
        return replace(self.scenario, turns=tuple(turns))

    @property
    def restarts(self) -> tuple[int, ...]:
        """Return the exchanges with which another history begins: one that was made shorter, or for another model."""
        switched = [number for number, turn in enumerate(self.scenario.turns) if turn.other_model]
        firsts = [self.given.index(number) for number in switched if number in self.given]
        return tuple(sorted({*firsts, *([] if self.shortened is None else [self.shortened])}))

    def is_opening(self, messages: Sequence[Any]) -> bool:
        """Return whether messages are those of the first request, of which nothing came back yet."""
        return not self.played and self._refused == _keys(messages)

    def _keep(self, exchange: Exchange, arrived: float) -> None:
        if self._is_beside:
            self.beside.append(exchange)
            return
        self._exchanges.append(exchange)
        self.times.append((arrived, time.monotonic()))
        self.given.append(self._number)

    def _reply(
        self, responder: Responder, body: dict[str, Any], asked: wire_requests.Asked | None, *, is_repeated: bool
    ) -> HttpReply:
        """Return the reply to a request of chat completions: of the conversation, or beside it.

        Whether it repeats another is found by its messages, since agents change metadata between tries.
        """
        del is_repeated
        native = None if asked is None else asked.native.request.get("tools")
        found = find(callable_tools(body.get("tools"), native), self.chosen)
        self._number = None
        self._is_beside = self._stands_beside(body, found)
        if self._is_beside:
            return self._answer_beside(responder, body)
        if found:
            self.tools = found
        rejected = self._rejected(responder, body, asked) if self.strict else None
        if rejected is not None:
            return rejected
        listed = body.get("messages")
        messages: list[Any] = listed if isinstance(listed, list) else []
        number = self._next(body, messages)
        self._note_shorter(messages)
        firsts = self.scenario.turns[number].first if number is not None else ()
        done = self._firsts.get(number or 0, 0)
        if number is not None and done < len(firsts):
            self._firsts[number] = done + 1
            self._due = number
            if firsts[done] != "cut":
                self._turn = ScriptTurn()
                self._refused = _keys(messages)
                return self._refuse(responder, body, firsts[done])
            reply = self._play(responder, body, number, found, messages, raw=("cut",))
            self._cuts.append(number)
            return reply
        if number is None:
            self._turn = AFTER_SCRIPT
            return self._send(responder, body, AFTER_SCRIPT)
        self._due = number + 1
        return self._play(responder, body, number, found, messages)

    def _stands_beside(self, body: Mapping[str, Any], found: Mapping[str, AgentTool]) -> bool:
        """Return whether a request is not one of the conversation: it has no tools for it, or asks for a summary."""
        if self._is_shortening and self._asks_for_summary(body):
            return True
        if self.scenario.tools:
            return not found
        return self.knows_prompts and not self._has_prompt(body)

    def _has_prompt(self, body: Mapping[str, Any]) -> bool:
        prompts = [prompt.strip() for prompt in self.scenario.prompts]
        texts = [content_text(each.get("content")) for _, each in objects(body.get("messages"))]
        return any(prompt in text for text in texts for prompt in prompts)

    def _asks_for_summary(self, body: Mapping[str, Any]) -> bool:
        """Return whether the last words of a request ask for a summary, and nothing in it is one that was given."""
        last = _last_words(body).strip()
        texts = [content_text(each.get("content")) for _, each in objects(body.get("messages"))]
        is_prompt = self.knows_prompts and any(last.endswith(prompt.strip()) for prompt in self.scenario.prompts)
        is_given = any(_SUMMARISED in text for text in texts)
        return bool(_SHORTER.search(last)) and not is_given and not is_prompt

    def _next(self, body: Mapping[str, Any], messages: Sequence[Any]) -> int | None:
        """Return the number of the turn that a request gets; None if the script has none for it."""
        turns = self.scenario.turns
        last = next((each for each in reversed(self.given) if each is not None), None)
        if last is not None and last == self._due - 1 and self._repeats(body, messages, turns[last]):
            self.repeats.append(len(self._exchanges))
            return last
        number = self._due
        if self.knows_prompts:
            # A prompt may come although the one before it did not end.
            later = [at for at, turn in enumerate(turns) if at > number and turn.user and _holds(messages, turn.user)]
            number = max(later, default=number)
            if number < len(turns) and turns[number].user and not _holds(messages, turns[number].user or ""):
                return None
        return number if number < len(turns) else None

    def _repeats(self, body: Mapping[str, Any], messages: Sequence[Any], turn: ScriptTurn) -> bool:
        if self._messages == _keys(messages):
            return True
        sent = replace(turn, raw=("cut",)) if "cut" in turn.first else turn
        return bool(self._exchanges) and asks_again(sent, self.exchanges[-1], body, self.scenario.prompts)

    def _note_shorter(self, messages: Sequence[Any]) -> None:
        """Note the first request that an agent made shorter after the refusal of one that was too long."""
        if self._is_shortening and self.shortened is None and self._refused != _keys(messages):
            self.shortened = len(self._exchanges)

    def _play(
        self,
        responder: Responder,
        body: dict[str, Any],
        number: int,
        found: Mapping[str, AgentTool],
        messages: Sequence[Any],
        raw: tuple[str, ...] = (),
    ) -> HttpReply:
        """Return a turn as a reply, with calls of the agent's tools."""
        turn = self._turn_with(number, found, script.last_results(messages))
        self.played[number], self._messages = turn, _keys(messages)
        self._number, self._turns = number, number + 1
        self._turn = replace(turn, raw=(*turn.raw, *raw))
        return self._send(responder, body, self._turn)

    def _send(self, responder: Responder, body: dict[str, Any], turn: ScriptTurn) -> HttpReply:
        named = {**body, "model": self._model(body)}
        finish = self.tools.get("finish")
        if finish is not None and not turn.calls and script.demanded_call(body, {}):
            # Some agents end with a call only.
            turn = replace(turn, says="", calls=(finish.call({"text": turn.says}),))
        return responder.reply(named, turn, responder.context(named, self._history()))

    def _turn_with(self, number: int, found: Mapping[str, AgentTool], results: Sequence[str]) -> ScriptTurn:
        """Return a turn of the script with the agent's own tools, and with what its results hold."""
        turn, after = self.scenario.turns[number], self.scenario.turns[number + 1 : number + 2]
        texts = [self._shown(number, position, text) for position, text in enumerate(results)]
        calls: list[tuple[str, Mapping[str, Any]]] = []
        played: list[PlayedCall] = []
        for position, (deed, about) in enumerate(turn.calls):
            call = self._call(deed, as_object(about), found)
            if call is None:
                self.lacking.add(deed)
                continue
            expected = self.folder.result(after[0].results[position]) if after else ""
            fails, denied = position in after[0].fails, position in after[0].denied
            calls.append(call)
            played.append(PlayedCall(*call, expected, fails, denied))
        self.calls += [each for each in played if each not in self.calls]
        said = script.saying(turn, [*texts, *[NOTHING] * len(RESULT.findall(turn.says + turn.thinks))])
        if turn.calls and not calls:
            return replace(said, says=said.says or _NO_TOOL, calls=(), ids=())
        return replace(said, calls=tuple(calls), ids=turn.ids[: len(calls)])

    def _shown(self, number: int, position: int, text: str) -> str:
        """Return the value that a result should hold if it does, as the model repeats it."""
        expected = self.scenario.turns[number].results
        value = self.folder.result(expected[position]) if position < len(expected) else ""
        return value if value and value in text else NOTHING

    def _call(
        self, deed: str, about: Mapping[str, Any], found: Mapping[str, AgentTool]
    ) -> tuple[str, Mapping[str, Any]] | None:
        """Return the call for a deed; by a command, or by reading, if the agent has no tool of its own for it."""
        name, values = self.folder.deed(deed, about)
        tool = found.get(name)
        if tool is None and name == "search":
            return self._call("read", {"file": about["word"]}, found)
        if tool is None and "command" in values:
            tool = found.get("shell")
        return None if tool is None else tool.call(values)

    def _history(self) -> list[dict[str, Any]]:
        """Return the messages before the current turn; a reply that was cut had ids of its own, too."""
        cut = [turn for number in self._cuts if (turn := self.played.get(number)) is not None]
        calls = [[{"function": {"name": name}} for name, _ in turn.calls] for turn in cut]
        before = [{"role": "assistant", "content": "", "tool_calls": each} for each in calls if each]
        return [*before, *ScenarioSession._history(self)]  # noqa: SLF001 — `super` fails in a class with slots

    def _refuse(self, responder: Responder, body: Mapping[str, Any], reason: str) -> HttpReply:
        """Return a refusal in the middle of the work."""
        if reason == "context-length":
            self._is_shortening = True
            return responder.refuse(body, _TOO_LONG.get(self.profile.wire, _TOO_LONG["chat"]))
        if reason == "rate-limited":
            refusal = Refusal(
                429, "Rate limit reached. Please try again in 1s.", "rate_limit_error", "rate_limit_exceeded"
            )
        elif self.profile.wire == "messages":
            refusal = Refusal(529, "Overloaded", "overloaded_error")
        else:
            refusal = Refusal(503, "The model is overloaded. Please try again later.", "server_error", "overloaded")
        reply = responder.refuse(body, refusal)
        return replace(reply, headers={**reply.headers, **_WAIT})

    def _answer_beside(self, responder: Responder, body: dict[str, Any]) -> HttpReply:
        """Answer a request beside the conversation: with a summary, a title, or what its format asks for."""
        is_summary = self._is_shortening or bool(_SHORTER.search(_last_words(body)))
        turn = ScriptTurn(says=_SUMMARY.format(mark=self.folder.mark) if is_summary else _TITLE)
        named = {**body, "model": self._model(body)}
        read = read_parameters(body, self.profile.at(self._model(body)))
        parameters: Parameters = NO_PARAMETERS if isinstance(read, str) else read
        self._turn = script.formatted(turn, parameters) or turn
        return responder.reply(named, self._turn, responder.context(named, parameters=parameters))


def _keys(messages: Sequence[Any]) -> list[Any]:
    return [message_key(each) for each in messages]


def _holds(messages: Sequence[Any], prompt: str) -> bool:
    """Return whether a message of the user holds a prompt."""
    users = [each for _, each in objects(list(messages)) if each.get("role") == "user"]
    return any(prompt.strip() in content_text(each.get("content")) for each in users)


def _last_words(body: Mapping[str, Any]) -> str:
    """Return the text of the last message of a user or of the system."""
    spoken = [each for _, each in objects(body.get("messages")) if each.get("role") in ("user", "system", "developer")]
    return content_text(spoken[-1].get("content"))[-_LAST_WORDS:] if spoken else ""
