"""The families of models: one YAML file for each markup, with its markers, its models and the parsers that read it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance import definitions

_FOLDER: Final = Path(__file__).parent
_NAME: Final = re.compile(r"[^a-z0-9]+")


# Equal only if identical, and so hashable although the forms are a mapping.
@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Models that write calls and reasoning alike; `schemas/files/markup.json` explains the fields.

    `call_parsers` and `reasoning_parsers` are the parsers that engines have for them, by the name of the engine.
    """

    name: str
    title: str
    models: tuple[str, ...]
    calls: tuple[str, ...]
    reasoning: tuple[str, ...]
    tokens: tuple[str, ...]
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    call_parsers: Mapping[str, str] = field(default_factory=dict)
    reasoning_parsers: Mapping[str, str] = field(default_factory=dict)

    def fit(self, model: str) -> int:
        """Return the length of the longest name of its models that a model's name, as requests write it, contains."""
        given = _plain(model)
        return max([len(_plain(each)) for each in self.models if _plain(each) in given], default=0)


def _plain(name: str) -> str:
    return _NAME.sub("", name.lower())


@cache
def load() -> tuple[Family, ...]:
    """Return every family, ordered by name; raises InvalidDocument with file, line and pointer."""
    return tuple([_family(name) for name in definitions.names(_FOLDER)])


def _family(name: str) -> Family:
    value: Mapping[str, Any] = definitions.read(_FOLDER / f"{name}.yaml", "markup").value
    parsers = value.get("parsers", {})
    return Family(
        name,
        value["title"],
        models=tuple(value["models"]),
        calls=tuple(value.get("calls", ())),
        reasoning=tuple(value.get("reasoning", ())),
        tokens=tuple(value.get("tokens", ())),
        forms=value.get("forms", {}),
        call_parsers=parsers.get("tool-calls", {}),
        reasoning_parsers=parsers.get("reasoning", {}),
    )


def family_of(candidates: Collection[Family], model: str) -> Family | None:
    """Return the family that a marker of several belongs to: that of the model, else the one with the most models.

    The longest name decides, since Qwen3-Coder is Qwen3 by name and not by markup. None if there are no candidates.
    """
    return max(candidates, key=lambda each: (each.fit(model), len(each.models)), default=None)
