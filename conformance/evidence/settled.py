"""Files of exchanges that settle what was unknown: written by `pytest --only-unknown`, checked by `evidence add`.

Each line is one exchange as `conformance check` reads it. Its member `settles` holds what the exchange is offered for:
the provider, host, model, day and version of this package, the digest of the exchange, which claims its request asks
about and how it was answered, and what the exchange shows of the claims of core facts by itself. All but the first five
are found again from the exchange, so that nobody has to believe them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from conformance import observations, profiles, scenarios, wires
from conformance.core_facts import DEFINITIONS
from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unusable
from conformance.evidence.index import REPOSITORY, IndexedRecording, PublicFile
from conformance.evidence.suspects import SuspectFinder
from conformance.formats import read
from conformance.observations.sights import digest
from conformance.profiles import Profile
from conformance.profiles.texts import by_host
from conformance.results.record import package_version
from conformance.secrets import Unscrubbable, scrubber
from conformance.simulator import Simulator
from conformance.suite.probes import observed_text
from conformance.suite.run import KeptExchange, Run
from conformance.transport.client import SIMULATOR
from conformance.urls import host_of
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.values import as_object

SETTLES: Final = "settles"
_HEADERS: Final = ("content-type", "date", "server", "retry-after")
"""The headers that say something of a claim; others may name an account."""

_KINDS: Final = {list: "an array", dict: "an object", str: "a string"}
_NOT_SHOWN: Final = "not shown"

_CLAIMS: Final = frozenset(
    {
        name
        for definition in DEFINITIONS
        for name in (*definition.claims, *[each for check in definition.checks for each in check.claims])
    }
)


class SettlingExchange(NamedTuple):
    """An exchange of such a file, with what it is offered for, and the number of its line (1-based)."""

    line: int
    exchange: Exchange
    settles: Mapping[str, Any]


class SettlingFile(NamedTuple):
    """A file that was checked: the provider, host and day of its exchanges, and what they show."""

    provider: str
    host: str
    date: str
    exchanges: tuple[SettlingExchange, ...]


def file_name(provider: str) -> str:
    """Return the name of the file of a provider."""
    return f"{provider}.unknown.jsonl"


def content(run: Run, host: str) -> bytes:
    """Return the content of the file of a run; raises Unscrubbable if a secret cannot be removed from it."""
    secrets = run.scrubber or scrubber()
    lines = [secrets.text(orjson.dumps(_record(each)).decode()) for each in run.kept]
    common = {"provider": run.profile.name, "host": host, "model": run.model}
    common |= {"date": run.options.today, "version": package_version()}
    asked = [
        {"case": each.case, "probe": each.probe, "claims": list(run.unknowns.claims_of(each.case, each.probe))}
        for each in run.kept
    ]
    return sealed(lines, [{**common, **each} for each in asked], run.profile)


def sealed(lines: Sequence[str], offered: Sequence[Mapping[str, Any]], profile: Profile) -> bytes:
    """Return the content of a file with these records of exchanges, and what each is offered for.

    What is written is read again, so that the digests are those that readers find.
    """
    exchanges = _read("\n".join(lines).encode(), file_name(profile.name))
    written = [
        orjson.dumps({**orjson.loads(line), SETTLES: {**given, **shown}})
        for line, given, shown in zip(lines, offered, _shown(exchanges, profile), strict=True)
    ]
    return b"\n".join(written) + b"\n"


def checked(path: Path, fixture: str = "") -> SettlingFile:
    """Return what a file holds; raises InvalidDocument with the line of what does not fit.

    A reply that can hardly be the host's own fits only if `fixture` says what was done to it.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from None
    lines = data.splitlines()
    held = [_settles(line, str(path), number) for number, line in enumerate(lines, 1)]
    if not held:
        raise InvalidDocument("expected exchanges that settle something, got an empty file", str(path))
    common = {key: held[0][key] for key in ("provider", "host", "model", "date")}
    profile = _profile(common["provider"], str(path))
    exchanges = _read(data, str(path))
    if len(exchanges) != len(held):
        raise InvalidDocument(f"expected an exchange on each of {len(held)} lines, got {len(exchanges)}", str(path))
    found: list[SettlingExchange] = []
    for number, (line, settles, shown) in enumerate(zip(lines, held, _shown(exchanges, profile), strict=True), 1):
        exchange = exchanges[number - 1][-1]
        of_case = [each.exchange for each in found if each.settles["case"] == settles["case"]]
        for problem in (
            *_problems(line.decode(), settles, common, shown, exchange, profile),
            *_misplaced(settles, exchange, of_case),
            *(() if fixture else _edited(exchange, common["provider"])),
        ):
            raise InvalidDocument(problem, str(path), number)
        found.append(SettlingExchange(number, exchange, settles))
    return SettlingFile(common["provider"], common["host"], common["date"], tuple(found))


def entries(found: SettlingFile, repository: str, path: str, licence: str, fixture: str = "") -> list[IndexedRecording]:
    """Return the entries of the index for a file that was checked and stands in a public repository at a commit."""
    matched = REPOSITORY.fullmatch(repository)
    if matched is None:
        raise Unusable(f"expected owner/name@commit with the 40 digits of the commit, got {repository!r}")
    place = PublicFile(matched[1], matched[2], path)
    return [
        IndexedRecording(
            place, number, each.settles["digest"], found.provider, each.exchange.model, found.date,
            each.exchange.status, fixture, licence,
        )
        for number, each in enumerate(found.exchanges)
    ]  # fmt: skip


def answers(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each claim that the exchanges of a file ask about, with how that was answered or what a reply shows."""
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        settles = _settles(line, str(path), number)
        for name in settles["claims"]:
            shown = settles["answer"] if settles["probe"] else _seen(settles["shows"].get(name))
            if found.get(name, _NOT_SHOWN) == _NOT_SHOWN:
                found[name] = shown
    yield from found.items()


def _settles(line: bytes, path: str, number: int) -> dict[str, Any]:
    value: Any = parse_json(line, path)
    settles = value.get(SETTLES) if isinstance(value, dict) else None
    keys = ("provider", "host", "model", "date", "version", "digest", "case", "probe", "claims", "answer", "shows")
    lacking = [key for key in keys if not isinstance(settles, dict) or key not in settles]
    if not isinstance(settles, dict) or lacking:
        message = f"expected an exchange of `pytest --only-unknown`, got one without {SETTLES}/{lacking[0]}"
        raise InvalidDocument(message, path, number)
    for key in keys:
        kind = {"claims": list, "shows": dict}.get(key, str)
        if not isinstance(settles[key], kind):
            message = f"expected {SETTLES}/{key} to be {_KINDS[kind]}, got {_text(settles[key])}"
            raise InvalidDocument(message, path, number)
    if unknown := [each for each in settles["claims"] if each not in _CLAIMS]:
        raise InvalidDocument(f"expected claims of core facts, got {_text(unknown[0])}", path, number)
    return settles


def _profile(name: Any, path: str) -> Profile:
    if not isinstance(name, str) or not profiles.has(name.partition(".")[0]):
        raise InvalidDocument(f"expected the name of a profile as provider, got {name!r:.60}", path, 1)
    service, _, wire = name.partition(".")
    return profiles.load(service).on(wire) if wire else profiles.load(service)


def _problems(
    line: str,
    settles: Mapping[str, Any],
    common: Mapping[str, Any],
    shown: Mapping[str, Any],
    exchange: Exchange,
    profile: Profile,
) -> Iterator[str]:
    """Yield what is wrong with an exchange."""
    for key, value in common.items():
        if settles[key] != value:
            yield f"expected the {key} of the first line, {value!r}, got {settles[key]!r:.60}"
    found = by_host(host_of(exchange.url), profile.wire)
    if found != profile.service:
        yield f"expected a host of {profile.service}, got {host_of(exchange.url) or 'no URL'}"
    if host_of(exchange.url) != str(common["host"]).partition(":")[0]:
        yield f"expected the host {common['host']}, got {host_of(exchange.url)}"
    if exchange.model != common["model"]:
        yield f"expected the model {common['model']}, got {exchange.model or 'none'}"
    for key in ("digest", "answer", "shows"):
        if settles[key] != shown[key]:
            yield f"it says {key} {_text(settles[key])}; the exchange has {_text(shown[key])}"
    if _holds_secret(line):
        yield "it holds what looks like a secret; run `conformance scrub` on the file"
    if _is_simulated(exchange, profile):
        yield "the reply is that of this project's simulator, which shows nothing of a provider"


def _seen(values: Any) -> str:
    return " or ".join([each if isinstance(each, str) else _text(each) for each in values]) if values else _NOT_SHOWN


def _misplaced(settles: Mapping[str, Any], exchange: Exchange, before: Sequence[Exchange]) -> Iterator[str]:
    """Yield why an exchange cannot be what it is offered for; `before` are those of its case above it."""
    try:
        day = date.fromisoformat(settles["date"])
    except ValueError:
        yield f"expected a day such as 2026-11-28 as date, got {settles['date']!r:.60}"
        return
    if exchange.date and abs((date.fromisoformat(exchange.date[:10]) - day).days) > 1:
        yield f"it says date {settles['date']}; the reply is of {exchange.date[:10]}"
    if digest(exchange) in map(digest, before):
        yield "the exchange stands above already"
    if not settles["probe"]:
        return
    scenario = settles["case"].rpartition(".")[0]
    known = scenarios.load(scenario).probes if scenario in scenarios.names() else ()
    probe = next((each for each in known if each.name == settles["probe"]), None)
    if probe is None or not set(settles["claims"]) <= set(probe.claims):
        yield f"no probe {settles['probe']!r:.60} of {settles['case']!r:.60} asks about {_text(settles['claims'])}"
    if not before or any(each.request == exchange.request for each in before):
        yield "the request of a probe departs from one above it; this one does not"


def _edited(exchange: Exchange, provider: str) -> Iterator[str]:
    for suspect in SuspectFinder().add("", provider, exchange):
        yield f"the reply can hardly be the host's own: {suspect.reason}; if somebody edited it, say how with --fixture"


def _text(value: Any) -> str:
    return f"{orjson.dumps(value).decode():.120}"


def _holds_secret(line: str) -> bool:
    try:
        return scrubber().text(line) != line
    except Unscrubbable:
        return True


def _is_simulated(exchange: Exchange, profile: Profile) -> bool:
    """Return whether a reply is what the simulator sends: it names itself, or it has the same id for the request."""
    if exchange.headers.get("server") == SIMULATOR:
        return True
    # Refusals have the words of the profile, which are those of the provider.
    return exchange.status == 200 and _identity(Simulator(profile).send(as_object(exchange.request))) == _identity(
        exchange
    )


def _identity(exchange: Exchange) -> Any:
    """Return what no two replies have in common by chance: the id of a reply, or a whole stream."""
    body = exchange.response if exchange.native is None else exchange.native.response
    named = [body[key] for key in ("id", "responseId") if body.get(key)] if isinstance(body, dict) else []
    return named or body


def _record(kept: KeptExchange) -> dict[str, Any]:
    """Return an exchange as a line of a file; turns of a case are one conversation, and each probe stands alone."""
    reply, session = kept.interaction, "" if kept.probe else kept.case
    headers = {name.lower(): value for name, value in reply.headers if name.lower() in _HEADERS}
    made: dict[str, Any] = {"session": session} if session else {}
    made |= {"url": reply.url, "request": orjson.loads(reply.sent), "response": _body(reply.content)}
    streamed = {"stream": True} if "event-stream" in headers.get("content-type", "") else {}
    return {**made, "status": reply.status, "headers": headers, **streamed}


def _body(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return data.decode("utf-8", "replace")


def _read(data: bytes, name: str) -> list[Conversation]:
    """Return, for each exchange of a file, the conversation that it ends."""
    found: list[Conversation] = []
    for given in read(data, name):
        if given.problem is not None:
            raise given.problem
        whole = wires.translate(given.conversation)
        found += [whole[: number + 1] for number in range(len(whole))]
    return found


def _shown(exchanges: Sequence[Conversation], profile: Profile) -> Iterator[dict[str, Any]]:
    """Yield what each exchange is, how it was answered, and what it shows of the claims of core facts."""
    for conversation in exchanges:
        last = conversation[-1]
        claims = profile.at(last.model)
        seen = observations.of(conversation, len(conversation) - 1, Index(conversation), claims)
        shows = {name: list(each[0].values) for name, each in sorted(seen.items()) if name in _CLAIMS}
        yield {"digest": digest(last), "answer": observed_text(last), "shows": shows}
