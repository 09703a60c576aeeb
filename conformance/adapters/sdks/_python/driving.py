"""What the drivers of Python adapters share: the job read, its tools played, the answer written.

It needs nothing but the standard library, since every driver runs in its adapter's own environment. A driver is a
generator that yields the final text of each prompt:

    def talk(job):
        for prompt in job.prompts:
            yield ask_the_adapter(prompt)

    drive(talk, "name-of-the-adapter's-package")

Imports stand at the top of a driver: one that cannot be carried out ends the process with an error, and so is known
for a fault of the driver or its environment, while what the adapter raises in a conversation is part of the answer.
"""

import asyncio
import json
import os
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

Texts = Iterator[str | None] | AsyncIterator[str | None]

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class ToolFailed(Exception):
    """A tool that the job tells to fail."""


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without those that are None: an adapter's class put them there for what was not given."""
    return {name: value for name, value in arguments.items() if value is not None}


class Events(list[dict[str, Any]]):
    """What the loop does with calls, in order of time."""

    def __init__(self) -> None:
        super().__init__()
        self.began = time.monotonic()

    def note(self, event: str, **told: Any) -> None:
        """Add an event that happens now."""
        self.append({"event": event, **told, "at_ms": round(1000 * (time.monotonic() - self.began), 1)})

    @contextmanager
    def running(self, name: str, arguments: Any) -> Iterator[None]:
        """Note start and end of a call."""
        call = {"name": name, "arguments": arguments_of(arguments)}
        self.note("start", call=call)
        try:
            yield
        finally:
            self.note("end", call=call)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the job, and what it says to which arguments."""

    name: str
    description: str
    parameters: dict[str, Any]
    results: tuple[Mapping[str, Any], ...]
    otherwise: str
    events: Events

    def call(self, arguments: Any) -> str:
        """Return the result's text after its delay. Raises ToolFailed where the job says so."""
        result = self._result(arguments)
        with self.events.running(self.name, arguments):
            time.sleep(result["delay_ms"] / 1000)
            return _text(result)

    async def acall(self, arguments: Any) -> str:
        """Return the same without holding other tools up."""
        result = self._result(arguments)
        with self.events.running(self.name, arguments):
            await asyncio.sleep(result["delay_ms"] / 1000)
            return _text(result)

    def denies(self, arguments: Any) -> str | None:
        """Return the text with which a user denies a call, None where it is allowed."""
        result = self._result(arguments)
        return result["text"] if result["denied"] else None

    @property
    def is_gated(self) -> bool:
        """Whether some call of it is to be denied, so that each needs approval."""
        return any(result["denied"] for result in self.results)

    def as_openai(self) -> dict[str, Any]:
        """Return the tool as it stands in a request."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def fields(self) -> dict[str, tuple[Any, Any]]:
        """Return type and default (... where required) of each argument, for adapters that take a pydantic class."""
        required = self.parameters.get("required", [])
        types = {name: TYPES.get(each.get("type"), Any) for name, each in self.parameters.get("properties", {}).items()}
        return {name: (kind, ...) if name in required else (kind | None, None) for name, kind in types.items()}

    def _result(self, arguments: Any) -> Mapping[str, Any]:
        known = arguments_of(arguments)
        fallback = {"text": self.otherwise, "delay_ms": 0, "fails": False, "denied": False}
        return next((result for result in self.results if result["arguments"] == known), fallback)


@dataclass(frozen=True, slots=True)
class Job:
    """One conversation to hold: with whom, what to ask in order, and with which tools."""

    base_url: str
    api_key: str
    provider: str
    model: str
    stream: bool
    system: str
    prompts: tuple[str, ...]
    tools: tuple[Tool, ...]
    max_turns: int
    events: Events

    def tool(self, name: str) -> Tool:
        """Return the tool of a name; one that the job does not know says so to whoever calls it."""
        unknown = Tool(name, "", {}, (), f"there is no tool {name!r}", self.events)
        return next((tool for tool in self.tools if tool.name == name), unknown)

    def gate(self, calls: Sequence[tuple[str, Any]]) -> None:
        """Note that calls (name, arguments) are put before whoever approves them, all at once."""
        self.events.note(
            "gate", calls=[{"name": name, "arguments": arguments_of(arguments)} for name, arguments in calls]
        )

    def run_calls(self, calls: Sequence[tuple[str, Any]]) -> list[str]:
        """Return the results of calls (name, arguments) in their order; all run at once, and failures are text."""
        with ThreadPoolExecutor(max(len(calls), 1)) as pool:
            return list(pool.map(lambda call: self._run(*call), calls))

    def _run(self, name: str, arguments: Any) -> str:
        try:
            return self.tool(name).call(arguments)
        except ToolFailed as failure:
            return str(failure)


def loop(job: Job, ask: Callable[[list[Any]], Any], resent: Callable[[Any], Any] = lambda message: message) -> Texts:
    """Hold the conversation by the loop that a user writes around a client which has none of its own.

    `ask` returns the assistant message of the reply to a history, `resent` what goes into the history for it.
    """
    history: list[Any] = [{"role": "system", "content": job.system}] if job.system else []
    for prompt in job.prompts:
        history.append({"role": "user", "content": prompt})
        for _ in range(job.max_turns):
            message = ask(history)
            history.append(resent(message))
            if not message.tool_calls:
                break
            results = job.run_calls([(call.function.name, call.function.arguments) for call in message.tool_calls])
            for call, text in zip(message.tool_calls, results, strict=True):
                history.append({"role": "tool", "tool_call_id": call.id, "content": text})
        yield message.content


def arguments_of(call: Any) -> dict[str, Any]:
    """Return the arguments of a call as JSON values; what is absent or cannot be parsed is an empty object."""
    if isinstance(call, str):
        try:
            call = json.loads(call)
        except ValueError:
            return {}
    return call if isinstance(call, dict) else {}


def drive(talk: Callable[[Job], Texts], *packages: str) -> None:
    """Read the job from standard input, hold its conversation and print the answer; ends the process.

    `packages` are those whose versions the answer bears. What the adapter prints goes to standard error, and threads
    that it leaves behind are not waited for.
    """
    answer: dict[str, Any] = {"texts": []}
    with redirect_stdout(sys.stderr):
        job = _job(json.load(sys.stdin))
        answer["events"] = job.events
        try:
            _listen(talk(job), answer["texts"])
        except Exception as error:  # noqa: BLE001 - whatever an adapter raises is what it answers
            traceback.print_exc()
            answer["error"] = {"type": type(error).__name__, "message": str(error)[:2000]}
    answer["version"] = {package: version(package) for package in packages}
    print(json.dumps(answer), flush=True)
    sys.stderr.flush()
    os._exit(0)


def _job(document: Mapping[str, Any]) -> Job:
    events = Events()
    tools = tuple(Tool(**{**tool, "results": tuple(tool["results"])}, events=events) for tool in document["tools"])
    told = {name: document[name] for name in Job.__slots__ if name in document}
    return Job(**{**told, "prompts": tuple(document["prompts"]), "tools": tools}, events=events)


def _listen(texts: Texts, heard: list[str | None]) -> None:
    if isinstance(texts, Iterator):
        for text in texts:
            heard.append(text)  # noqa: PERF402 - what was heard before an error is kept
        return

    async def listen() -> None:
        async for text in texts:
            heard.append(text)

    asyncio.run(listen())


def _text(result: Mapping[str, Any]) -> str:
    if result["fails"]:
        raise ToolFailed(result["text"])
    return str(result["text"])
