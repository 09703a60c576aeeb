"""A recording in progress: whole cases wait beside the old cassettes, and replace them together in the end."""

import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from conformance import artifacts
from conformance.errors import Unusable
from conformance.results import Evidence
from conformance.transport.cassette import END, START, interaction_text
from conformance.transport.interaction import RawInteraction
from conformance.transport.shelf import CassetteFolder, ManifestEntry
from conformance.wire.exchange import CUT

_ABOUT: Final = "about.json"
_IN_MEMORY: Final = 4 * 1024 * 1024
_BLOCK: Final = 64 * 1024


class Take:
    """What one case sent and got while it is recorded: kept in a file, since replies are many and may be large.

    `count` is the number of interactions; `lost` counts the requests that no reply came to.
    """

    def __init__(self, hidden: Mapping[str, str]) -> None:
        """Begin a take; see `interaction_text` for `hidden`."""
        self._hidden = hidden
        self._cut = ""
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 — `close` closes it
        self._file.write(START.encode())
        self.count = 0
        self.lost = 0

    def keep(self, interaction: RawInteraction) -> None:
        """Add an interaction; raises Unusable if there is no space for it."""
        try:
            self._file.write(interaction_text(interaction, self._hidden).encode())
        except OSError as error:
            raise Unusable(f"cannot keep a reply in {tempfile.gettempdir()}: {error.strerror or error}") from None
        self.count += 1
        self._cut = self._cut or dict(interaction.headers).get(CUT, "")

    @property
    def problem(self) -> str:
        """Why it is not whole; empty if it is."""
        if self.lost:
            return f"{self.lost} of its requests got no reply"
        return f"a reply was cut: {self._cut}" if self._cut else ""

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of its cassette."""
        self._file.seek(0)
        yield from iter(partial(self._file.read, _BLOCK), b"")
        yield END.encode()

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Terms:
    """How a recording is made.

    `about` are the settings that every case must share; a recording resumes only one with the same. `hidden` maps texts
    that a cassette must not hold, such as the folders of a machine, to what is written instead. `private`: only the
    owner of the cassettes can read them. `real`: a real endpoint replies. `resume`: go on with an interrupted
    recording.
    """

    about: Mapping[str, Any]
    hidden: Mapping[str, str] = field(default_factory=dict)
    private: bool = False
    real: bool = False
    resume: bool = False


class CaseRecorder:
    """Records the cases of one model, as a context manager; only one process at a time records them.

    `old` is what the manifest states of the cassettes before. `left_out` says of each case that was not recorded why.
    """

    def __init__(self, shelf: CassetteFolder, model: str, terms: Terms) -> None:
        self._shelf, self._model, self._terms = shelf, model, terms
        self._folder = shelf.staging(model)
        self._stack = ExitStack()
        self.old: ManifestEntry | None = None
        self.left_out: dict[str, str] = {}
        self._kept: set[str] = set()

    def __enter__(self) -> Self:
        """Lock the cassettes of the model; raises Unusable if another process records them."""
        folder = self._shelf.path(self._model, "x").parent
        lock = self._shelf.home / f".{self._folder.name}.lock"
        self._stack.enter_context(artifacts.locked_file(lock, folder=folder))
        try:
            self._prepare()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _prepare(self) -> None:
        self.old = self._shelf.manifest().get(self._model)
        about, terms = self._folder / _ABOUT, orjson.dumps(self._terms.about, option=orjson.OPT_SORT_KEYS)
        if self._terms.resume and about.is_file() and about.read_bytes() != terms:
            raise Unusable(
                f"the recording in {self._folder} was begun with other options ({about.read_text('utf-8')}); repeat "
                "them, or omit --resume to start over"
            )
        if not self._terms.resume:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._shelf.write(about, terms, private=self._terms.private)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock; what was staged and has replaced nothing stays, and can be resumed."""
        if not self.staged:
            shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):  # Recordings of other models wait there.
            self._folder.parent.rmdir()
        self._stack.close()

    @property
    def staged(self) -> tuple[str, ...]:
        """The names of the cases that are whole so far."""
        return tuple(sorted([path.stem for path in self._folder.glob("*.yaml")]))

    def start(self) -> Take:
        """Return what keeps the interactions of a case."""
        return Take(self._terms.hidden)

    def path(self, case: str) -> Path:
        """Return where the cassette of a case is staged once it is whole."""
        return self._folder / f"{case}.yaml"

    def has_real(self, case: str) -> bool:
        """Return True if there is a cassette of a case that holds real replies."""
        is_real = self.old is not None and self.old.of(case).evidence is not Evidence.SIMULATED
        return is_real and self._shelf.path(self._model, case).exists()

    def take(self, case: str, take: Take, problem: str) -> None:
        """Keep a case until the recording ends, unless an older cassette of it must stay.

        Without a reply to every request a case cannot be replayed. One that is not whole for another reason, which
        `problem` names, replaces only what the simulator said. Nothing replaces real replies by simulated ones.
        """
        if take.lost or (problem and self.has_real(case)):
            self.left_out[case] = problem
        elif take.count and (self._terms.real or not self.has_real(case)):
            self._stage(case, take)
            return
        self._kept.add(case)

    def _stage(self, case: str, take: Take) -> None:
        self._shelf.write(self.path(case), take.blocks(), private=self._terms.private)

    def finish(self, entry: ManifestEntry, requested: Collection[str], *, is_whole: bool) -> None:
        """Let the staged cassettes replace the old ones.

        `requested` are the cases that the run was about, and whole if these are all of the model: then old cassettes of
        others are removed. Raises Unusable if simulated replies would replace real ones.
        """
        if entry.evidence is Evidence.SIMULATED and (real := [case for case in self.staged if self.has_real(case)]):
            raise Unusable(f"simulated replies cannot replace the real ones of {', '.join(real)}; nothing was replaced")
        others = set() if is_whole else set(self._shelf.cases(self._model)) - set(requested)
        self._shelf.replace(self._model, entry, others | self._kept)
