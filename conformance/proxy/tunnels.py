"""WebSockets: after the provider has agreed to one, bytes pass in both directions as they are.

The handshake passes with all its headers, so that both ends agree on the same key, protocols and extensions. No frame
is read: the exchange is counted, and not checked.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import StreamWriter

SWITCHED: Final = 101
"""The status by which a server agrees to speak another protocol."""


def asks(method: str, headers: Mapping[str, str]) -> bool:
    """Return True if a request asks for a WebSocket."""
    options = [each.strip().lower() for each in headers.get("connection", "").split(",")]
    return method == "GET" and headers.get("upgrade", "").lower() == "websocket" and "upgrade" in options


class Direction:
    """Bytes from one connection to another; while the receiver is slow, nothing more is read from the sender.

    It stands in for a parser of WebSockets: aiohttp feeds it whatever arrives.
    """

    def __init__(self, sender: Any, receiver: BaseProtocol) -> None:
        self._sender, self._receiver = sender, receiver
        self._slow = asyncio.Event()
        self._ended = asyncio.Event()

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Pass bytes on; aiohttp closes the sender if the first value is true."""
        transport = self._receiver.transport
        if transport is None or transport.is_closing():
            self._ended.set()
            return True, b""
        transport.write(data)
        if self._receiver.writing_paused:
            self._sender.pause_reading()
            self._slow.set()
        return False, b""

    def feed_eof(self) -> None:
        """End: the sender has closed its connection."""
        self._ended.set()

    async def pass_on(self) -> None:
        """Return when the sender has ended; until then, let it go on whenever the receiver has caught up."""
        ended = asyncio.create_task(self._ended.wait())
        try:
            while not ended.done():
                slow = asyncio.create_task(self._slow.wait())
                await asyncio.wait((ended, slow), return_when=asyncio.FIRST_COMPLETED)
                slow.cancel()
                if self._slow.is_set():
                    self._slow.clear()
                    await StreamWriter(self._receiver, asyncio.get_running_loop()).drain()
                    self._sender.resume_reading(resume_parser=False)
        finally:
            ended.cancel()


async def tunnel(client: Any, provider: Any, payload: Any) -> None:
    """Pass bytes between two connections until one of them ends; what has arrived by then is still passed."""
    up, down = Direction(client, provider), Direction(provider, client)
    tasks = [asyncio.create_task(each.pass_on()) for each in (up, down)]
    try:
        client.set_parser(up)
        provider.set_parser(down, payload)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        for each in (client, provider):
            if each.transport is not None:
                each.transport.close()
