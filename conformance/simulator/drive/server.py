"""Serves a driven model on every wire, to any number of agents at once: `conformance serve --drive`.

A request belongs to the conversation whose folder its own calls name. A new prompt begins a conversation, with files of
its own; it plays the scenario that the prompt or the path names, else the one that was chosen.
"""

import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import orjson

from conformance import scenarios
from conformance.documents import parse_json
from conformance.errors import InvalidDocument, UnknownName
from conformance.profiles import Profile
from conformance.simulator import Simulator
from conformance.simulator.drive.folder import PREFIX, folder_for
from conformance.simulator.drive.session import DrivenSession
from conformance.simulator.drive.tools import callable_tools, find, shown
from conformance.simulator.http import divided, not_found, wire_at
from conformance.simulator.sessions import session_profile
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.values import as_object, objects
from conformance.wires import Wire

DEFAULT: Final = "parallel-reads"
"""The scenario that is played if nothing names another."""

Log = Callable[[str], None]
"""Takes a line about what happened."""

_MARK: Final = re.compile(re.escape(PREFIX) + r"[0-9a-f]{12}")
_MAX_SESSIONS: Final = 256


@dataclass(slots=True)
class DrivenServer:
    """The conversations that one server plays.

    `workdir`: where their folders are placed. `chosen`: the tools that the user named for deeds. `log` gets a line for
    each reply.
    """

    profile: Profile
    workdir: Path
    scenario: str = DEFAULT
    chosen: Mapping[str, str] = field(default_factory=dict)
    log: Log = field(default=lambda _line: None)
    _sessions: dict[str, DrivenSession] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def answer(self, request: HttpRequest) -> HttpReply:
        """Return the reply to any HTTP request; what asks for no reply of the model is answered as usual."""
        path, _, query = request.path.partition("?")
        named, served = divided(path)
        wire = wire_at(served) if request.method == "POST" else None
        if wire is None:
            return Simulator(self.profile).answer(request)
        try:
            chosen = self.scenario if named is None else scenarios.load_driven(unquote(named)).name
        except UnknownName as error:
            return not_found(str(error))
        try:
            body = parse_json(request.body, "request body")
        except InvalidDocument:
            body = None
        if not isinstance(body, dict):
            return Simulator(self.profile).answer(request)
        messages, tools = _read(wire, body, served)
        with self._lock:
            session = self._session(wire, body, messages, tools, chosen)
        before = len(session.given), len(session.beside)
        reply = session.answer(request, f"{served}?{query}" if query else served)
        self._tell(session, before, reply.status, (tools, body.get("tools")))
        return reply

    def close(self) -> None:
        """Remove what was placed."""
        for session in self._sessions.values():
            session.folder.remove()

    def _session(
        self, wire: Wire, body: Mapping[str, Any], messages: Sequence[Any], tools: Any, chosen: str
    ) -> DrivenSession:
        """Return the conversation that a request belongs to, or a new one."""
        found = self._known(wire, messages)
        is_new = bool(messages) and messages[-1].get("role") not in ("tool", "assistant")
        if found is not None and not (found.is_over and is_new and _is_prompt(messages)):
            return found
        return self._begun(wire, body, messages, tools, chosen)

    def _known(self, wire: Wire, messages: Sequence[Any]) -> DrivenSession | None:
        said = [orjson.dumps(each).decode() for each in messages]
        marks = [mark for text in said for mark in _MARK.findall(text) if mark in self._sessions]
        if marks:
            return self._sessions[marks[-1]]
        opening = [each for each in self._sessions.values() if each.is_opening(messages)]
        return next((each for each in reversed(opening) if each.profile.wire == wire.name), None)

    def _begun(
        self, wire: Wire, body: Mapping[str, Any], messages: Sequence[Any], tools: Any, chosen: str
    ) -> DrivenSession:
        prompt = orjson.dumps(messages[-3:]).decode()
        named = [name for name in scenarios.driven_names() if re.search(rf"\b{re.escape(name)}\b", prompt)]
        scenario = scenarios.load_driven(named[-1] if named else chosen)
        folder = folder_for(scenario, self.workdir, secrets.token_hex(8))
        profile = self.profile.on(wire.name)
        model = model_of(dict(body)) or profile.model
        made = DrivenSession(
            scenario,
            session_profile(profile, model, scenario),
            "stream",
            model,
            strict=False,
            base_url="/v1",
            folder=folder,
            chosen=self.chosen,
            knows_prompts=False,
        )
        if len(self._sessions) >= _MAX_SESSIONS:
            self._sessions.pop(next(iter(self._sessions))).folder.remove()
        if find(tools, self.chosen):
            # A request without tools that can be used, as for a title, begins no conversation.
            folder.place()
            self._sessions[folder.mark] = made
        return made

    def _tell(self, session: DrivenSession, before: tuple[int, int], status: int, given: tuple[list[Any], Any]) -> None:
        name, turns = session.scenario.name, len(session.scenario.turns)
        if len(session.given) > before[0]:
            number = session.given[-1]
            what = f"turn {number + 1} of {turns}" if number is not None else f"status {status}"
            used = ", ".join(shown(session.tools)) or "no tool that it can use"
            lacking = f"; no tool for {', '.join(sorted(session.lacking))}" if session.lacking else ""
            self.log(f"{name}: {what} ({used}{lacking})")
        elif len(session.beside) > before[1]:
            self.log(f"{name}: a request beside the conversation{_unusable(*given, self.chosen)}")


def _unusable(tools: Sequence[Any], native: Any, chosen: Mapping[str, str]) -> str:
    """Return what a user may do if none of the tools of a request can be used; empty if one can, or if it has none."""
    names = [str(name) for _, tool in objects(tools) if (name := as_object(tool.get("function")).get("name"))]
    if not names:
        kinds = sorted({str(tool["type"]) for _, tool in objects(native) if "type" in tool})
        return f": the model can call none of its tools, of type {', '.join(kinds):.200}" if kinds else ""
    if find(tools, chosen):
        return ""
    listed = f"{', '.join(names):.200}"
    return f": none of its tools is known to read, run or list ({listed}); name them with --tools read=NAME,shell=NAME"


def _read(wire: Wire, body: dict[str, Any], path: str) -> tuple[list[Mapping[str, Any]], list[Any]]:
    """Return the messages and the tools of a request as those of chat completions."""
    translated = wire.translate_one(Exchange.of_plain(request=body, url=path, model=model_of(body)))
    request: Any = translated.request if isinstance(translated.request, dict) else {}
    return [each for _, each in objects(request.get("messages"))], callable_tools(
        request.get("tools"), body.get("tools")
    )


def _is_prompt(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a user spoke after the last reply; a system message may follow."""
    for message in reversed(messages):
        if message.get("role") == "user":
            return True
        if message.get("role") in ("assistant", "tool"):
            return False
    return False
