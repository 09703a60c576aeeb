"""Scenarios: one YAML file each, played in both directions.

`conformance.suite` plays the user's side of a scenario against a provider, `conformance.simulator` the provider's
side to a client. Replies are derived from the script and the provider's claims. Some scenarios are for clients only,
since no provider can be asked to behave as they script it. Those in `driven/` are for whole agents, which bring tools
of their own: their calls say what is to be done, and `simulator.drive` finds the tool for it.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from conformance import definitions
from conformance.documents import Document, read_yaml
from conformance.errors import UnknownName
from conformance.profiles import UNKNOWN, Source
from conformance.resources import unpacked
from conformance.scenarios._validation import RESULT, errors
from conformance.wires import NAMES

__all__ = [
    "ARGUMENTS",
    "DEEDS",
    "NONCE",
    "RESULT",
    "RULED_OUT",
    "STATES",
    "VARIANTS",
    "Arguments",
    "Deviation",
    "PlacedFile",
    "Probe",
    "Scenario",
    "ScriptTurn",
    "arguments_text",
    "driven_names",
    "load",
    "load_driven",
    "names",
    "played_by_clients",
    "read",
    "tool_definitions",
]

_FOLDER = Path(__file__).parent
_DRIVEN: Final = "driven"
VARIANTS = ("plain", "stream")
STATES = ("items", "response")
"""What a client may leave to a server of Responses: items, which it refers to, or the response, which it continues."""

RULED_OUT: tuple[Any, ...] = (False, "none", "never", "unknown", [], ["none"])
"""Claim values that rule out a need: it is not met, or unknown."""

Arguments: TypeAlias = Mapping[str, Any] | str
"""The arguments of a call: an object, or the JSON text that the model writes, which may be malformed."""

_INHERITED: Final = ("tools", "system", "turns", "needs", "variants", "exercises")
"""What a scenario takes from the one that it is `like`, unless it sets its own."""

NONCE: Final = "{nonce}"
"""Where a result holds a value that no model can guess."""

ARGUMENTS: Final = "{arguments}"
"""Where a user's message gives the arguments of the call that it asks for."""

DEEDS: Final = frozenset({"read", "shell", "list", "search", "edit"})
"""What the calls of a scenario for agents do; each agent has tools of its own for it."""

_ID_CLAIMS: Final = (
    "ids.format", "ids.format-in-stream", "ids.numbering", "ids.unique-in-reply", "ids.unique-in-conversation",
    "ids.duplicate-in-request", "ids.duplicate-in-message", "ids.input-max-length", "ids.input-pattern",
    "ids.empty-in-request", "ids.foreign",
)  # fmt: skip
"""Claims about ids, which are unknown in a scenario with ids of its own."""


def arguments_text(arguments: Arguments) -> str:
    """Return the arguments of a call as the model writes them."""
    return arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One exchange of the script: what the client sends, and what the model thinks, calls and says.

    `delays` are the milliseconds that the tools take, `fails` and `denied` the positions of the calls whose tools
    raise an error or that the user does not allow. Only the simulator follows `raw`, the faults of the stream, and
    `ids`, the ids of the calls.

    `echo`: the arguments of its only call are given word for word in the user's message, where ARGUMENTS stood.
    `twin`: the request is sent twice more, unchanged and in the other form, plain or streamed.

    `first`: what the first request for this turn gets instead of it, one after the other, in a scenario for agents;
    `other_model`: the user switched to another model before this message.

    A result may hold NONCE, which the suite replaces by a value that no model can guess; `says` takes what the results
    were from the request: `{result.0}` is that of the first call.
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
    echo: bool = False
    twin: bool = False
    first: tuple[str, ...] = ()
    other_model: bool = False


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file that an agent is asked to read; it begins with a nonce.

    `lines`: how many lines follow. `is_empty`: it holds nothing. `is_named`: its name holds the nonce, too.
    """

    name: str
    lines: int = 0
    is_empty: bool = False
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Deviation:
    """One deviation by its name in `suite.deviations.CHANGES`, and its parameters."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Probe:
    """A request of the scenario, sent again with one or more deviations; `at` counts exchanges from 1.

    `breaks` names the rule that the deviation breaks; it is None for a control, which every provider should accept.
    `claims` predict what a provider does with it; the first known one counts. `reads` is what the answer shows beside
    its status: "pairing", whether results reach their calls by id or by position; "prompt", whether the change reaches
    the model.
    """

    name: str
    title: str
    at: int
    changes: tuple[Deviation, ...] = ()
    breaks: str | None = None
    claims: tuple[str, ...] = ()
    reads: str = ""

    @property
    def on_reasoning(self) -> bool:
        """Return True if the probe changes the reasoning that is sent back."""
        return any(change.name.startswith("reasoning-") for change in self.changes)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation to play; `exercises` are globs of the rules that it promises to test.

    `needs` are claims with their required value; None allows any value that does not rule the scenario out.
    `for_clients`: it is never played against a provider. `claims` override the profile's while it is played and
    checked. `breaks` are the rules about providers that its replies break on purpose. `wires` are those that have what
    it is about. `history`: messages from elsewhere, before the first turn, in the canonical form. `expects` says what a
    conforming client does. `for_providers`: no client is driven through it. `since` is the ISO day from which on
    recordings can hold it; empty for the oldest scenarios. `for_agents`: its calls are deeds, for which an agent has
    tools of its own, and `files` is what they need. `state`: what the client leaves to the server, one of STATES, or
    nothing. `stores`: whether the server keeps anything at all.
    """

    name: str
    title: str
    exercises: tuple[str, ...]
    turns: tuple[ScriptTurn, ...]
    needs: Mapping[str, Any] = field(default_factory=dict)
    variants: tuple[str, ...] = VARIANTS
    tools: tuple[str, ...] = ()
    system: str = ""
    probes: tuple[Probe, ...] = ()
    for_clients: bool = False
    claims: Mapping[str, Any] = field(default_factory=dict)
    breaks: tuple[str, ...] = ()
    wires: tuple[str, ...] = NAMES
    history: tuple[Mapping[str, Any], ...] = ()
    expects: str = ""
    source: Source | None = None
    for_providers: bool = False
    since: str = ""
    for_agents: bool = False
    files: tuple[PlacedFile, ...] = ()
    state: str = ""
    stores: bool = True

    @property
    def prompts(self) -> tuple[str, ...]:
        """Return the texts of the user messages, in order, those of the history first."""
        before = [str(message["content"]) for message in self.history if message["role"] == "user"]
        return (*before, *self.asked)

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the texts of the user messages of its turns, in order."""
        return tuple([turn.user for turn in self.turns if turn.user is not None])

    @property
    def audience(self) -> str:
        """Return whom the scenario is for: `clients`, `providers`, `agents` or `both`."""
        if self.for_agents:
            return "agents"
        return "clients" if self.for_clients else "providers" if self.for_providers else "both"

    def unmet(self, claims: Mapping[str, Any]) -> str | None:
        """Return the first need that the claims rule out, or None if the scenario can be played."""
        return next((name for name, value in self.needs.items() if not _is_met(claims, name, value)), None)


def _is_met(claims: Mapping[str, Any], name: str, required: Any) -> bool:
    claimed = claims.get(name)
    if required is None:
        return name not in claims or claimed not in RULED_OUT
    return required in claimed if isinstance(claimed, list) else bool(required == claimed)


def _folder() -> Path:
    """Return the folder of the files of scenarios, which a wheel has as an archive."""
    return unpacked(_FOLDER)


@cache
def names() -> tuple[str, ...]:
    """Return the names of all scenarios, sorted."""
    return definitions.names(_folder())


@cache
def load(name: str) -> Scenario:
    """Return the scenario of that name; raises UnknownName, or InvalidDocument with the line."""
    return read(definitions.find("scenario", name, _folder()))


@cache
def driven_names() -> tuple[str, ...]:
    """Return the names of all scenarios for agents, sorted."""
    return definitions.names(_folder() / _DRIVEN)


@cache
def load_driven(name: str) -> Scenario:
    """Return the scenario for agents of that name; raises UnknownName, or InvalidDocument with the line."""
    return read(definitions.find("scenario for agents", name, _folder() / _DRIVEN))


def played_by_clients(
    wire: str, globs: Sequence[str] = (), *, agents: bool = False, histories: bool = False, states: Container[str] = ()
) -> tuple[Scenario, ...]:
    """Return the scenarios of a wire that clients are driven through, or whole agents, sorted by name.

    `histories`: also those that begin with a history, which the client has to take. `states`: also those that leave
    this to the server. `globs`: only those with a name that one of these fits; raises UnknownName for a glob that fits
    no scenario.
    """
    known, find = (driven_names(), load_driven) if agents else (names(), load)
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise UnknownName("scenario", glob, known)
    chosen = [name for name in known if not globs or any(fnmatchcase(name, glob) for glob in globs)]
    played = [each for each in map(find, chosen) if wire in each.wires and not each.for_providers]
    return tuple(
        [each for each in played if (histories or not each.history) and (not each.state or each.state in states)]
    )


def read(path: Path) -> Scenario:
    """Return the scenario in a file; raises InvalidDocument with file, line and pointer."""
    document = definitions.read(path, "scenario")
    value = _completed(document)
    for_agents = value.get("for") == "agents"
    for place, message in errors(value, DEEDS if for_agents else tool_definitions().keys()):
        raise definitions.invalid(document, place, message)
    unknown = dict.fromkeys(_ID_CLAIMS, UNKNOWN) if "ids" in value else {}
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
        for_clients=value.get("for") in ("clients", "agents"),
        claims=unknown | value.get("claims", {}),
        breaks=tuple(value.get("breaks", ())),
        wires=tuple(value.get("wires", NAMES)),
        history=tuple(value.get("history", ())),
        expects=value.get("expects", ""),
        source=Source(**value["source"]) if "source" in value else None,
        for_providers=value.get("for") == "providers",
        since=str(value.get("since", "")),
        for_agents=for_agents,
        files=tuple([PlacedFile(name, **_options(each)) for name, each in value.get("files", {}).items()]),
        state=value.get("state", ""),
        stores=value.get("stores", True),
    )


@cache
def tool_definitions() -> Mapping[str, Mapping[str, Any]]:
    """Return the tools that scenarios offer, by name, each as an item of a request's `tools`."""
    tools = read_yaml(_folder() / "_tools.yaml").value
    return {name: {"type": "function", "function": {"name": name, **tool}} for name, tool in tools.items()}


def _completed(document: Document) -> Mapping[str, Any]:
    """Return the content of a file, with what it inherits from the scenario that it is `like`."""
    value: Mapping[str, Any] = document.value
    like = value.get("like")
    if like is None:
        return value
    if like not in names():
        raise definitions.invalid(document, ("like",), str(UnknownName("scenario", like, names())))
    other = read_yaml(_folder() / f"{like}.yaml").value
    if "like" in other:
        raise definitions.invalid(document, ("like",), f"expected a scenario that has no `like` itself, got {like!r}")
    return {**{key: other[key] for key in _INHERITED if key in other}, **value}


def _turns(value: Mapping[str, Any]) -> Iterator[ScriptTurn]:
    """Yield the turns; the template of ids gets the numbers of a call in its reply and in the conversation."""
    template: str | None = value.get("ids")
    turns = number = 0
    for turn in value["turns"]:
        calls = tuple([_single(call) for call in turn.get("calls", ())])
        ids = [
            template.format(turn=turns, position=position, number=number + position, name=name)
            for position, (name, _) in enumerate(calls)
            if template is not None
        ]
        yield ScriptTurn(
            user=_asking(turn.get("user"), calls),
            thinks=turn.get("thinks", ""),
            says=turn.get("says", ""),
            calls=calls,
            raw=(*value.get("raw", ()), *turn.get("raw", ())),
            ids=tuple(ids),
            echo=turn.get("echo", False),
            twin=turn.get("twin", False),
            other_model=turn.get("other_model", False),
            **{key: tuple(turn.get(key, ())) for key in ("results", "delays", "fails", "denied", "first")},
        )
        turns, number = turns + bool(calls), number + len(calls)


def _options(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a file as the fields of PlacedFile."""
    return {
        "lines": value.get("lines", 0),
        "is_empty": value.get("empty", False),
        "is_named": value.get("named", False),
    }


def _asking(user: str | None, calls: Sequence[tuple[str, Arguments]]) -> str | None:
    """Return a user's message with the arguments of the first call in it."""
    return user.replace(ARGUMENTS, arguments_text(calls[0][1])) if user is not None and calls else user


def _single(value: Mapping[str, Any]) -> tuple[str, Any]:
    """Return key and value of an object with one key."""
    ((key, content),) = value.items()
    return key, content


def _probe(value: Mapping[str, Any]) -> Probe:
    changes = value.get("change", ())
    claims = value.get("claim", ())
    return Probe(
        name=value["name"],
        title=value["title"],
        at=value["at"],
        changes=tuple(map(_change, changes if isinstance(changes, list) else [changes] if changes else ())),
        breaks=value.get("breaks"),
        claims=(claims,) if isinstance(claims, str) else tuple(claims),
        reads=value.get("reads", ""),
    )


def _change(value: str | Mapping[str, Mapping[str, str]]) -> Deviation:
    if isinstance(value, str):
        return Deviation(value)
    return Deviation(*_single(value))
