"""Faults of providers: small named functions that change what a proxy passes from the simulator to the suite.

A fault changes a `Reply` in place, for each request of a run. The modules of this package are the catalogue.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import httpx
import orjson

DONE: Final = "data: [DONE]\n\n"

CORE: Final = ("interleaved-thinking", "two-tool-turns", "parallel-tool-calls")
"""The scenarios that answer the core facts; a provider's claims rule one of the first two out."""


@dataclass(slots=True)
class Reply:
    """A reply on its way to the suite. `body` is a JSON value, a text, or the list of the events of a stream.

    An event is a chunk or raw text. `state` lasts for the whole run. `error` is raised in place of a reply.
    """

    status: int
    headers: dict[str, str]
    body: Any
    state: dict[str, Any]
    error: Exception | None = None

    @property
    def streamed(self) -> bool:
        """Return True if the reply is a stream."""
        return isinstance(self.body, list)

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """Return the plain body, or the chunks of a stream; nothing for an error or a text."""
        found = self.body if isinstance(self.body, list) else [self.body]
        return [each for each in found if isinstance(each, dict) and "choices" in each]

    @property
    def choices(self) -> list[dict[str, Any]]:
        """Return the choices of all chunks."""
        return [choice for chunk in self.chunks for choice in chunk["choices"]]

    @property
    def deltas(self) -> list[dict[str, Any]]:
        """Return the message of a plain reply, or the deltas of a stream."""
        return [choice.get("message", choice.get("delta", {})) for choice in self.choices]

    @property
    def calls(self) -> list[list[dict[str, Any]]]:
        """Return the calls, each as the list of its fragments."""
        calls: list[list[dict[str, Any]]] = []
        for delta in self.deltas:
            for fragment in delta.get("tool_calls") or ():
                if fragment.get("id") or fragment["function"].get("name") or not calls:
                    calls.append([])
                calls[-1].append(fragment)
        return calls

    def refuse(self, status: int, message: str = "The upstream has failed.") -> None:
        """Answer with an error."""
        self.status, self.headers = status, {**self.headers, "content-type": "application/json"}
        self.body = {"error": {"message": message, "type": "server_error", "param": None, "code": None}}

    def set_arguments(self, call: list[dict[str, Any]], arguments: Any) -> None:
        """Put all arguments of a call into its first fragment."""
        for fragment in call:
            fragment["function"]["arguments"] = ""
        call[0]["function"]["arguments"] = arguments

    def to_http(self) -> httpx.Response:
        """Return the reply as HTTP has it."""
        if isinstance(self.body, list):
            events = [
                each if isinstance(each, str) else f"data: {orjson.dumps(each).decode()}\n\n" for each in self.body
            ]
            content = "".join(events).encode()
        else:
            content = self.body.encode() if isinstance(self.body, str) else orjson.dumps(self.body)
        return httpx.Response(self.status, headers=self.headers, content=content)


def arguments_of(call: list[dict[str, Any]]) -> str:
    """Return the text of a call's arguments."""
    return "".join(fragment["function"].get("arguments") or "" for fragment in call)


Apply: TypeAlias = Callable[[Mapping[str, Any], Reply], object]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: its name, how it changes a reply, and what has to report it.

    `seen_by`: one of these is named by the run: a rule, `probes/NAME`, a core fact, or words of the report. Without
    one, the change is harmless and the run is green. `needs`: what the claims must have for the fault to exist.
    `scenarios`: those that are played. `variants`: in which the fault exists.
    """

    name: str
    title: str
    apply: Apply
    seen_by: tuple[str, ...]
    scenarios: tuple[str, ...] = CORE
    variants: tuple[str, ...] = ("plain", "stream")
    needs: Callable[[Mapping[str, Any]], bool] = field(default=lambda _claims: True)
    as_warning: bool = False


CATALOGUE: dict[str, Fault] = {}


def fault(*seen_by: str, **options: Any) -> Callable[[Apply], Fault]:
    """Enter a function into the catalogue; its name is the fault's, its docstring the title."""

    def declare(apply: Apply) -> Fault:
        name = getattr(apply, "__name__", "").replace("_", "-")
        made = Fault(name, (apply.__doc__ or "").strip(), apply, seen_by, **options)
        assert name not in CATALOGUE, name
        CATALOGUE[name] = made
        return made

    return declare


def thinks(claims: Mapping[str, Any]) -> bool:
    """Return True if the claims say that replies show reasoning."""
    return claims.get("reasoning.response-field") not in ("none", ["none"], "unknown", None)


def thinks_in_text(claims: Mapping[str, Any]) -> bool:
    """Return True if replies show reasoning in a member of the message of its own."""
    return thinks(claims) and claims.get("reasoning.response-field") != "thinking-parts"


def events_of(text: str) -> Iterator[Any]:
    """Yield the events of a stream: chunks as objects, all else as text."""
    for event in text.replace("\r\n", "\n").split("\n\n"):
        if event.startswith("data: {"):
            yield orjson.loads(event.removeprefix("data: "))
        elif event:
            yield f"{event}\n\n"


COUNTER: Final = itertools.count
