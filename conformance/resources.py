"""Paths of the data folders: inside an installed wheel, or beside the package in a checkout.

A wheel holds `schemas`, of `fixtures` only what the package itself reads, of `reports` the expected failures, and of
`docs` the known bugs of SDKs. The cassettes, the scripted model, the results, the calibration, the index of recordings,
the definitions and drivers of SDKs, and the scenarios are archives there, because they are smaller, and because every
pytest run of an environment reads the list of all files of the wheel. Of an engine, the wheel holds the cassettes of
its first template; a checkout holds those of the others, too.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from conformance.errors import Unusable

ARCHIVED: Final = ".tar.xz"
"""What the name of a folder ends with in a wheel if it is an archive there."""

INDEX: Final = "archives.json"
"""The file that names the archive of each folder, in a data folder whose archives hold several folders each."""

_PACKAGE = Path(__file__).parent
_SHIPPED = _PACKAGE / "_data"


def folder(name: str) -> Path:
    """Return a data folder by name: schemas, cassettes, fixtures, reports or docs."""
    shipped = _SHIPPED / name
    return shipped if shipped.is_dir() else _PACKAGE.parent / name


def checkout_folder(name: str, instead: str) -> Path:
    """Return a data folder of the checkout, for commands that write to it or need all of it.

    Raises Unusable if the package is installed from a wheel. `instead` says what the user has to do then, such as
    `--results DIR is required`.
    """
    if _SHIPPED.is_dir():
        message = f"{instead}, because conformance does not run from a checkout of its repository"
        raise Unusable(message)
    return _PACKAGE.parent / name


def unpacked(path: Path) -> Path:
    """Return a folder inside a data folder; what is an archive there is unpacked until the process ends.

    Raises Unusable if the archive cannot be unpacked.
    """
    shared = _index(path.parent).get(path.name)
    if shared is not None:
        return _unpacked(path.parent / f"{shared}{ARCHIVED}", path.name) / path.name
    archive = path.parent / (path.name + ARCHIVED)
    return _unpacked(archive) if archive.is_file() else path


def names(path: Path) -> tuple[str, ...]:
    """Return the names of the folders inside a data folder, archives or not, sorted."""
    index = _index(path)
    found = {each.name.removesuffix(ARCHIVED) for each in path.iterdir() if each.is_dir() or each.match(f"*{ARCHIVED}")}
    return tuple(sorted((found - set(index.values())) | index.keys()))


@lru_cache(maxsize=16)
def _index(path: Path) -> Mapping[str, str]:
    index = path / INDEX
    return json.loads(index.read_text("utf-8")) if index.is_file() else {}


@lru_cache(maxsize=256)
def _unpacked(archive: Path, only: str = "") -> Path:
    # Imported here because only an installed package has archives.
    import shutil
    import tarfile
    import tempfile
    from multiprocessing.util import Finalize

    home = Path(tempfile.mkdtemp(prefix="conformance-"))
    # Unlike atexit, it runs in worker processes too, and leaves a forked one the folder of the process that made it.
    Finalize(None, shutil.rmtree, (home,), {"ignore_errors": True}, exitpriority=1)
    target = home / archive.name.removesuffix(ARCHIVED)
    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                content = None if only and not member.name.startswith(f"{only}/") else packed.extractfile(member)
                if content is not None:
                    path = target / member.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content.read())
    except (tarfile.ReadError, OSError) as error:
        # Some builds of Python lack the module that unpacks it.
        raise Unusable(f"{archive} cannot be unpacked: {error}") from None
    return target
