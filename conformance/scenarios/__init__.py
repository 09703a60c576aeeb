"""Scenarios: one YAML file each, played in both directions.

`harness.provider` plays the user's side of a scenario against a provider, `harness.simulator` the provider's side to
a client. The reply is derived from the script and the provider's claims; nothing of it is written down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.documents import Document, read_yaml
from conformance.errors import InvalidDocument, UnknownName
from conformance.schemas import validator
from conformance.wire.pointer import render

_FOLDER = Path(__file__).parent
VARIANTS = ("plain", "stream")
RULED_OUT: tuple[Any, ...] = (False, "none", "never", "unknown", [], ["none"])
"""Claim values that say a need is not met, or that nobody knows."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of the script: what the client brings, and what the model thinks, calls and says."""

    user: str | None = None
    results: tuple[str, ...] = ()
    thinks: str = ""
    says: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A request of the scenario, sent again with one deviation; `at` counts exchanges from 1.

    `breaks` names the rule that the deviation breaks; None for a control, which changes nothing.
    """

    name: str
    title: str
    at: int
    change: str
    breaks: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation to be played; `exercises` are globs of the rules that it promises to put to the test."""

    name: str
    title: str
    exercises: tuple[str, ...]
    turns: tuple[Turn, ...]
    needs: tuple[str, ...] = ()
    variants: tuple[str, ...] = VARIANTS
    tools: tuple[str, ...] = ()
    system: str = ""
    probes: tuple[Probe, ...] = ()

    @property
    def prompts(self) -> tuple[str, ...]:
        """Return the user's messages, in their order."""
        return tuple(turn.user for turn in self.turns if turn.user is not None)

    def unmet(self, claims: Mapping[str, Any]) -> str | None:
        """Return the first need that the claims rule out, or None where the scenario can be played."""
        return next((need for need in self.needs if claims.get(need, True) in RULED_OUT), None)


@cache
def names() -> tuple[str, ...]:
    """Return the names of all scenarios, in their order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml") if not path.stem.startswith("_")))


@cache
def load(name: str) -> Scenario:
    """Return the scenario of that name; raises UnknownName, or InvalidDocument with the line."""
    if name not in names():
        raise UnknownName("scenario", name, names())
    path = _FOLDER / f"{name}.yaml"
    document = read_yaml(path)
    _demand_shape(document, path)
    value = document.value
    return Scenario(
        name=name,
        title=value["title"],
        exercises=tuple(value["exercises"]),
        turns=tuple(_turn(turn) for turn in value["turns"]),
        needs=tuple(value.get("needs", ())),
        variants=tuple(value.get("variants", VARIANTS)),
        tools=tuple(value.get("tools", ())),
        system=value.get("system", ""),
        probes=tuple(Probe(**probe) for probe in value.get("probes", ())),
    )


@cache
def tool_definitions() -> Mapping[str, Mapping[str, Any]]:
    """Return every tool that scenarios offer, by name, as it stands in a request's `tools`."""
    tools = read_yaml(_FOLDER / "_tools.yaml").value
    return {name: {"type": "function", "function": {"name": name, **tool}} for name, tool in tools.items()}


def _demand_shape(document: Document, path: Path) -> None:
    errors = validator("files/scenario").errors(document.value)
    if errors:
        pointer = render(errors[0].place)
        raise InvalidDocument(errors[0].message, str(path), document.line(pointer), pointer)


def _turn(value: Mapping[str, Any]) -> Turn:
    calls = tuple(next(iter(call.items())) for call in value.get("calls", ()))
    return Turn(
        user=value.get("user"),
        results=tuple(value.get("results", ())),
        thinks=value.get("thinks", ""),
        says=value.get("says", ""),
        calls=calls,
    )
