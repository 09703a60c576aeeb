"""Every error that the package raises on purpose.

    ConformanceError
    ├── InvalidDocument     a file, ours or the user's, cannot be read as what it should be
    │   └── Unrecognized    a sound file that is none of the kinds that are judged
    ├── UnknownName         a provider, rule or scenario that nobody has
    └── Unusable            the call cannot be carried out: no key, no cassette, nobody listens

What is wrong on the wire is never an error but a finding.
"""

from collections.abc import Iterable
from typing import Self


class ConformanceError(Exception):
    """The root of the tree; the command line prints it and ends with exit code 2."""


class InvalidDocument(ConformanceError):
    """A document is malformed at a place that is named: file, line (1-based) and JSON Pointer, as far as known."""

    def __init__(self, message: str, file: str, line: int | None = None, pointer: str | None = None) -> None:
        self.message, self.file, self.line, self.pointer = message, file, line, pointer
        place = file if line is None else f"{file}:{line}"
        at = f" at {pointer or '(root)'}:" if pointer is not None else ""
        super().__init__(f"{place}:{at} {message}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, int | None, str | None]]:
        """Keep the four facts on the way to another process."""
        return type(self), (self.message, self.file, self.line, self.pointer)


class Unrecognized(InvalidDocument):
    """A file holds nothing of the kinds that are judged; where a folder was searched it is passed over."""


class UnknownName(ConformanceError):
    """A name stands for nothing; the nearest known ones are named."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        # Imported here because a run without mistakes never needs it.
        import difflib

        every = sorted(known)
        near = difflib.get_close_matches(name, every, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(every) or 'none'}"
        super().__init__(f"there is no {kind} {name!r}; {hint}")


class Unusable(ConformanceError):
    """The call cannot be carried out as it stands; the message says what to change."""
