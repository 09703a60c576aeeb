"""Scenarios: one YAML file each, played in both directions.

`harness.provider` plays the user's side of a scenario against a provider, `harness.simulator` the provider's side to
a client. The reply is derived from the script and the provider's claims; nothing of it is written down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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

RAW = "a simulator"
"""The need of a scenario that is only played to clients."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of the script: what the client brings, and what the model thinks, calls and says.

    `raw` names ways in which the stream misbehaves; only the simulator can be told to.
    """

    user: str | None = None
    results: tuple[str, ...] = ()
    thinks: str = ""
    says: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    raw: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One deviation by its name in `harness.changes`, and what it is told."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Probe:
    """A request of the scenario, sent again with one deviation or several; `at` counts exchanges from 1.

    `breaks` names the rule that the deviation breaks; None for a control, which every provider is to accept. `claims`
    are those that say what a provider does with it, the first that is known counts.
    """

    name: str
    title: str
    at: int
    changes: tuple[Change, ...] = ()
    breaks: str | None = None
    claims: tuple[str, ...] = ()


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

    @property
    def is_raw(self) -> bool:
        """Say whether a turn misbehaves by its script, so that no provider can be asked for it."""
        return any(turn.raw for turn in self.turns)

    def unmet(self, claims: Mapping[str, Any]) -> str | None:
        """Return the first need that the claims rule out, or None where the scenario can be played."""
        if self.is_raw:
            return RAW
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
        probes=tuple(_probe(probe) for probe in value.get("probes", ())),
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
        raw=tuple(value.get("raw", ())),
    )


def _probe(value: Mapping[str, Any]) -> Probe:
    given = value.get("change", ())
    claims = value.get("claim", ())
    return Probe(
        name=value["name"],
        title=value["title"],
        at=value["at"],
        changes=tuple(_change(each) for each in (given if isinstance(given, list) else [given] if given else ())),
        breaks=value.get("breaks"),
        claims=(claims,) if isinstance(claims, str) else tuple(claims),
    )


def _change(value: str | Mapping[str, Mapping[str, str]]) -> Change:
    if isinstance(value, str):
        return Change(value)
    ((name, parameters),) = value.items()
    return Change(name, parameters)
