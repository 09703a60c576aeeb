"""A run of the proxy: it listens, hands copies to the process that checks them, runs the command, and ends."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar

from conformance.errors import Unusable
from conformance.processes import Children, GuardedCommand, Launch
from conformance.proxy.connections import MAX_HEADERS, MAX_LINE
from conformance.proxy.copies import Copy, frame
from conformance.proxy.passing import Passing
from conformance.proxy.receiving import Connector, UpstreamReply
from conformance.proxy.repeats import RepeatedBodies
from conformance.transport.server import allow_many_connections, bind, loop_factory, new_runner, url_of

MAX_WAITING: Final = 64 * 1024 * 1024
"""Bytes of copies that wait to be checked; copies beyond that are dropped and counted, never the traffic."""

JUDGE: Final = "conformance.cli.clients._proxy_checks"
"""The module that runs in the process that checks copies."""

_CONNECT_SECONDS: Final = 30.0
_KEPT_SECONDS: Final = 4.0
"""How long an idle connection to a provider is kept: less than servers keep it, so that no request meets its end."""

_STATE_SECONDS: Final = 1.0
_GATHER_SECONDS: Final = 0.02
_STOP_SECONDS: Final = 0.5
_GRACE_SECONDS: Final = 1.5
_CHECK_SECONDS: Final = 20.0
"""How long copies are still checked if this process is killed."""

_SIGNALS: Final = tuple([getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)])


@dataclass(frozen=True, slots=True)
class Tap:
    """A listening point: its name, the URL that its traffic goes to, and its port, 0 for a free one."""

    name: str
    url: str
    port: int = 0

    @property
    def origin(self) -> str:
        """The scheme, host and port of the URL."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class ProxyPlan:
    """What a run does.

    `settings` go to the process that checks. `command` runs with the variables that `environment` returns for the URLs
    of the taps; without one the run lasts until a signal. `announce` gets the URLs, `warn` what goes wrong on the way.
    """

    taps: tuple[Tap, ...]
    host: str
    settings: Mapping[str, Any]
    announce: Callable[[Sequence[str]], None]
    command: Sequence[str] = ()
    environment: Callable[[Sequence[str]], Mapping[str, str]] = field(default=lambda _: {})
    warn: Callable[[str], None] = field(default=lambda _: None)


def run(plan: ProxyPlan) -> int:
    """Run the proxy to its end and return the exit code: that of the command if it failed, else that of the check.

    Raises Unusable if an address cannot be bound or the command cannot be started.
    """
    allow_many_connections()
    with Children() as children, new_runner(loop_factory()) as runner:
        sockets = [bind(plan.host, tap.port) for tap in plan.taps]
        return runner.run(_ProxyRun(plan, sockets, children).run())


class JudgeProcess:
    """The process that checks copies, and the bounded queue to it: a pipe, and what waits to be written there."""

    def __init__(self, process: asyncio.subprocess.Process, guarded: GuardedCommand) -> None:
        assert process.stdin is not None  # noqa: S101 — it is started with a pipe
        self._process, self._guarded, self._pipe = process, guarded, process.stdin
        self._frames: list[bytes] = []
        self._bodies = RepeatedBodies()
        self._size = 0
        self.held = 0
        self.passed = 0
        self.dropped = 0

    @classmethod
    async def start(cls, settings: Mapping[str, Any], children: Children) -> "JudgeProcess":
        """Start the process, which Ctrl-C does not reach: it ends when its input does."""
        # If this process is killed, the other one still checks what it has got.
        guarded = children.prepare((sys.executable, "-m", JUDGE), Launch(grace=_CHECK_SECONDS, patient=True))
        process = await _started(guarded, stdin=asyncio.subprocess.PIPE)
        started = cls(process, guarded)
        started._pipe.write(frame("settings", settings))
        return started

    def hand_over(self, copy: Copy) -> None:
        """Queue a copy, or drop it if too much waits already; several go through the pipe at once, which costs less."""
        self.passed += 1
        parts = copy.frame(self._bodies)
        size = sum(map(len, parts))
        transport = self._pipe.transport
        if transport.is_closing() or transport.get_write_buffer_size() + self._size + size > MAX_WAITING:
            self.dropped += 1
            return
        if not self._frames:
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._send)
        self._bodies.keep(copy.sent)
        self._frames += parts
        self._size += size

    def _send(self) -> None:
        if self._frames and not self._pipe.transport.is_closing():
            # Large bodies are not copied once more where the loop can write parts.
            self._pipe.writelines(self._frames)
        self._frames.clear()
        self._size = 0

    def send_state(self, open_now: int) -> None:
        """Send what only this process knows, for the table."""
        if not self._pipe.transport.is_closing():
            self._pipe.write(frame("state", self._state() | {"open": open_now}))

    async def end(self) -> int:
        """Wait until everything is checked, and return the exit code; raises Unusable if the process has failed."""
        self._send()
        with suppress(ConnectionError):
            self._pipe.write(frame("end", self._state()))
            await self._pipe.drain()
            self._pipe.close()
            await self._pipe.wait_closed()
        code = await self._process.wait()
        if code < 0:
            message = f"the process that checks copies ended early (signal {-code}); later traffic was not checked"
            raise Unusable(message)
        return code

    async def ended(self) -> None:
        """Wait for the end of the process."""
        await self._process.wait()

    def kill(self) -> None:
        """End the process at once."""
        self._guarded.kill()

    def _state(self) -> dict[str, int]:
        return {"passed": self.passed, "dropped": self.dropped}


class _ProxyRun:
    """One run."""

    def __init__(self, plan: ProxyPlan, sockets: Sequence[socket.socket], children: Children) -> None:
        self._plan, self._sockets, self._children = plan, sockets, children
        self._urls = [url_of(each) for each in sockets]
        self._stop = asyncio.Event()
        self._points: list[Passing] = []
        self._runs_command = False
        self._signals = 0

    async def run(self) -> int:
        """Serve until the command ends or a signal comes, then wait for the check."""
        loop = asyncio.get_running_loop()
        judge = await JudgeProcess.start(self._plan.settings, self._children)
        # Windows has no such handlers; there, Ctrl-C ends the process, and the check goes on with what it has.
        with suppress(NotImplementedError):
            for number in _SIGNALS:
                loop.add_signal_handler(number, self._on_signal, number, judge)
        try:
            code = await self._serve(judge)
        except BaseException:
            judge.kill()
            await judge.ended()
            raise
        found = await judge.end()
        return code or found

    def _on_signal(self, number: int, judge: JudgeProcess) -> None:
        """End the run; Ctrl-C also reaches a command, which decides itself. A third signal ends the check, too."""
        self._signals += 1
        if not self._runs_command or number != signal.SIGINT:
            self._stop.set()
        if self._signals > 2:
            self._stop.set()
            judge.kill()

    async def _serve(self, judge: JudgeProcess) -> int:
        """Pass traffic, and return the exit code of the command; 0 without one."""
        loop = asyncio.get_running_loop()
        async with AsyncExitStack() as stack:
            for number, (tap, bound) in enumerate(zip(self._plan.taps, self._sockets, strict=True)):
                session = await stack.enter_async_context(new_session())
                point = Passing(judge, number, tap.origin, session, self._plan.host, _proxy_for(tap.url))
                self._points.append(point)
                server = await loop.create_server(point, sock=bound, backlog=socket.SOMAXCONN)
                stack.push_async_callback(point.shutdown, _STOP_SECONDS)
                stack.callback(point.pre_shutdown)
                stack.callback(server.close)
                stack.callback(asyncio.create_task(point.watch()).cancel)
            for watching in (self._send_states(judge), self._watch(judge)):
                stack.callback(asyncio.create_task(watching).cancel)
            self._plan.announce(self._urls)
            if self._plan.command:
                return await self._run_command()
            await self._stop.wait()
        return 0

    async def _watch(self, judge: JudgeProcess) -> None:
        """Say at once if the check ends early; the traffic goes on."""
        await judge.ended()
        self._plan.warn("the process that checks has ended; from now on nothing is checked, and traffic still passes")

    async def _send_states(self, judge: JudgeProcess) -> None:
        while self._plan.settings.get("table"):
            judge.send_state(sum(point.open for point in self._points))
            await asyncio.sleep(_STATE_SECONDS)

    async def _run_command(self) -> int:
        """Run the command to its end, or until a signal asks this process to end."""
        command = self._plan.command
        environment = {**os.environ, **self._plan.environment(self._urls)}
        launch = Launch(environment=environment, foreground=True, grace=_GRACE_SECONDS)
        guarded = self._children.prepare(command, launch)
        try:
            process = await _started(guarded)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Unusable(f"cannot run {command[0]}: {reason}") from None
        self._runs_command = True
        stopped, ended = asyncio.create_task(self._stop.wait()), asyncio.create_task(process.wait())
        await asyncio.wait((stopped, ended), return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            guarded.end()
        stopped.cancel()
        code = await ended
        return code if code >= 0 else 128 - code


async def _started(guarded: GuardedCommand, stdin: int | None = None) -> asyncio.subprocess.Process:
    """Start a command and wait until it runs; raises OSError if it cannot be started."""
    process = await asyncio.create_subprocess_exec(*guarded.words, stdin=stdin, **guarded.options)
    try:
        await asyncio.to_thread(guarded.confirm, process.pid)
    except OSError:
        await process.wait()
        raise
    return process


def new_session() -> ClientSession:
    """Return a client that changes nothing: no cookies, no redirects, no unpacking, no time limit but on connecting."""
    return ClientSession(
        connector=Connector(limit=0, keepalive_timeout=_KEPT_SECONDS),
        response_class=UpstreamReply,
        cookie_jar=DummyCookieJar(),
        timeout=ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        auto_decompress=False,
        max_line_size=MAX_LINE,
        max_field_size=MAX_LINE,
        max_headers=MAX_HEADERS,
    )


def _proxy_for(url: str) -> str:
    """Return the URL of the HTTP proxy that the environment names for a URL; empty for none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or proxy_bypass(host):
        return ""
    return getproxies().get(parts.scheme, "")
