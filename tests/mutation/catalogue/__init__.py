"""The catalogue of mutations: one module for each part of the wire; the folder is the registry."""

import importlib
from functools import cache
from pathlib import Path

from tests.mutation.definition import Mutation


@cache
def load() -> tuple[Mutation, ...]:
    """Return every mutation, ordered by name."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Mutation)]
    return tuple(sorted(found, key=lambda mutation: mutation.name))
