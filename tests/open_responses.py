"""Who implements Open Responses, and how far: judges what servers really sent, and writes `reports/open-responses.md`.

python -m tests.open_responses [--recordings FILE]… [--write]

The rows of open-source servers come from the committed cassettes. Those of hosts come from FILE, which holds recordings
of real traffic as JSON Lines (`conformance evidence fetch` fetches those of the index); without it, they stay.
"""

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from conformance import profiles
from conformance.formats import read_path
from conformance.judge import check
from conformance.profiles import Profile
from conformance.profiles.texts import by_host
from conformance.resources import folder, unpacked
from conformance.results import Evidence, Finding, Status
from conformance.rules import select
from conformance.transport.shelf import CassetteFolder
from conformance.urls import host_of
from conformance.wire.exchange import Exchange
from conformance.wires import of

REPORT: Final = folder("reports") / "open-responses.md"
CLAIM: Final = "responses.open-responses"
WIRE: Final = "responses"
COLUMNS: Final[Mapping[str, str]] = {
    "responses/reply-as-specified": "responses",
    "responses/event-as-specified": "events",
    "responses/stream-ends-with-done": "`[DONE]`",
    "responses/error-as-specified": "errors",
}
RULES: Final = select(COLUMNS)
HOSTS: Final = "## Hosts, in recorded traffic"
_LEAST: Final = 3
"""Hosts with fewer recorded exchanges than this have no row."""
_MOST_WORDS: Final = 3
_LONGEST: Final = 160

_HEAD: Final = """\
# Who implements Open Responses

[Open Responses](https://www.openresponses.org/) is a vendor-neutral specification of the Responses API. OpenRouter,
Ollama, LM Studio, vLLM and others are named there as its supporters; this page says what was seen. Each cell counts the
exchanges in which something was judged, and those that depart from the specification of 2026-04-24.
[How to check a server](../docs/open-responses.md).

## Open-source servers, with a scripted model

Their replies are committed as cassettes. `python -m tests.open_responses --write` judges them again.
"""
_HOSTS_HEAD: Final = """\

Recordings of public repositories, of any age: many were made before the specification was published, and their hosts
may send more today.
"""
_NOT_SEEN: Final = """\
## Not seen

Ollama and LM Studio answer on this wire; too few of their replies were at hand to say something. To see for yourself:
`pytest --provider=open_responses --base-url http://127.0.0.1:11434/v1 --model qwen3`.
"""


@dataclass(slots=True)
class ServerSeen:
    """What one server sent: by rule, in how many exchanges it judged something, and what it found, in words."""

    about: str = ""
    exchanges: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    words: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, exchanges: Iterable[Exchange], profile: Profile) -> None:
        """Judge some exchanges, each alone, as if the provider said that it follows the specification."""
        followed = profile.with_claims({CLAIM: True})
        for exchange in exchanges:
            self.exchanges += 1
            for outcome in check(exchange, followed, RULES):
                self.judged[outcome.rule] += outcome.status in (Status.PASSED, Status.FAILED)
                self.broken[outcome.rule] += outcome.status is Status.FAILED
                self.words[outcome.rule].update({_words(finding) for finding in outcome.findings})


def _words(finding: Finding) -> str:
    """Return what a finding says, with its place: numbers stand for any number, and what was got may differ, too."""
    _, _, place = finding.at.removeprefix("/0/response").partition("/")
    at = re.sub(r"\b\d+\b", "*", place)
    message = re.sub(r"(?<=got )[\d.]+$", "a number", finding.message)
    return f"`{at}`: {message}" if at else message


def engines() -> Iterator[tuple[str, ServerSeen]]:
    """Yield each open-source server whose replies on this wire are committed."""
    for name in profiles.names():
        profile = profiles.load(name).protocols.get(WIRE)
        shelf = CassetteFolder(folder("cassettes"), f"{name}.{WIRE}")
        for model, entry in shelf.manifest().items() if profile is not None else ():
            if entry.evidence is Evidence.ENGINE and profile is not None:
                seen = ServerSeen(_versions(entry.versions))
                for path in sorted(unpacked(shelf.path(model, "x").parent).glob("*.yaml")):
                    seen.add([each for given in read_path(path) for each in given.conversation], profile)
                yield profiles.load(name).title, seen


def _versions(versions: Mapping[str, str]) -> str:
    found = [f"{name} {version}" for name, version in versions.items() if name not in ("torch", "wire-conformance")]
    return found[0] if found else ""


def hosts(files: Sequence[Path]) -> Iterator[tuple[str, ServerSeen]]:
    """Yield each host in recordings of real traffic, those with most exchanges first."""
    found: dict[str, ServerSeen] = defaultdict(ServerSeen)
    for exchange in [each for path in files for given in read_path(path) for each in given.conversation]:
        name = by_host(host_of(exchange.url), WIRE) if of(exchange).name == WIRE else None
        if name is not None and exchange.status is not None:
            found[name].add([exchange], profiles.load(name).on(WIRE))
    for name, seen in sorted(found.items(), key=lambda each: -each[1].exchanges):
        if seen.exchanges >= _LEAST and seen.judged.total():
            yield profiles.load(name).title, seen


def table(rows: Iterable[tuple[str, ServerSeen]]) -> Iterator[str]:
    """Yield a table of servers, and below it what departs, most frequent first."""
    listed = list(rows)
    yield "| server | exchanges | " + " | ".join(COLUMNS.values()) + " |"
    yield "|---" * (len(COLUMNS) + 2) + "|"
    for title, seen in listed:
        about = f"<br>{seen.about}" if seen.about else ""
        yield f"| {title}{about} | {seen.exchanges} | " + " | ".join([_cell(seen, rule) for rule in COLUMNS]) + " |"
    yield ""
    for title, seen in listed:
        yield from _departures(title, seen)


def _cell(seen: ServerSeen, rule: str) -> str:
    judged, broken = seen.judged[rule], seen.broken[rule]
    if not judged:
        return "not seen"
    return f"✓ {judged}" if not broken else f"✗ {broken} of {judged}"


def _departures(title: str, seen: ServerSeen) -> Iterator[str]:
    lines = [
        f"- {column}: {_short(message)} ({count} ×)"
        for rule, column in COLUMNS.items()
        for message, count in sorted(seen.words[rule].items(), key=lambda each: (-each[1], each[0]))[:_MOST_WORDS]
    ]
    if lines:
        yield f"{title}:\n"
        yield from [*lines, ""]


def _short(message: str) -> str:
    text = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
    return text.replace("|", "\\|")


def report(files: Sequence[Path]) -> str:
    """Return the text of the report; without files, the part about hosts is that of the committed one."""
    known = REPORT.read_text("utf-8") if REPORT.exists() else ""
    _, mark, kept = known.partition(HOSTS)
    about_hosts = (
        "\n".join([_HOSTS_HEAD, *table(hosts(files)), _NOT_SEEN]) if files else kept[1:] if mark else f"\n{_NOT_SEEN}"
    )
    return "\n".join([_HEAD, *table(engines())]) + f"\n{HOSTS}\n{about_hosts}"


def main() -> int:
    """Print the report, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", metavar="FILE", type=Path, action="append", default=[])
    parser.add_argument("--write", action="store_true", help="write reports/open-responses.md")
    arguments = parser.parse_args()
    text = report(arguments.recordings)
    if arguments.write:
        REPORT.write_text(text, "utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
