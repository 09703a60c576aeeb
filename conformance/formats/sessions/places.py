"""Where agents keep their sessions, on Linux, macOS and Windows: the folders of all three are looked at.

Source: the code named in the file of each agent, and the settings of VS Code and its forks,
https://code.visualstudio.com/docs/configure/settings#_settings-file-locations
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

_DATA: Final = (".local/share", "Library/Application Support", "AppData/Roaming", "AppData/Local")
_CONFIG: Final = (".config", "Library/Application Support", "AppData/Roaming")
_EDITORS: Final = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Kiro", "Trae", "Antigravity")
_SERVERS: Final = (".vscode-server/data", ".cursor-server/data", ".vscode-remote/data")
_BASES: Final = (*_SERVERS, *[f"{base}/{name}" for base in _CONFIG for name in _EDITORS])
_TASKS: Final = "tasks/*/api_conversation_history.json"
_EXTENSIONS: Final = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
_MAX_FILES: Final = 100_000


class Place(NamedTuple):
    """Where an agent keeps its sessions.

    `agent`: its file in this folder. `variables`: environment variables that name its folder. `folders`: those below
    the home folder. `below`: those below the folders for data of all programs. `globs`: its files in each.
    """

    agent: str
    variables: tuple[str, ...]
    folders: tuple[str, ...]
    below: tuple[str, ...]
    globs: tuple[str, ...]


class SessionFile(NamedTuple):
    """A file that may hold sessions: its path, its size in bytes, and when it was changed, in seconds since 1970."""

    path: Path
    size: int
    changed: float


PLACES: Final = (
    Place("claude_code", ("CLAUDE_CONFIG_DIR",), (".claude", ".config/claude"), (), ("projects/**/*.jsonl",)),
    Place(
        "codex",
        ("CODEX_HOME",),
        (".codex",),
        (),
        ("sessions/**/rollout-*.jsonl", "archived_sessions/**/rollout-*.jsonl"),
    ),
    Place(
        "opencode",
        ("OPENCODE_DATA",),
        (),
        ("opencode", "kilo"),
        ("opencode*.db", "kilo*.db", "storage/session/*/ses_*.json"),
    ),
    Place(
        "gemini_cli",
        (),
        (".gemini",),
        (),
        ("tmp/*/chats/**/*.json", "tmp/*/chats/**/*.jsonl"),
    ),
    Place(
        "qwen_code",
        ("QWEN_HOME", "QWEN_RUNTIME_DIR"),
        (".qwen",),
        (),
        ("projects/*/chats/**/*.jsonl", "tmp/*/chats/**/*.json", "tmp/*/chats/**/*.jsonl"),
    ),
    Place(
        "cline",
        ("CLINE_DATA_DIR",),
        (
            ".cline/data",
            *[
                f"{base}/{name}/User/globalStorage/{each}"
                for base in _CONFIG
                for name in _EDITORS
                for each in _EXTENSIONS
            ],
            *[f"{base}/User/globalStorage/{each}" for base in _SERVERS for each in _EXTENSIONS],
        ),
        (),
        (_TASKS, "sessions/*/*.messages.json"),
    ),
    Place(
        "goose",
        ("GOOSE_PATH_ROOT",),
        (".local/state/goose",),
        ("goose", "Block/goose", "Block/goose/data"),
        (
            "sessions/sessions.db",
            "sessions/*.jsonl",
            "data/sessions/sessions.db",
            "logs/llm_request.*.jsonl",
            "state/logs/llm_request.*.jsonl",
        ),
    ),
    Place("pi", ("PI_CODING_AGENT_DIR",), (".pi/agent",), (), ("sessions/**/*.jsonl",)),
    Place(
        "zed",
        (),
        (".var/app/dev.zed.Zed/data/zed",),
        ("zed", "Zed"),
        ("threads/threads.db",),
    ),
)


def folders(place: Place, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
    """Return the folders in which an agent may keep its sessions, each once; they need not exist.

    `environment`: the variables that may name others, empty to look below the home folder only.
    """
    named = [Path(environment[name]) for name in place.variables if environment.get(name)]
    data = [home / each for each in _DATA]
    data += [Path(environment[name]) for name in ("XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA") if environment.get(name)]
    below = [each / name for each in data for name in place.below]
    return [*dict.fromkeys([*named, *[home / each for each in place.folders], *below])]


def session_files(place: Place, found: Sequence[Path]) -> Sequence[SessionFile]:
    """Return the files of an agent in some folders, newest first, each once; links and special files do not count."""
    every = {file.path: file for folder in found for file in _files(place, folder)}
    return sorted(every.values(), key=lambda file: (-file.changed, str(file.path)))


def sessions_in(folder: Path) -> frozenset[Path] | None:
    """Return the files with sessions in a folder of an agent, by its name and content; None for any other folder."""
    for place in PLACES:
        if folder.absolute().name in {Path(name).name for name in (*place.folders, *place.below)}:
            found = frozenset(file.path for file in _files(place, folder))
            if found:
                return found
    return None


def _files(place: Place, folder: Path) -> Iterator[SessionFile]:
    if not folder.is_dir():
        return
    for glob in place.globs:
        for path in islice(folder.glob(glob), _MAX_FILES):
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                yield SessionFile(path, status.st_size, status.st_mtime)
