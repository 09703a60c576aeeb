"""Profiles of installed packages: each names its file by an entry point of the group `wire_conformance.profiles`.

The name of the entry point is that of the profile, its value the package that holds `<name>.yaml`. The package is only
located, never run. A name of a shipped profile is reserved: there the shipped file is used.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from conformance.errors import Unusable

GROUP: Final = "wire_conformance.profiles"
_GROUP_LINE: Final = GROUP.encode()


@cache
def providers() -> Mapping[str, tuple[str, ...]]:
    """Return the packages that offer a profile, by the name of the profile."""
    if not may_be_any():
        return {}
    # Imported here because reading the metadata of all packages takes longer than checking a file.
    from importlib.metadata import entry_points

    found: dict[str, dict[str, None]] = {}
    for each in entry_points(group=GROUP):
        found.setdefault(each.name, {})[each.value] = None
    return {name: tuple(packages) for name, packages in sorted(found.items())}


def may_be_any() -> bool:
    """Return whether a package may offer a profile; quick, and right if it says no."""
    others = [each for each in sys.meta_path if each is not PathFinder and hasattr(each, "find_distributions")]
    # Whatever is not a plain folder is read by its own means.
    return bool(others) or any(_may_offer(os.fspath(each) or os.curdir) for each in sys.path)


def _may_offer(place: str) -> bool:
    """Return whether a package in a place of the path may name the group in its metadata."""
    if place.lower().endswith((".egg", ".egg/")):
        return True
    try:
        found = os.scandir(place)
    except NotADirectoryError:
        return True
    except OSError:
        return False
    with found:
        for each in found:
            if each.name.lower().endswith((".dist-info", ".egg-info")):
                with suppress(OSError):
                    if _GROUP_LINE in Path(each.path, "entry_points.txt").read_bytes():
                        return True
    return False


def path_of(name: str) -> Path | None:
    """Return the file of an installed profile; None if there is none, Unusable if its package is not as it says."""
    packages = providers().get(name, ())
    if len(packages) > 1:
        raise Unusable(f"the profile {name!r} is offered by several packages ({', '.join(packages)}); uninstall one")
    for package in packages:
        path = _folder(name, package) / f"{name}.yaml"
        if not path.is_file():
            raise Unusable(f"the profile {name!r} of the package {package!r} does not exist: expected {path}")
        return path
    return None


def _folder(name: str, package: str) -> Path:
    # Imported here because most runs use no installed profile.
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places:
        raise Unusable(f"the profile {name!r} is offered by the package {package!r}, which cannot be found")
    return Path(places[0])
