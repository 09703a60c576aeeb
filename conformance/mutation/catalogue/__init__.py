"""The catalogue of vices: one module a part of the wire, the folder is the registry."""

import importlib
from functools import cache
from pathlib import Path

from conformance.mutation.definition import Vice


@cache
def load() -> tuple[Vice, ...]:
    """Return every vice, ordered by name."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [each for module in modules for each in vars(module).values() if isinstance(each, Vice)]
    return tuple(sorted(found, key=lambda each: each.name))
