"""The lists of `conformance explain`: rules, claims, probes, scenarios and providers.

With a profile, a list shows how that provider handles violations of each rule, which scenarios apply to it, how it is
claimed to answer each probe, or its claims with their values, dates and sources.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import orjson

from conformance import profiles, rules, scenarios
from conformance.adapters import loop
from conformance.profiles import Claim, Profile, naming
from conformance.reporting.text import labelled
from conformance.terminal import columns

Row: TypeAlias = dict[str, Any]

_HANDLING: Final = "a breach is"
"""The JSON key for how a provider handles violations of a rule."""

_ANSWER: Final = "claimed"
"""The JSON key for what a provider is claimed to do with the request of a probe."""

_HEADINGS: Final = {_HANDLING: "a violation is"}
"""The table headings that differ from their JSON keys."""


def text(kind: str, rows: list[Row]) -> str:
    """Return the lines of a list as a terminal shows them."""
    return "\n".join(_blocks(rows) if kind == "claims" else _fitted(rows, columns(sys.maxsize)))


def _rules(profile: Profile | None) -> list[Row]:
    claims = {} if profile is None else profile.at(profile.model)
    rows: list[Row] = []
    for rule in rules.of_traffic():
        row: Row = {"id": rule.id, "level": rule.level.value, "side": rule.on.side.value}
        if profile is not None:
            row[_HANDLING] = _handling(claims.get(rule.claim, profiles.UNKNOWN)) if rule.claim else ""
        rows.append(row | {"title": rule.title})
    for fact in loop.load():
        row = {"id": fact.id, "level": fact.level.value, "side": loop.FAMILY}
        rows.append(row | ({} if profile is None else {_HANDLING: ""}) | {"title": fact.title})
    return rows


def _handling(value: Any) -> str:
    if isinstance(value, Mapping):
        refusal = value.get("refusal", value)
        return f"refused with {refusal['status']}" if isinstance(refusal, Mapping) else str(refusal)
    return str(value)


def _providers(profile: Profile | None) -> list[Row]:
    chosen = (
        [profiles.load(name) for name in (*profiles.names(), *profiles.installed_names())]
        if profile is None
        else [profile]
    )
    return [
        {
            "name": each.name,
            "kind": each.kind,
            "claims": len(each.claims),
            "url": each.base_url,
            "title": each.title,
            "also called": list(naming.aliases_of(each.name)),
        }
        for each in chosen
    ]


def _scenarios(profile: Profile | None) -> list[Row]:
    rows: list[Row] = []
    for scenario in map(scenarios.load, scenarios.names()):
        row: Row = {"name": scenario.name, "for": scenario.audience}
        row |= {"variants": list(scenario.variants), "probes": len(scenario.probes)}
        if profile is not None:
            unmet = scenario.unmet(profile.at(profile.model))
            row["played"] = "yes" if unmet is None else f"no: {unmet}"
        rows.append(row | {"title": scenario.title})
    return rows


def _probes(profile: Profile | None) -> list[Row]:
    """Return a row for each probe of each scenario; with a provider, what is claimed of its answer."""
    claims = {} if profile is None else profile.at(profile.model)
    rows: list[Row] = []
    for scenario in map(scenarios.load, scenarios.names()):
        for probe in scenario.probes:
            row: Row = {"name": probe.name, "scenario": scenario.name, "rule": probe.breaks or ""}
            if profile is not None:
                values = [claims.get(name, profiles.UNKNOWN) for name in probe.claims]
                known = [value for value in values if value != profiles.UNKNOWN]
                row[_ANSWER] = _handling(known[0]) if known else profiles.UNKNOWN if probe.claims else "accepted"
            rows.append(row | {"title": probe.title})
    return rows


def _claims(profile: Profile | None) -> list[Row]:
    if profile is None:
        return [{"name": name, "meaning": meaning} for name, meaning in profiles.vocabulary().items()]
    rows = _claims_of(profile, "")
    return rows + [row for wire, other in profile.protocols.items() for row in _claims_of(other, wire)]


def _claims_of(profile: Profile, wire: str) -> list[Row]:
    holders = [("", profile.claims), *((model.name, model.claims) for model in profile.models)]
    return [_claim(claim, model, wire) for model, claims in holders for history in claims.values() for claim in history]


def _claim(claim: Claim, model: str, wire: str) -> Row:
    sources = [
        {"text": each.text} | {key: text for key, text in each._asdict().items() if text} for each in claim.source
    ]
    row = {
        "name": claim.name,
        "value": claim.value,
        "wire": wire,
        "model": model,
        "since": claim.since,
        "until": claim.until,
    }
    row |= {
        "from": claim.origin,
        "versions": claim.versions,
        "confidence": claim.confidence,
        "sources": sources,
        "note": claim.note,
    }
    return {key: value for key, value in row.items() if key == "value" or value not in ("", [])}


LISTS: Final[Mapping[str, Callable[[Profile | None], list[Row]]]] = {
    "rules": _rules,
    "claims": _claims,
    "probes": _probes,
    "scenarios": _scenarios,
    "providers": _providers,
}
"""What makes the rows of each list: an object for each name, in general or for one provider."""


def _fitted(rows: list[Row], width: int) -> list[str]:
    """Return the rows as a table, or below each other where the terminal is too narrow for it."""
    lines = list(_table(rows))
    return lines if max(map(len, lines), default=0) <= width else list(_stacked(rows, width))


def _stacked(rows: list[Row], width: int) -> Iterator[str]:
    """Yield the name of each row, and below it everything else, wrapped."""
    for row in rows:
        name, *others = row.items()
        yield _cell(name[1])
        for key, value in others:
            label, text = f"{_HEADINGS.get(key, key)}:", _cell(value)
            if " " in text:
                yield from labelled(label, text, width, 4)
            elif text:
                # A URL or an id is not broken, so that it can be copied.
                yield f"    {label} {text}"


def _table(rows: list[Row]) -> Iterator[str]:
    """Yield the heading and one line per row, in aligned columns."""
    if not rows:
        return
    cells = [[_HEADINGS.get(key, key) for key in rows[0]], *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cell(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _blocks(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of each claim: name and value, then either the meaning or the bounds, sources and note."""
    for row in rows:
        if "meaning" in row:
            yield f"{row['name']}\n    {row['meaning']}"
            continue
        bounds = [f"{word} {row[key]}" for key, word in _BOUNDS.items() if key in row]
        yield f"{row['name']} = {orjson.dumps(row['value']).decode()}"
        yield f"    {', '.join(bounds)}"
        for source in row.get("sources", ()):
            yield f"    {source['text']}" + (f" (read {source['read']})" if "read" in source else "")
        if "note" in row:
            yield f"    {row['note']}"


_BOUNDS: Final = {
    "confidence": "confidence",
    "from": "from",
    "wire": "on the wire",
    "model": "for model",
    "since": "since",
    "until": "until",
    "versions": "in versions",
}
