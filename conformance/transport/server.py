"""An HTTP server on loopback that passes every request to one function, in the background or in the foreground.

The function is pure or locks its own state; connections, framing and bounds are the listener's.
"""

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from conformance.errors import Unusable
from conformance.transport.http import DEFAULT_BOUNDS, HttpReply, HttpRequest, PeerBounds

_LAST_PORT: Final = 65535
_MAX_FILES: Final = 65536


@contextmanager
def serving(
    answer: Callable[[HttpRequest], HttpReply],
    host: str = "127.0.0.1",
    port: int = 0,
    bounds: PeerBounds = DEFAULT_BOUNDS,
    listener: socket.socket | None = None,
) -> Iterator[str]:
    """Serve in a background thread and yield the URL, `http://host:port`; port 0 takes a free port.

    `listener` is a socket that listens already; it takes the place of host and port, and is closed in the end.
    Unusable if the address cannot be bound.
    """
    # Imported here because most processes that import this module never listen.
    from conformance.transport.listener import Listener, listen

    # What goes wrong in the thread is raised here, where `result` is called.
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve_until(bound: socket.socket) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        await listen(bound, Listener(answer, host, bounds), stop, lambda: ready.set_result((loop, stop)))

    def run(bound: socket.socket) -> None:
        try:
            runner = new_runner(None)
        except Unusable as error:
            ready.set_exception(error)
            return
        with runner:
            runner.run(serve_until(bound))

    with listener or bind(host, port) as bound:
        thread = threading.Thread(target=run, args=(bound,), name="conformance-server", daemon=True)
        thread.start()
        loop, stop = ready.result()
        try:
            yield url_of(bound)
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()


def serve(answer: Callable[[HttpRequest], HttpReply], host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve in the foreground until interrupted, with uvloop where it is installed; `announce` gets the URL.

    Raises Unusable if the address cannot be bound.
    """
    # Imported here because most processes that import this module never listen.
    from conformance.transport.listener import Listener, listen

    allow_many_connections()
    with bind(host, port) as bound, new_runner(loop_factory()) as runner:

        async def serve_forever() -> None:
            listener = Listener(answer, host, DEFAULT_BOUNDS)
            await listen(bound, listener, asyncio.Event(), lambda: announce(url_of(bound)))

        runner.run(serve_forever())


def allow_many_connections() -> None:
    """Raise the number of files that this process may open: each connection takes one, and one of the proxy two."""
    # Beyond the limit, a server stops accepting and logs an error for each try.
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
        if soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def new_runner(factory: Callable[[], asyncio.AbstractEventLoop] | None) -> asyncio.Runner:
    """Return a runner of an event loop; raises Unusable if there are no descriptors left for one."""
    runner = asyncio.Runner(loop_factory=factory)
    try:
        runner.get_loop()
    except OSError as error:
        message = f"cannot start a server: {error.strerror or error}"
        raise Unusable(message) from None
    return runner


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the event loops of uvloop, where that is installed."""
    try:
        uvloop = import_module("uvloop")
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; connections queue from here on. Raises Unusable if the address cannot be bound."""
    if not 0 <= port <= _LAST_PORT:
        raise Unusable(f"cannot bind {host}:{port}: a port is a number from 0 to {_LAST_PORT}")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=socket.SOMAXCONN)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"cannot bind {host}:{port}: {reason}; use another --port, or 0 for a free one"
        raise Unusable(message) from None


def url_of(bound: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
