"""Replaces the kernel modules that SGLang imports, which do not exist for CPUs, with stand-ins.

Python imports this file at the start of every process of SGLang's environment, because its folder is on PYTHONPATH.
Only computation is replaced: requests, templates, parsers, ids, streams and errors are SGLang's own. This file imports
nothing of this project.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_REPLACED = ("sgl_kernel", "torchvision", "vllm")


class _Names(type):
    """Makes every attribute of a stand-in a stand-in."""

    def __getattr__(cls, name: str) -> Any:
        return _stand_in(name)


class StandIn(metaclass=_Names):
    """Replaces any class or function: its attributes can be read, and it can be called, subclassed and subscripted."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Accept the arguments of the real one."""

    def __call__(self, *arguments: Any, **_: Any) -> Any:
        """Return a decorated function unchanged; otherwise return this stand-in."""
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else self

    def __getattr__(self, name: str) -> Any:
        """Return a stand-in for any attribute."""
        return _stand_in(name)

    def __class_getitem__(cls, _: Any) -> Any:
        """Return the class itself for any type arguments."""
        return cls


def _stand_in(name: str) -> type[StandIn]:
    if name.startswith("__"):
        # Python looks special methods up to find out what an object supports; a stand-in supports none.
        raise AttributeError(name)
    return StandIn


class _StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds each replaced package, and any module below it."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> Any:
        if name.partition(".")[0] in _REPLACED:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.__dict__.update({"__path__": [], "__version__": "0", "__getattr__": _stand_in})
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "vllm._custom_ops":
            module.__dict__["rotary_embedding"] = rotary_embedding


def rotary_embedding(positions: Any, query: Any, key: Any, head_size: int, table: Any, neox: Any) -> None:
    """Rotate query and key in place by the angles of their positions, as vLLM's kernel of this name does.

    It is the only replaced kernel that the scripted model needs. `table` has the cosines and then the sines of each
    position. With `neox` the two halves of a head are paired, otherwise neighbouring elements are.
    """
    # Imported here because it takes seconds, and most processes do not need it.
    import torch

    cosines, sines = table[positions.flatten()].float().unsqueeze(1).chunk(2, dim=-1)
    for rows in (query, key):
        if rows is None:
            continue
        rotated = rows.view(positions.numel(), -1, head_size)[..., : 2 * cosines.shape[-1]]
        x, y = rotated.float().chunk(2, dim=-1) if neox else (rotated[..., ::2].float(), rotated[..., 1::2].float())
        result = (x * cosines - y * sines, y * cosines + x * sines)
        rotated.copy_(torch.cat(result, dim=-1) if neox else torch.stack(result, dim=-1).flatten(-2))


sys.meta_path.insert(0, _StubFinder())
