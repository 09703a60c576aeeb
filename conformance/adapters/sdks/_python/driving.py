"""What the drivers of Python adapters share: reading the job, playing its tools, printing the answer.

It needs only the standard library, since every driver runs in its adapter's own environment. A driver is a generator
that yields the final text of each prompt:

    def talk(job):
        for prompt in job.prompts:
            yield ask_the_adapter(prompt)

    drive(talk, "name-of-the-adapter's-package")

Imports go to the top of a driver: one that fails ends the process with an error, so that it counts as a failure of the
driver or its environment. What the adapter raises during the conversation is part of the answer.
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
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

Texts = Iterator[str | None] | AsyncIterator[str | None]

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class ToolFailed(Exception):
    """Raised by a tool that fails according to the job."""


def without_none(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without those that are None, which an adapter's class adds for omitted ones."""
    return {name: value for name, value in arguments.items() if value is not None}


class Events(list[dict[str, Any]]):
    """What the loop does with calls, in chronological order."""

    def __init__(self) -> None:
        super().__init__()
        self.start = time.monotonic()

    def record(self, event: str, **details: Any) -> None:
        """Add an event that happens now."""
        self.append({"event": event, **details, "at_ms": round(1000 * (time.monotonic() - self.start), 1)})

    @contextmanager
    def running(self, name: str, arguments: Any) -> Iterator[None]:
        """Record start and end of a call."""
        call = {"name": name, "arguments": parse_arguments(arguments)}
        self.record("start", call=call)
        try:
            yield
        finally:
            self.record("end", call=call)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the job, and its results by their arguments."""

    name: str
    description: str
    parameters: dict[str, Any]
    results: tuple[Mapping[str, Any], ...]
    otherwise: str
    events: Events

    def call(self, arguments: Any) -> str:
        """Return the text of the result after its delay; raises ToolFailed if the call fails."""
        result = self._result(arguments)
        with self.events.running(self.name, arguments):
            time.sleep(result["delay_ms"] / 1000)
            return _text(result)

    async def acall(self, arguments: Any) -> str:
        """Return the same as `call` without blocking other tools."""
        result = self._result(arguments)
        with self.events.running(self.name, arguments):
            await asyncio.sleep(result["delay_ms"] / 1000)
            return _text(result)

    def denies(self, arguments: Any) -> str | None:
        """Return the user's reason for denying a call, None if the call is allowed."""
        result = self._result(arguments)
        return result["text"] if result["denied"] else None

    @property
    def is_gated(self) -> bool:
        """Whether some call of the tool is denied, so that each call needs approval."""
        return any(result["denied"] for result in self.results)

    def as_openai(self) -> dict[str, Any]:
        """Return the tool as an entry of a request's `tools`."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def fields(self) -> dict[str, tuple[Any, Any]]:
        """Return type and default (... if required) of each argument, for adapters that take a pydantic class."""
        required = self.parameters.get("required", [])
        types = {
            name: TYPES.get(schema.get("type"), Any) for name, schema in self.parameters.get("properties", {}).items()
        }
        return {name: (kind, ...) if name in required else (kind | None, None) for name, kind in types.items()}

    def _result(self, arguments: Any) -> Mapping[str, Any]:
        parsed = parse_arguments(arguments)
        fallback = {"text": self.otherwise, "delay_ms": 0, "fails": False, "denied": False}
        return next((result for result in self.results if result["arguments"] == parsed), fallback)


@dataclass(frozen=True, slots=True)
class Job:
    """A conversation to hold: the endpoint, the prompts in order, the tools, and what was said before (canonical).

    `state`: what the server of Responses keeps for the adapter, `items` or the `response`; empty: nothing.
    """

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
    history: tuple[Mapping[str, Any], ...] = ()
    state: str = ""
    finish: list[Any] = field(default_factory=list)

    def ended(self, finish: Any) -> None:
        """Note what the adapter itself says of the end of the prompt whose text is yielded next; None is nothing."""
        self.finish[:] = [finish]

    def tool(self, name: str) -> Tool:
        """Return the tool with a name; an unknown one returns a text that says so."""
        unknown = Tool(name, "", {}, (), f"there is no tool {name!r}", self.events)
        return next((tool for tool in self.tools if tool.name == name), unknown)

    def gate(self, calls: Sequence[tuple[str, Any]]) -> None:
        """Record that calls (name, arguments) are submitted for approval, all at once."""
        listed = [{"name": name, "arguments": parse_arguments(arguments)} for name, arguments in calls]
        self.events.record("gate", calls=listed)

    def run_calls(self, calls: Sequence[tuple[str, Any]]) -> list[tuple[str, bool]]:
        """Run calls (name, arguments) in parallel; return the text of each result and whether the call failed."""
        with ThreadPoolExecutor(max(len(calls), 1)) as pool:
            return list(pool.map(lambda call: self._run(*call), calls))

    def _run(self, name: str, arguments: Any) -> tuple[str, bool]:
        try:
            return self.tool(name).call(arguments), False
        except ToolFailed as failure:
            return str(failure), True


def loop(job: Job, ask: Callable[[list[Any]], Any], resend: Callable[[Any], Any] = lambda message: message) -> Texts:
    """Hold the conversation with the loop that users write around a client that has none.

    `ask` returns the assistant message of the reply to a history, after it has noted how the reply ended; `resend`
    returns what the history gets for it.
    """
    history: list[Any] = [{"role": "system", "content": job.system}] if job.system else []
    for prompt in job.prompts:
        history.append({"role": "user", "content": prompt})
        for _ in range(job.max_turns):
            message = ask(history)
            history.append(resend(message))
            if not message.tool_calls:
                break
            results = job.run_calls([(call.function.name, call.function.arguments) for call in message.tool_calls])
            for call, (text, _) in zip(message.tool_calls, results, strict=True):
                history.append({"role": "tool", "tool_call_id": call.id, "content": text})
        yield message.content


def parse_arguments(arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call as JSON values; absent or unparsable arguments are an empty object."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, dict) else {}


def drive(talk: Callable[[Job], Texts], *packages: str) -> None:
    """Read the job from standard input, hold its conversation, print the answer, and end the process.

    The answer reports the versions of `packages`. What the adapter prints goes to standard error. Threads that it
    leaves behind are not waited for.
    """
    answer: dict[str, Any] = {"texts": [], "finish": []}
    with redirect_stdout(sys.stderr):
        job = _job(json.load(sys.stdin))
        answer["events"] = job.events
        try:
            _collect(job, talk(job), answer)
        except Exception as error:  # noqa: BLE001 - whatever an adapter raises is part of the answer
            traceback.print_exc()
            answer["error"] = {"type": type(error).__name__, "message": str(error)[:2000]}
    answer["version"] = {package: version(package) for package in packages}
    print(json.dumps(answer), flush=True)
    sys.stderr.flush()
    os._exit(0)


def _job(document: Mapping[str, Any]) -> Job:
    events = Events()
    tools = tuple(Tool(**{**tool, "results": tuple(tool["results"])}, events=events) for tool in document["tools"])
    fields = {name: document[name] for name in Job.__slots__ if name in document}
    return Job(**{**fields, "prompts": tuple(document["prompts"]), "tools": tools}, events=events)


def _collect(job: Job, texts: Texts, answer: dict[str, Any]) -> None:
    def collect(text: str | None) -> None:
        said = job.finish.pop() if job.finish else None
        answer["texts"].append(text)
        answer["finish"].append(None if said is None else str(getattr(said, "value", said)))

    async def collect_all() -> None:
        async for text in texts:
            collect(text)

    if isinstance(texts, Iterator):
        for text in texts:
            collect(text)
    else:
        asyncio.run(collect_all())


def _text(result: Mapping[str, Any]) -> str:
    if result["fails"]:
        raise ToolFailed(result["text"])
    return str(result["text"])
