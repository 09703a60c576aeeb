"""Which provider an input is from: as its log names it, by its host, or by signs in its replies.

What identifies a provider is data of its profile (`hosts`, `aliases`, `signs`). The model alone is no sign of a host,
since many serve it; what that leaves to say is in `conformance.files.by_model`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import orjson

from conformance import profiles, wires
from conformance.files.checking import AUTO, NONE
from conformance.formats import Input
from conformance.profiles import UNKNOWN, Profile
from conformance.profiles.claims import fits_glob
from conformance.profiles.texts import by_host, shipped
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT

_SIGNS: Final = re.compile(r"^signs:\n((?:  .*\n)+)", re.MULTILINE)
_LISTED: Final = re.compile(r"^  (members|headers|ids): *\[(.*)\] *$", re.MULTILINE)
_EVENT: Final = re.compile(r"^data: ?(\{.*\}) *$", re.MULTILINE)
_MAX_REPLIES: Final = 8
"""How many replies of an input are looked at: a host marks every one of them."""
_MAX_SHARED: Final = 64
_NAMED, _HOST, _REPLIES = "as its log says", "by its host", "by its replies"


class Recognition(NamedTuple):
    """The providers that an input may be from, by name, and what shows it; empty if nothing does.

    `host`: the one that its URL names, if no profile has it.
    """

    providers: tuple[str, ...] = ()
    by: str = ""
    host: str = ""


class _Signs(NamedTuple):
    """The signs of all profiles: each with the profiles that have it."""

    members: Mapping[str, tuple[str, ...]]
    headers: Mapping[str, tuple[str, ...]]
    ids: Sequence[tuple[re.Pattern[str], str]]


def recognise(given: Input) -> Recognition:
    """Return the providers that an input may be from."""
    if not given.conversation:
        return Recognition()
    host, wire = _origin(given.conversation)
    named = _named(given.provider, wire)
    if named:
        return Recognition((named,), _NAMED)
    if host:
        # A host that no profile knows passes replies on, and may do so with the signs of another one.
        found = by_host(host, wire)
        return Recognition((found,), _HOST) if found else Recognition(host=host)
    return _by_signs(given.conversation, wire)


def contradiction(given: Input, profile: Profile) -> str:
    """Return a warning if the host of an input is that of another provider than the one to check against."""
    host, wire = _origin(given.conversation)
    found = by_host(host, wire) if host else None
    if found is None or found in (profile.service, *profile.extends) or profile.kind == "engine":
        return ""
    if any(fits_glob(host, each) for each in profile.hosts):
        return ""
    return f"warning: {host} is the host of {found}, and not of {profile.name}, which --provider names"


def host_of(conversation: Iterable[Exchange]) -> str:
    """Return the host that the first URL of a conversation names; empty if there is none."""
    url = next((each.url for each in conversation if each.url), "")
    found = url.partition("://")[2].partition("/")[0] or url.partition("/")[0]
    return found.rpartition("@")[2].lower()


def detected_provider(given: Input) -> str | None:
    """Return the provider that an input names, if it has a profile, otherwise the provider of its host.

    Signs in replies do not count: what is recorded about a provider must not rest on what replies usually look like.
    """
    host, wire = _origin(given.conversation)
    return _named(given.provider, wire) or (by_host(host, wire) if host else None)


def _origin(conversation: Sequence[Exchange]) -> tuple[str, str]:
    """Return the host that a conversation names, and its wire."""
    return host_of(conversation), wires.of(conversation[0]).name if conversation else CHAT


def chosen_profile(given: Input, choice: str, *, by_signs: bool = True) -> Profile | None:
    """Return the profile that a choice of the user means for an input: auto, none or empty, or what names a provider.

    `by_signs`: whether signs in replies count where nothing else shows the provider.
    """
    if choice in ("", NONE) or not given.conversation:
        return None
    if choice != AUTO:
        return profiles.load_profile(choice)
    if by_signs:
        return profile_of(given, recognise(given))
    name = detected_provider(given)
    return profiles.load_profile(name) if name else None


def profile_of(given: Input, seen: Recognition) -> Profile | None:
    """Return the profile to check an input by: that of its provider, or what several share; None if none was seen."""
    if len(seen.providers) > 1:
        return shared(seen.providers, given.conversation)
    return profiles.load_profile(seen.providers[0]) if seen.providers else None


def shared(names: tuple[str, ...], conversation: Sequence[Exchange]) -> Profile:
    """Return a profile with the claims that several providers share; where they differ, a claim is unknown."""
    return _shared(names, tuple(dict.fromkeys([(wires.of(each).name, each.model, each.date) for each in conversation])))


@lru_cache(maxsize=_MAX_SHARED)
def _shared(names: tuple[str, ...], asked: tuple[tuple[str, str, str], ...]) -> Profile:
    """Return the shared claims for some wires, models and days; kept, since the engine plans by their identity."""
    found = [profiles.load_profile(name) for name in names]
    views = [each.on(wire).at(model, day) for wire, model, day in asked for each in found]
    claims = {}
    for name in dict.fromkeys([name for view in views for name in view]):
        # An omitted claim is as on the canonical wire, which is a value of its own.
        values = [view.get(name) for view in views]
        claims[name] = values[0] if all(value == values[0] for value in values) else UNKNOWN
    return replace(profiles.of(claims, " or ".join(names)), as_of=max(each.as_of for each in found))


def _named(text: str, wire: str) -> str:
    """Return the profile of a provider that a log names, about the wire that it spoke; empty if there is none."""
    if not text:
        return ""
    if text in profiles.names():
        return text
    # Imported here because most inputs name no provider.
    from conformance.profiles import naming

    found = naming.find(text)
    # What names a model is no provider: agents say openai-compatible of any host, and a model may be called so.
    return _about(found.profile.partition(".")[0], wire) if found and not found.model else ""


def _about(name: str, wire: str) -> str:
    """Return the profile of the same service that is about a wire: some are two, by the wires that they speak."""
    profile = profiles.load(name)
    if wire in profile.wires or not profile.hosts:
        return name
    return by_host(profile.hosts[0], wire) or name


def _by_signs(conversation: Iterable[Exchange], wire: str) -> Recognition:
    met: set[tuple[str, str]] = set()
    replies = (each for each in conversation if each.response is not None or each.headers)
    for exchange in islice(replies, _MAX_REPLIES):
        met |= _of_reply(exchange, _signs())
    counts = Counter([name for name, _ in met])
    fitting = {name: count for name, count in counts.items() if wire in profiles.load(name).wires}
    most = max(fitting.values(), default=0)
    found = tuple(sorted([name for name, count in fitting.items() if count == most]))
    return Recognition(found, _REPLIES) if found else Recognition()


def _of_reply(exchange: Exchange, signs: _Signs) -> set[tuple[str, str]]:
    """Return the profiles of which a reply has signs, each with the sign."""
    met: set[tuple[str, str]] = set()
    for header in exchange.headers:
        for glob, names in signs.headers.items():
            if fits_glob(header, glob):
                met |= {(name, glob) for name in names}
    for body in _bodies(exchange.response):
        for member in _members(body):
            met |= {(name, member) for name in signs.members.get(member, ())}
        for text in _ids(body):
            met |= {(name, form.pattern) for form, name in signs.ids if form.fullmatch(text)}
    return met


def _bodies(response: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the body of a reply, or the first and the last event of a stream, where hosts leave their signs."""
    if isinstance(response, dict):
        yield response
    elif isinstance(response, str):
        events = _EVENT.findall(response)
        for text in dict.fromkeys([*events[:2], *events[-2:]]):
            try:
                event = orjson.loads(text)
            except orjson.JSONDecodeError:
                continue
            # Messages and Responses wrap the reply in their first events.
            yield from (event, *[event[key] for key in ("message", "response") if isinstance(event.get(key), dict)])


def _members(body: Mapping[str, Any]) -> Iterator[str]:
    # Errors look alike everywhere, and a member that is null says nothing: adapters write all that they know.
    if "error" in body:
        return
    yield from (key for key, value in body.items() if value is not None)
    usage, choices = body.get("usage"), body.get("choices")
    if isinstance(usage, dict):
        yield from (f"usage.{key}" for key, value in usage.items() if value is not None)
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        yield from (f"choices.{key}" for key, value in choices[0].items() if value is not None)


def _ids(body: Mapping[str, Any]) -> Iterator[str]:
    for key in ("id", "system_fingerprint", "request_id"):
        if isinstance(body.get(key), str):
            yield body[key]
    blocks = body.get("content")
    for choice in body.get("choices") or () if isinstance(body.get("choices"), list) else ():
        if isinstance(choice, dict):
            message = choice.get("message") or choice.get("delta")
            blocks = message.get("tool_calls") if isinstance(message, dict) else None
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and isinstance(block.get("id"), str):
            yield block["id"]


@cache
def _signs() -> _Signs:
    found: dict[str, dict[str, tuple[str, ...]]] = {"members": {}, "headers": {}, "ids": {}}
    for name, text, *_ in shipped():
        block = _SIGNS.search(text)
        for kind, line in _LISTED.findall(block[1]) if block else ():
            for sign in [each.strip(" \"'") for each in line.split(",")]:
                found[kind][sign] = (*found[kind].get(sign, ()), name)
    ids = [(re.compile(form), name) for form, names in found["ids"].items() for name in names]
    return _Signs(found["members"], found["headers"], ids)


def usual_wire(given: Input) -> list[str]:
    """Return that the wire of an input is only what is usual for its model, if its bodies could be on another one."""
    found = {wire.title for wire in wires.load() for each in given.conversation if wires.is_likely(each, wire)}
    return [f"read as {title}, as is usual for this model; --provider names another" for title in sorted(found)]
