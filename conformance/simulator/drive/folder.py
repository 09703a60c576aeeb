"""The files that a driven agent works with, and the values of its calls: all of them lie in one new folder.

A value that no model could guess stands in each file, so that an answer shows whether its result arrived.
"""

import contextlib
import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance.errors import Unusable
from conformance.scenarios import PlacedFile, Scenario

PREFIX: Final = "driven-"
"""What the name of each folder begins with; its end is found again in what a client sends back."""

_CHANGED: Final = " changed"
_FILE: Final = re.compile(r"\{([^{}]+)\}")
_SECONDS: Final = re.compile(r"[0-2](\.\d{1,2})?")
_LINE: Final = "Line {number:05} of a long file that has nothing to say.\n"
_NOTE: Final = "One step of a conformance test."


@dataclass(frozen=True, slots=True)
class DrivenFolder:
    """The folder of one conversation inside `root`; `seed` decides its name and the nonces."""

    root: Path
    seed: str
    files: tuple[PlacedFile, ...]

    @property
    def mark(self) -> str:
        """Return the name of the folder, which no other conversation has."""
        return f"{PREFIX}{self._digest('folder')}"

    @property
    def path(self) -> Path:
        """Return the folder."""
        return self.root / self.mark

    def nonce(self, name: str) -> str:
        """Return the value that a file holds, or that a command prints."""
        return self._digest(name)

    def place(self) -> None:
        """Write the files; raises Unusable if the folder exists already or cannot be written."""
        try:
            self.path.mkdir()
            for file in self.files:
                path = self._at(file.name)
                path.parent.mkdir(exist_ok=True)
                # Never through a link, nor over a file that is there.
                with path.open("x", encoding="utf-8") as opened:
                    opened.write(self._content(file))
        except OSError as error:
            raise Unusable(f"cannot place files in {self.root}: {error.strerror or error}") from None

    def remove(self) -> None:
        """Remove what was placed; what an agent added stays, and its folder."""
        for file in self.files:
            with contextlib.suppress(OSError):
                self._at(file.name).unlink()
        for path in sorted({self._at(file.name).parent for file in self.files} | {self.path}, reverse=True):
            with contextlib.suppress(OSError):
                path.rmdir()

    def deed(self, deed: str, about: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
        """Return what a call of the script does, with the values that a tool for it needs.

        A deed that some agents have no tool for comes as a command, too: `read` and `list`.
        """
        values = {"note": _NOTE, "root": str(self.path), "folder": str(self.path)}
        match deed, dict(about):
            case "read", {"file": name, **rest}:
                # The same file in other letters, since the same call would have the same result.
                path = str(self._at(name)) if not rest else f"{self.path}/./{self._at(name).relative_to(self.path)}"
                values |= {"path": path, "command": f"cat {shlex.quote(path)}"}
            case "list", {"folder": name}:
                folder = str(self.path / name)
                values |= {"folder": folder, "command": f"ls {shlex.quote(folder)}"}
            case "search", {"word": name}:
                values |= {"word": self.nonce(name)}
            case "edit", {"file": name}:
                old, new, path = self.nonce(name), self.nonce(f"{name}{_CHANGED}"), str(self._at(name))
                patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
                values |= {"path": path, "old": old, "new": new, "patch": patch}
            case "shell", command:
                values |= {"command": self._command(command)}
        return deed, values

    def _command(self, about: Mapping[str, Any]) -> str:
        """Return a command: cat, ls, printf or sleep, and nothing else."""
        ((word, value),) = about.items()
        if word == "sleep" and _SECONDS.fullmatch(str(value)):
            return f"sleep {value}"
        if word == "printf":
            return f"printf {self.nonce(value)}"
        if word == "denied":
            return f"printf denied-{self.nonce(value)}"
        if word in ("cat", "ls"):
            return f"{word} {shlex.quote(str(self._at(value)))}"
        raise Unusable(f"a scenario asks for the command {word!r}, which is not one of cat, ls, printf and sleep")

    def result(self, text: str) -> str:
        """Return what a result of the script must contain: `{alpha.txt}` is what stands in that file."""
        return _FILE.sub(lambda found: self.nonce(found[1]), text)

    def _content(self, file: PlacedFile) -> str:
        if file.is_empty:
            return ""
        lines = [_LINE.format(number=number) for number in range(file.lines)]
        return "".join([f"{self.nonce(file.name)}\n", *lines])

    def _at(self, name: str) -> Path:
        """Return the path of a file, whose name holds its nonce if it is a named one."""
        named = next((each for each in self.files if each.name == name), PlacedFile(name))
        path = self.path / name
        return path.with_stem(f"{path.stem}-{self.nonce(name)}") if named.is_named else path

    def _digest(self, name: str) -> str:
        return hashlib.blake2b(f"{self.seed} {name}".encode(), digest_size=6).hexdigest()


def folder_for(scenario: Scenario, root: Path, seed: str) -> DrivenFolder:
    """Return the folder of a scenario inside a directory; raises Unusable if that is not a directory."""
    resolved = root.resolve()
    if not resolved.is_dir():
        raise Unusable(f"--workdir {root}: no such folder")
    return DrivenFolder(resolved, f"{seed} {scenario.name}", scenario.files)
