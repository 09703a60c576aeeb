"""Scenarios: one YAML file each, played in both directions.

`harness.provider` plays the user's side of a scenario against a provider, `harness.simulator` and `harness.sessions`
the provider's side to a client. The reply is derived from the script and the provider's claims; nothing of it is
written down. Some are for clients alone: what a provider does in them, none can be asked for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance import definitions
from conformance.documents import Document, read_yaml
from conformance.errors import UnknownName
from conformance.profiles import UNKNOWN, Source
from conformance.rule_ids import current_id
from conformance.scenarios._faults import faults

_FOLDER = Path(__file__).parent
VARIANTS = ("plain", "stream")
RULED_OUT: tuple[Any, ...] = (False, "none", "never", "unknown", [], ["none"])
"""Claim values that say a need is not met, or that nobody knows."""

Arguments: TypeAlias = Mapping[str, Any] | str
"""What a call is given: an object, or the text of one as the model writes it, which may be malformed."""

_TAKEN: Final = ("tools", "system", "turns", "needs", "variants", "exercises")
"""What a scenario has of the one that it is like, where it does not say otherwise."""

_OF_IDS: Final = (
    "ids.format", "ids.format-in-stream", "ids.numbering", "ids.unique-in-reply", "ids.unique-in-conversation",
    "ids.duplicate-in-request", "ids.duplicate-in-message", "ids.input-max-length", "ids.input-pattern",
    "ids.empty-in-request", "ids.foreign",
)  # fmt: skip
"""What is not known of a provider's ids any more where a scenario writes ids of its own."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of the script: what the client brings, and what the model thinks, calls and says.

    `delays` are the milliseconds that the tools of the results take, `fails` and `denied` the positions of those that
    raise an error and of those that the user does not allow. `raw` names ways in which the stream misbehaves, `ids`
    are those of the calls where the script gives them; only the simulator can be told either.
    """

    user: str | None = None
    results: tuple[str, ...] = ()
    thinks: str = ""
    says: str = ""
    calls: tuple[tuple[str, Arguments], ...] = ()
    raw: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    delays: tuple[int, ...] = ()
    fails: tuple[int, ...] = ()
    denied: tuple[int, ...] = ()


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
    """A conversation to be played; `exercises` are globs of the rules that it promises to put to the test.

    `needs` are claims with the value that they are to have, None for any that rules nothing out. `for_clients`: no
    provider is asked for it. `claims` are worn over those of the profile while it is played and judged. `breaks` are
    the rules about providers that its replies break on purpose. `expects` says what a conforming client does.
    """

    name: str
    title: str
    exercises: tuple[str, ...]
    turns: tuple[Turn, ...]
    needs: Mapping[str, Any] = field(default_factory=dict)
    variants: tuple[str, ...] = VARIANTS
    tools: tuple[str, ...] = ()
    system: str = ""
    probes: tuple[Probe, ...] = ()
    for_clients: bool = False
    claims: Mapping[str, Any] = field(default_factory=dict)
    breaks: tuple[str, ...] = ()
    expects: str = ""
    source: Source | None = None

    @property
    def prompts(self) -> tuple[str, ...]:
        """Return the user's messages, in their order."""
        return tuple(turn.user for turn in self.turns if turn.user is not None)

    def unmet(self, claims: Mapping[str, Any]) -> str | None:
        """Return the first need that the claims rule out, or None where the scenario can be played."""
        return next((name for name, value in self.needs.items() if not _is_met(claims, name, value)), None)


def _is_met(claims: Mapping[str, Any], name: str, wanted: Any) -> bool:
    claimed = claims.get(name)
    if wanted is None:
        return name not in claims or claimed not in RULED_OUT
    return wanted in claimed if isinstance(claimed, list) else bool(wanted == claimed)


@cache
def names() -> tuple[str, ...]:
    """Return the names of all scenarios, in their order."""
    return definitions.names(_FOLDER)


@cache
def load(name: str) -> Scenario:
    """Return the scenario of that name; raises UnknownName, or InvalidDocument with the line."""
    return read(definitions.find("scenario", name, _FOLDER))


def read(path: Path) -> Scenario:
    """Return the scenario in a file; raises InvalidDocument with file, line and pointer."""
    document = definitions.read(path, "scenario")
    value = _completed(document)
    for place, message in faults(value, tool_definitions().keys()):
        raise definitions.invalid(document, place, message)
    own = dict.fromkeys(_OF_IDS, UNKNOWN) if "ids" in value else {}
    return Scenario(
        name=path.stem,
        title=value["title"],
        exercises=tuple(value["exercises"]),
        turns=tuple(_turns(value)),
        needs=dict([(each, None) if isinstance(each, str) else _single(each) for each in value.get("needs", ())]),
        variants=tuple(value.get("variants", VARIANTS)),
        tools=tuple(value.get("tools", ())),
        system=value.get("system", ""),
        probes=tuple(_probe(probe) for probe in value.get("probes", ())),
        for_clients="for" in value,
        claims=own | value.get("claims", {}),
        breaks=tuple(map(current_id, value.get("breaks", ()))),
        expects=value.get("expects", ""),
        source=Source(**value["source"]) if "source" in value else None,
    )


@cache
def tool_definitions() -> Mapping[str, Mapping[str, Any]]:
    """Return every tool that scenarios offer, by name, as it stands in a request's `tools`."""
    tools = read_yaml(_FOLDER / "_tools.yaml").value
    return {name: {"type": "function", "function": {"name": name, **tool}} for name, tool in tools.items()}


def _completed(document: Document) -> Mapping[str, Any]:
    """Return what a file says, with what it takes from the scenario that it is like."""
    value: Mapping[str, Any] = document.value
    like = value.get("like")
    if like is None:
        return value
    if like not in names():
        raise definitions.invalid(document, ("like",), str(UnknownName("scenario", like, names())))
    other = read_yaml(_FOLDER / f"{like}.yaml").value
    if "like" in other:
        raise definitions.invalid(document, ("like",), f"expected a scenario that is like no other, got {like!r}")
    return {**{key: other[key] for key in _TAKEN if key in other}, **value}


def _turns(value: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns; an id's template counts the calls before it, in its reply and in all."""
    template: str | None = value.get("ids")
    turns = number = 0
    for turn in value["turns"]:
        calls = tuple([_single(call) for call in turn.get("calls", ())])
        ids = [
            template.format(turn=turns, position=position, number=number + position, name=name)
            for position, (name, _) in enumerate(calls)
            if template is not None
        ]
        yield Turn(
            user=turn.get("user"),
            thinks=turn.get("thinks", ""),
            says=turn.get("says", ""),
            calls=calls,
            raw=(*value.get("raw", ()), *turn.get("raw", ())),
            ids=tuple(ids),
            **{key: tuple(turn.get(key, ())) for key in ("results", "delays", "fails", "denied")},
        )
        turns, number = turns + bool(calls), number + len(calls)


def _single(value: Mapping[str, Any]) -> tuple[str, Any]:
    """Return key and value of an object that has one key."""
    ((name, given),) = value.items()
    return name, given


def _probe(value: Mapping[str, Any]) -> Probe:
    given = value.get("change", ())
    claims = value.get("claim", ())
    return Probe(
        name=value["name"],
        title=value["title"],
        at=value["at"],
        changes=tuple(_change(each) for each in (given if isinstance(given, list) else [given] if given else ())),
        breaks=current_id(value["breaks"]) if "breaks" in value else None,
        claims=(claims,) if isinstance(claims, str) else tuple(claims),
    )


def _change(value: str | Mapping[str, Mapping[str, str]]) -> Change:
    if isinstance(value, str):
        return Change(value)
    return Change(*_single(value))
