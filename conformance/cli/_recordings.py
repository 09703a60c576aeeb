"""What the actions of `conformance evidence` share that read recordings from public repositories."""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.evidence import index
from conformance.evidence.fetching import RAW, FileOrigin, Mirrors, Raw

if TYPE_CHECKING:
    from conformance.evidence.packages.archives import Archives

MIRROR: Final = "read from bare git mirrors in DIR: owner/name or owner+name, with or without .git"


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options about where the index and the files are."""
    add = parser.add_argument
    add("--index", metavar="DIR", default="", help="the folder of the index (default: this project's)")
    add("--mirror", metavar="DIR", default="", help=MIRROR)
    add("--url", metavar="URL", default=RAW, help="the server of raw files (default: %(default)s)")


def index_folder(arguments: argparse.Namespace) -> Path:
    """Return the folder of the index."""
    return Path(arguments.index) if arguments.index else index.FOLDER


def archives(stack: ExitStack) -> "Archives":
    """Return the archives of packages; the stack closes the connections."""
    # Imported here because httpx takes long to load, and --help does not need it.
    import httpx

    from conformance.evidence.packages.archives import Archives
    from conformance.evidence.packages.registries import Registries

    client = httpx.Client(headers={"user-agent": "wire-conformance"})
    return Archives(Registries(stack.enter_context(client)))


def origin(arguments: argparse.Namespace, stack: ExitStack, connections: int = 1) -> FileOrigin:
    """Return where files come from; the stack closes the connections."""
    if arguments.mirror:
        return Mirrors(Path(arguments.mirror))
    # Imported here because httpx takes long to load, and mirrors do not need it.
    import httpx

    limits = httpx.Limits(max_connections=connections)
    client = httpx.Client(headers={"user-agent": "wire-conformance"}, limits=limits)
    return Raw(stack.enter_context(client), arguments.url)
