"""The families of models: one YAML file for each markup, with its markers, its models and the parsers that read it."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance import definitions
from conformance.documents.pointer import Place

_FOLDER: Final = Path(__file__).parent
_NAME: Final = re.compile(r"[^a-z0-9]+")


class Parsers(NamedTuple):
    """The parsers that engines have for some models, by the name of the engine; None: those of the whole family."""

    models: tuple[str, ...]
    calls: Mapping[str, str] | None
    reasoning: Mapping[str, str] | None


# Equal only if identical, and so hashable although the forms are a mapping.
@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Models that write calls and reasoning alike; `schemas/files/markup.json` explains the fields.

    `parsers` are those of the family, and then those of the models that differ.
    """

    name: str
    title: str
    models: tuple[str, ...]
    calls: tuple[str, ...]
    reasoning: tuple[str, ...]
    tokens: tuple[str, ...]
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parsers: tuple[Parsers, ...] = ()
    is_written_as_text: bool = False

    def fit(self, model: str) -> int:
        """Return the length of the longest name of its models that a model's name, as requests write it, contains."""
        return len(self.name_in(model))

    def name_in(self, model: str) -> str:
        """Return the longest name of its models that a model's name contains, or an empty string."""
        return _longest(self.models, model)

    def call_parsers(self, model: str) -> Mapping[str, str]:
        """Return the tool-call parsers for a model, by the name of the engine; {} if none is documented."""
        found = self._parsers_of(model)
        return next((each.calls for each in found if each.calls is not None), {})

    def reasoning_parsers(self, model: str) -> Mapping[str, str]:
        """Return the reasoning parsers for a model, by the name of the engine; {} if none is documented."""
        found = self._parsers_of(model)
        return next((each.reasoning for each in found if each.reasoning is not None), {})

    def _parsers_of(self, model: str) -> list[Parsers]:
        """Return the parsers of a model, then those of the family."""
        name = self.name_in(model)
        return [each for each in self.parsers if name in each.models] + list(self.parsers[:1])


def _longest(names: Iterable[str], model: str) -> str:
    """Return the longest of some names that a model's name contains, or an empty string."""
    given = model.lower()
    return max([each for each in names if _pattern(each).search(given)], key=len, default="")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return what finds a name in the lower-case name of a model, however its words and numbers are separated.

    Whole words and numbers: `Ring` is not in `string`, and `DeepSeek-V3` is not in `deepseek-v32`.
    """
    signs = _NAME.sub("", name.lower())
    return re.compile(
        r"(?<![a-z0-9])" + r"[^a-z0-9]*".join(signs) + (r"(?![0-9])" if signs[-1].isdigit() else r"(?![a-z])")
    )


@cache
def load() -> tuple[Family, ...]:
    """Return every family, ordered by name; raises InvalidDocument with file, line and pointer."""
    return tuple([_family(name) for name in definitions.names(_FOLDER)])


def _family(name: str) -> Family:
    value: Mapping[str, Any] = definitions.read(_FOLDER / f"{name}.yaml", "markup", _unknown_models).value
    given = value.get("parsers", {})
    return Family(
        name,
        value["title"],
        models=tuple(value["models"]),
        calls=tuple(value.get("calls", ())),
        reasoning=tuple(value.get("reasoning", ())),
        tokens=tuple(value.get("tokens", ())),
        forms=value.get("forms", {}),
        parsers=tuple([_parsers(each) for each in (given, *given.get("exceptions", ()))]),
        is_written_as_text=value.get("written-as-text", False),
    )


def _parsers(value: Mapping[str, Any]) -> Parsers:
    return Parsers(tuple(value.get("models", ())), value.get("tool-calls"), value.get("reasoning"))


def _unknown_models(value: Any) -> Iterator[tuple[Place, str]]:
    for at, exception in enumerate(value.get("parsers", {}).get("exceptions", ())):
        for index, model in enumerate(exception["models"]):
            if model not in value["models"]:
                yield ("parsers", "exceptions", at, "models", index), f"{model!r} is not a model of the family"


def family_of(candidates: Collection[Family], model: str) -> Family | None:
    """Return the family that a marker of several belongs to: that of the model, else the one with the most models.

    The longest name decides, since Qwen3-Coder is Qwen3 by name and not by markup. None if there are no candidates.
    """
    return max(candidates, key=lambda each: (each.fit(model), len(each.models)), default=None)


def model_family(model: str, among: Collection[Family] | None = None) -> Family | None:
    """Return the family of a model, of all or some, by its name as requests write it; None if none has that name."""
    family = family_of(load() if among is None else among, model)
    return family if family is not None and family.fit(model) else None
