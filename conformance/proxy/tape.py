"""Cassettes of what passed: one for each conversation, without keys, and readable by their owner only.

A cassette is written whole, again and again while its conversation grows, so that little is lost if the machine stops.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from conformance import artifacts
from conformance.proxy.conversations import Conversation
from conformance.proxy.copies import Copy
from conformance.proxy.reading import ReadCopy
from conformance.results import Evidence
from conformance.secrets import Scrubber, Unscrubbable
from conformance.secrets.bodies import scrub
from conformance.transport.cassette import LOOPBACK
from conformance.transport.client import SIMULATOR
from conformance.transport.interaction import RawInteraction
from conformance.transport.recording import Take
from conformance.transport.shelf import CassetteFolder, ManifestEntry
from conformance.wire.exchange import CUT, Exchange

WRITE_SECONDS: Final = 30.0
"""The longest time that a change waits to be written."""


class _Held(NamedTuple):
    """A conversation, the model that it began with, and its cassette so far."""

    conversation: Conversation
    model: str
    take: Take


class Tape:
    """Records conversations into a folder, as a context manager that holds its lock."""

    def __init__(self, folder: Path, upstream: str, provider: str, today: str, warn: Callable[[str], None]) -> None:
        """Record the traffic with `upstream`; `provider` is the name of its profile, empty if it has none."""
        host = urlsplit(upstream).hostname or ""
        self._host = "localhost" if host in LOOPBACK else host
        self._shelf = CassetteFolder(folder, provider or self._host)
        self._today, self._warn = today, warn
        self._takes: dict[int, _Held] = {}
        self._changed: set[int] = set()
        self._refused: set[int] = set()
        self._stack = ExitStack()

    def __enter__(self) -> "Tape":
        """Lock the folder; raises Unusable if another process records there, or if it holds links."""
        self._shelf.refuse_links()
        self._stack.enter_context(artifacts.locked_file(self._shelf.home / ".proxy.lock", folder=self._shelf.home))
        return self

    def __exit__(self, *_: object) -> None:
        """Write what has changed, and release the lock."""
        try:
            self.write()
        finally:
            for held in self._takes.values():
                held.take.close()
            self._stack.close()

    @property
    def home(self) -> Path:
        """The folder of the provider."""
        return self._shelf.home

    def first_number(self) -> int:
        """Return the first number that no cassette in the folder has."""
        stems = [path.stem.partition("-")[2] for path in self._shelf.home.glob("*/conversation-*.yaml")]
        return 1 + max([int(stem) for stem in stems if stem.isdecimal()], default=0)

    def add(
        self, conversation: Conversation, exchange: Exchange, copy: Copy, reading: ReadCopy, scrubber: Scrubber
    ) -> None:
        """Add an exchange to the cassette of its conversation."""
        number = conversation.number
        if number in self._refused:
            return
        if number not in self._takes:
            model = scrubber.name(exchange.model) or "unknown-model"
            self._takes[number] = _Held(conversation, model, Take({}))
            self._list(model, conversation.name, exchange)
        try:
            self._takes[number].take.keep(_interaction(copy, reading, scrubber))
        except Unscrubbable as error:
            self._refused.add(number)
            self._forget(number)
            self._warn(f"{conversation.name} is not recorded: {error}")
            return
        self._changed.add(number)

    def end(self, conversation: Conversation) -> None:
        """Write the cassette of a conversation that has ended."""
        self._write(conversation.number)
        self._refused.discard(conversation.number)
        self._forget(conversation.number)

    def write(self) -> None:
        """Write the cassettes that have changed."""
        for number in sorted(self._changed):
            self._write(number)

    def _write(self, number: int) -> None:
        if number in self._changed:
            conversation, model, take = self._takes[number]
            self._shelf.write(self._shelf.path(model, conversation.name), take.blocks(), private=True)
            self._changed.discard(number)

    def _forget(self, number: int) -> None:
        self._changed.discard(number)
        if number in self._takes:
            conversation, model, take = self._takes.pop(number)
            take.close()
            if number in self._refused:
                self._shelf.path(model, conversation.name).unlink(missing_ok=True)

    def _list(self, model: str, case: str, exchange: Exchange) -> None:
        """State in the manifest what the cassette of a conversation is evidence of."""
        ours = version("wire-conformance")
        is_simulated = SIMULATOR in exchange.headers.get("server", "")
        versions = {"wire-conformance": ours} | ({SIMULATOR: ours} if is_simulated else {})
        kind = Evidence.SIMULATED if is_simulated else Evidence.RECORDED
        entry = ManifestEntry(
            kind, self._today, versions, "conformance proxy --record", "" if is_simulated else self._host
        )
        old = self._shelf.manifest().get(model)
        if old is None:
            self._shelf.add(model, entry)
        elif old.of(case).alone != entry:
            self._shelf.add(model, replace(old, cases={**old.cases, case: entry}))


def _interaction(copy: Copy, reading: ReadCopy, scrubber: Scrubber) -> RawInteraction:
    """Return an exchange as it may be kept; raises Unscrubbable if a key cannot be removed from it."""
    sent = scrub(scrubber, reading.sent)
    headers = tuple(copy.headers) + (((CUT, copy.cut),) if copy.cut else ())
    return RawInteraction(
        copy.url, tuple(copy.sent_headers), sent, copy.status, copy.reason, headers, reading.content
    ).without_secrets(scrubber)
