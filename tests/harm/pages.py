"""The page of what was measured: reports/harm.md, for readers, from the data."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance import faults, rules
from conformance.artifacts import write
from conformance.broken_clients import DATA, NOTHING, OUTCOMES, BrokenClients, short
from conformance.results import Level
from conformance.wire.views import Side
from tests.harm import data
from tests.harm.data import Measured

PAGE: Final = "harm.md"
_WIRES: Final = ("chat", "messages", "responses", "gemini")
_REPORTS: Final = ("/issues/", "/pull/", "/discussions/")
"""What the address of a report of a fault has in it."""

_HEAD: Final = """\
# What a server's fault costs clients

Each fault that a real server was reported to make is served to real SDKs in a short conversation with tools, and what
the SDK then does is compared with what it does on healthy replies. A client *breaks* if it does anything else: it
{outcomes}. Of several, the first counts. Retries that succeed are nothing.

The simulator accepts every request: a wrong second request is one that a strict provider may reject. Written by
`python -m tests.harm --write`, which measures what is missing here; `reports/harm.json` has the words of each pair.
"""

_DOCUMENTS: Final = ("https://www.openresponses.org/openapi/openapi.json",)
"""Specifications that a program reads: the words of a rule that follows one are the whole document."""

CHANGED: Final = {
    "messages/reply-text-not-empty": ("MUST", "SHOULD"),
    "reasoning/before-content": ("MUST", "SHOULD"),
    "error/code-and-param-types": ("MUST", "SHOULD"),
    "error/no-completion-in-error": ("MUST", "SHOULD"),
    "http/retry-after-as-claimed": ("MUST", "SHOULD"),
    "tool-calls/id-in-claimed-format": ("MUST", "SHOULD"),
    "stream/content-keeps-its-type": ("SHOULD", "MUST"),
    "stream/name-once": ("SHOULD", "MUST"),
}
"""The rules whose level follows what was measured: the level that they had, and the one that they have."""

MANY: Final = 1 / 3
"""A rule about the form of replies is a MUST if its faults break this share of the clients."""

_LIMITS: Final = (
    "The conversation shows calls, texts and histories. What a client shows of usage, models or ids of replies is not "
    "compared, so faults of these are harmless here even if they spoil a bill or a log. Rules without a planted fault "
    "are not in the lists."
)


_LEVELS: Final = (
    "A MUST about replies names a client that it breaks, or quotes a specification. A rule about the form of replies "
    "whose faults break a third of the clients is a MUST. What a model may choose to do, such as an empty answer or a "
    "repeated call, and what an extension may look like, such as an unknown field, stays a SHOULD however many clients "
    "it breaks."
)


_MAX_NAMED: Final = 3
_FEWER: Final = "With fewer, and why the others were not:"


def write_all(folder: Path, measured: Measured, rules_file: Path = DATA) -> None:
    """Write the data, what the package reads of them, and the page."""
    data.save(folder, rules_file, measured)
    write(folder / PAGE, "\n".join(page(data.value(measured))) + "\n")


def counted(measured: Measured) -> str:
    """Return how many pairs were measured of how many."""
    clients = {(pair.wire, pair.client) for pair in measured.pairs}
    every = sum(data.pairs_of(*each) for each in clients)
    return f"{len(measured.pairs)} of {every} pairs of a fault and a client measured, with {len(clients)} clients"


def page(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    listed = document["faults"]
    words = [f"*{OUTCOMES[each]}*" for each in OUTCOMES if each != NOTHING]
    yield _HEAD.format(outcomes=f"{', '.join(words[:-1])}, or {words[-1]}")
    yield from _clients(listed, document["unmeasurable"])
    yield from _reach(listed)
    yield from _levels(data.by_rule(document))
    for wire in _WIRES:
        about = [each for each in listed if each["wire"] == wire and each["clients"]]
        if about:
            yield from ("", f"## {wire}", "", "| fault | in | clients that break | how |", "|---|---|---|---|")
            yield from map(_row, sorted(about, key=lambda each: (-_broken(each), each["fault"], each["variant"])))


def _clients(listed: list[Any], unmeasurable: Mapping[str, str]) -> Iterator[str]:
    yield from ("| wire | clients | faults | pairs measured | of |", "|---|---|---|---|---|")
    for wire in _WIRES:
        about = [each for each in listed if each["wire"] == wire]
        clients = sorted({client for each in about for client in (*each["clients"], *each["absent"])})
        pairs = sum(len(each["clients"]) + len(each["absent"]) for each in about)
        every = sum(data.pairs_of(wire, client) for client in clients)
        shown = f"{len(clients)}: {', '.join(clients)}" if clients else "none"
        yield f"| {wire} | {shown} | {len({each['fault'] for each in about})} | {pairs} | {every} |"
    for name, why in unmeasurable.items():
        yield from ("", f"`{name}` cannot be measured {_cell(why)}.")


def _reach(listed: list[Any]) -> Iterator[str]:
    """Yield with how many clients the rules were measured, and which were with fewer than they need."""
    every = data.reach(listed)
    few = [each for each in every if not each.is_enough]
    yield from (
        "",
        f"{len(every) - len(few)} of {len(every)} rules, counted once for each wire, were measured with enough",
    )
    yield f"clients: {data.ENOUGH} on chat completions, all on the other wires."
    if few:
        yield from ("", _FEWER, "")
        for each in few:
            why = [f"{_named(names)}: {reason}" for reason, names in data.missing(listed, each).items()]
            yield f"- `{each.rule}` on {each.wire}: {each.measured} of {each.clients} ({'; '.join(why)})"


def _named(clients: list[str]) -> str:
    return f"{len(clients)} clients" if len(clients) > _MAX_NAMED else ", ".join(map(short, clients))


def _levels(by_rule: Mapping[str, BrokenClients]) -> Iterator[str]:
    known = rules.by_id()
    listed = [(known[name], about) for name, about in by_rule.items() if name in known]
    replies = [(rule, about) for rule, about in listed if rule.on.side is Side.PROVIDER]
    harmless = [(rule, about) for rule, about in replies if not about.broken]
    calm = [(rule, about) for rule, about in harmless if rule.level is Level.MUST]
    harsh = [(rule, about) for rule, about in replies if rule.level is not Level.MUST and about.broken]
    yield from ("", "## Levels", "", _LEVELS, "", _LIMITS, "")
    yield from ("Changed by what was measured:", "")
    for name, (before, now) in CHANGED.items():
        shown = by_rule[name].text if name in by_rule else "no fault of it can be served to these clients"
        yield f"- `{name}`: {before} → {now}. Breaks {shown}."
    yield ""
    yield from _list("A MUST by a specification's word, whose faults broke no client:", calm)
    yield from _list("Not a MUST, though a fault of it breaks clients:", harsh)


def is_justified(rule: rules.Rule, about: BrokenClients | None) -> bool:
    """Return whether a MUST about replies names a client that it breaks, or a specification's own word."""
    return bool(about and about.broken) or is_specified(rule)


def is_specified(rule: rules.Rule) -> bool:
    """Return whether a rule quotes a document of a vendor or a standard, not the report of a fault."""
    is_report = any(part in rule.source.url for part in _REPORTS)
    return (bool(rule.source.quote) and not is_report) or rule.source.url in _DOCUMENTS


def _list(head: str, listed: list[tuple[rules.Rule, BrokenClients]]) -> Iterator[str]:
    yield from (head, "")
    for rule, about in listed:
        planted = ", ".join(about.faults)
        yield f"- `{rule.id}` ({rule.level.value}): {about.text}; by {planted}. Source: {rule.source.text}"
    yield from ("",) if listed else ("None.", "")


def _broken(about: Mapping[str, Any]) -> int:
    return sum(each["outcome"] != NOTHING for each in about["clients"].values())


def _row(about: Mapping[str, Any]) -> str:
    fault = faults.load(about["fault"])
    title = f"`{fault.name}`: {'harmless. ' if fault.harmless else ''}{_cell(fault.title)}"
    by: dict[str, list[str]] = {}
    for client, found in about["clients"].items():
        by.setdefault(found["outcome"], []).append(short(client))
    how = "; ".join([f"{OUTCOMES[each]}: {', '.join(by[each])}" for each in OUTCOMES if each in by and each != NOTHING])
    return f"| {title} | {about['variant']} | {_broken(about)} of {len(about['clients'])} | {how} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").rstrip(".")
