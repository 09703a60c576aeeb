"""Puts stand-ins in the place of the modules with kernels that SGLang imports and a CPU has none of.

Python imports this file at the start of every process of SGLang's environment, because its folder is on PYTHONPATH.
Only computing is replaced: requests, templates, parsers, ids, streams and errors are SGLang's own. It imports nothing
of this project.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_REPLACED = ("sgl_kernel", "torchvision", "vllm")


class _Names(type):
    """Makes every name in a stand-in a stand-in."""

    def __getattr__(cls, name: str) -> Any:
        return _stand_in(name)


class StandIn(metaclass=_Names):
    """Takes the place of any class or function: it can be looked into, called, subclassed and subscripted."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Take whatever the real one takes."""

    def __call__(self, *given: Any, **_: Any) -> Any:
        """Return what is decorated, else another stand-in."""
        return given[0] if len(given) == 1 and callable(given[0]) else self

    def __getattr__(self, name: str) -> Any:
        """Return a stand-in for whatever it is asked for."""
        return _stand_in(name)

    def __class_getitem__(cls, _: Any) -> Any:
        """Be its own generic."""
        return cls


def _stand_in(name: str) -> type[StandIn]:
    if name.startswith("__"):
        # Python asks for these to find out what a thing can do; a stand-in can do nothing special.
        raise AttributeError(name)
    return StandIn


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds each replaced package, whatever is asked for below it."""

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
    """Turn query and key, in place, by the angles of their positions, as vLLM's kernel of this name does.

    It is the one replaced kernel that the scripted model needs. `table` holds for each position the cosines and then
    the sines. With `neox` the two halves of a head belong together, otherwise each two neighbours.
    """
    # Imported here because it takes seconds, and most processes compute nothing.
    import torch

    cosines, sines = table[positions.flatten()].float().unsqueeze(1).chunk(2, dim=-1)
    for rows in (query, key):
        if rows is None:
            continue
        part = rows.view(positions.numel(), -1, head_size)[..., : 2 * cosines.shape[-1]]
        x, y = part.float().chunk(2, dim=-1) if neox else (part[..., ::2].float(), part[..., 1::2].float())
        turned = (x * cosines - y * sines, y * cosines + x * sines)
        part.copy_(torch.cat(turned, dim=-1) if neox else torch.stack(turned, dim=-1).flatten(-2))


sys.meta_path.insert(0, _Finder())
