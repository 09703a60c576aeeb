"""Every error that the package raises on purpose.

    ConformanceError
    ├── InvalidDocument     a file, ours or the user's, cannot be read as what it should be
    │   └── Unrecognized    a valid file that holds nothing that can be checked
    ├── UnknownName         a provider, rule or scenario that does not exist
    ├── AmbiguousName       a name that fits several of them
    └── Unusable            the call cannot be carried out: no key, no cassette, connection refused

What is wrong on the wire is a finding and never an error.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Self

_MAX_LISTED: Final = 100
"""How many known names an error lists."""


class ConformanceError(Exception):
    """The root of the tree; the command line prints it and ends with exit code 2."""


class InvalidDocument(ConformanceError):
    """A document is malformed; names the file, the line (1-based) and the JSON Pointer, as far as they are known."""

    def __init__(self, message: str, file: str, line: int | None = None, pointer: str | None = None) -> None:
        self.message, self.file, self.line, self.pointer = message, file, line, pointer
        place = file if line is None else f"{file}:{line}"
        at = f" at {pointer or '(root)'}:" if pointer is not None else ""
        super().__init__(f"{place}:{at} {message}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, int | None, str | None]]:
        """Pass all four arguments to another process; by default only the message would be pickled."""
        return type(self), (self.message, self.file, self.line, self.pointer)


class Unrecognized(InvalidDocument):
    """A file holds nothing that can be checked; in a folder, such a file is skipped.

    `content`: its beginning if it is a text, in which there may be an error that somebody copied.
    """

    content: bytes = b""


class UnknownName(ConformanceError):
    """A name is not known; the message lists the nearest known names, or those given as `near`."""

    def __init__(self, kind: str, name: str, known: Iterable[str], near: Sequence[str] = ()) -> None:
        # Imported here because only an error needs it.
        import difflib

        every = sorted(known)
        # A list of all names helps if it can be read at a glance; otherwise the three nearest do, however far they are.
        cutoffs = (0.5,) if len(every) <= _MAX_LISTED else (0.5, 0.0)
        near = near or next(filter(None, (difflib.get_close_matches(name, every, 3, each) for each in cutoffs)), [])
        hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(every) or 'none'}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class AmbiguousName(ConformanceError):
    """A name fits several things; the message lists how to name each."""

    def __init__(self, kind: str, name: str, ways: Sequence[str]) -> None:
        super().__init__(f"{name!r} fits more than one {kind}; name one of them: {', '.join(ways)}")


class Unusable(ConformanceError):
    """The call cannot be carried out as it stands; the message says what to change."""
