"""A small agent with tools of its own, which runs what a model asks for, on any wire."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from conformance import wires
from conformance.convert import ingress
from conformance.wire.assemble import assemble
from conformance.wire.exchange import Exchange
from conformance.wire.sse import read


def tool(name: str, description: str, properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": dict(properties), "required": list(required or properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


STRING = {"type": "string"}
READ = tool("read_file", "Reads a file.", {"path": STRING})
SHELL = tool("bash", "Runs a command.", {"command": STRING})
EDIT = tool("edit", "Edits a file.", {"file_path": STRING, "old_string": STRING, "new_string": STRING})
LIST = tool("ls", "Lists a folder.", {"path": STRING})
GREP = tool("grep", "Searches files.", {"pattern": STRING, "path": STRING})
TOOLS = (READ, SHELL, EDIT, LIST, GREP)


@dataclass(slots=True)
class DrivenAgent:
    """It talks to a base URL on a wire, with chat completions as its own model of messages."""

    url: str
    wire: str
    model: str
    tools: Sequence[Mapping[str, Any]] = TOOLS
    stream: bool = True
    claims: Mapping[str, Any] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    called: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    results: Callable[[list[str]], list[str]] = list

    def ask(self, prompt: str) -> str:
        self.messages.append({"role": "user", "content": prompt})
        for _ in range(20):
            message = self._send()
            if message is None:
                continue
            self.messages.append(message)
            calls = message.get("tool_calls") or ()
            if not calls:
                return str(message.get("content"))
            texts = []
            for call in calls:
                arguments = json.loads(call["function"]["arguments"])
                self.called.append((call["function"]["name"], arguments))
                texts.append(run(call["function"]["name"], arguments))
            for call, text in zip(calls, self.results(texts), strict=False):
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        raise AssertionError("the conversation does not end")

    def _send(self) -> dict[str, Any] | None:
        wire = wires.by_name(self.wire)
        body = {"model": self.model, "messages": self.messages, "stream": self.stream, "tools": list(self.tools)}
        if self.wire == "messages":
            body["max_tokens"] = 1000
        native, path = wire.write(body), wire.path(body)
        status, kind, text = post(f"{self.url}{path}", native)
        self.statuses.append(status)
        if status in (429, 503, 529):
            return None
        assert 200 == status, text
        streamed = "event-stream" in kind
        exchange = Exchange.of_plain(
            native, text if streamed else json.loads(text), 200, streamed=streamed, url=path, model=self.model
        )
        translated = wire.translate_one(exchange)
        if translated.streamed:
            stream = assemble(read(str(translated.response)))
            choice = stream.choices[0]
            return None if choice.finish_reason is None else dict(choice.message)
        response: Any = translated.response
        whole = response["choices"][0]
        return ingress.read(whole["message"], self.claims) if whole.get("finish_reason") else None


def post(url: str, body: Mapping[str, Any]) -> tuple[int, str, str]:
    """Return the status of a reply, the type of its content, and its text."""
    # Not httpx: an agent is started for each prompt, and importing that would be most of what one costs.
    place = urlsplit(url)
    with closing(HTTPConnection(place.netloc, timeout=30)) as connection:
        target = f"{place.path}?{place.query}" if place.query else place.path
        connection.request("POST", target, json.dumps(body), {"content-type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.headers.get("content-type", ""), reply.read().decode()


def run(name: str, arguments: Mapping[str, Any]) -> str:
    """Do what a tool does, for real."""
    if name == "read_file":
        return Path(arguments["path"]).read_text("utf-8")
    if name == "ls":
        return "\n".join(sorted(each.name for each in Path(arguments["path"]).iterdir()))
    if name == "grep":
        found = [path for path in Path(arguments["path"]).rglob("*") if path.is_file()]
        return "\n".join(str(path) for path in found if arguments["pattern"] in path.read_text("utf-8"))
    if name == "edit":
        path = Path(arguments["file_path"])
        path.write_text(path.read_text("utf-8").replace(arguments["old_string"], arguments["new_string"]), "utf-8")
        return "edited"
    done = subprocess.run(["/bin/sh", "-c", arguments["command"]], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr
