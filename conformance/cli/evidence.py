"""Fetch the public recordings that claims rest on, list them by claim, and add further ones to the index.

The index names the repository, commit, path and digest of each recorded exchange; it holds no recording. `fetch` gets
the files by commit, over HTTPS or from git mirrors, verifies every digest and keeps the files in a cache outside the
repository: `$CONFORMANCE_CACHE/recordings`, else the user's cache. `list` prints the recordings that confirm or
contradict a claim, each with a link to its file. `add` enters the recordings in files of a public repository.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import profiles
from conformance.arguments import add_action, positive
from conformance.documents import read_json
from conformance.errors import UnknownName, Unusable
from conformance.evidence import index
from conformance.evidence.contribution import Contribution, contribute
from conformance.evidence.entries import KINDS
from conformance.evidence.fetching import RAW, Cache, Checked, FileOrigin, Mirrors, Raw, State, fetch
from conformance.evidence.index import IndexedRecording
from conformance.profiles import vocabulary
from conformance.reporting.text import plural
from conformance.resources import checkout_folder, folder
from conformance.results.files import CALIBRATION
from conformance.terminal import Progress

EXAMPLES: Final = """\
  conformance evidence fetch --provider deepseek
  conformance evidence fetch --mirror ~/mirrors
  conformance evidence list --claim reasoning.response-field --provider deepseek
  conformance evidence add owner/name@0123456789abcdef0123456789abcdef01234567 tests/cassettes/a.yaml --licence MIT"""

_BAD: Final = (State.GONE, State.DIFFERS, State.FAILED)
_MIRROR: Final = "read from bare git mirrors in DIR: owner/name or owner+name, with or without .git"
_JOBS: Final = "number of files to fetch at once (default: 4)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=argparse.ArgumentParser
    )
    fetching = add_action(actions, "fetch", "fetch the files of the index into the cache and verify them")
    fetching.add_argument("--provider", metavar="PROVIDER", default="", help="only recordings of this provider")
    fetching.add_argument("--jobs", type=positive, default=4, metavar="N", help=_JOBS)
    checking = add_action(actions, "check", "check the fetched recordings with every rule about providers")
    checking.add_argument("--provider", metavar="PROVIDER", default="", help="only this provider (default: all)")
    checking.add_argument("--write", metavar="DIR", default="", help="write the results to DIR/<provider>.json")
    listing = add_action(actions, "list", "list the recordings that confirm or contradict a claim")
    listing.add_argument("--provider", metavar="PROVIDER", required=True, help="the provider's name")
    listing.add_argument("--claim", metavar="CLAIM", default="", help="the claim (default: every claim)")
    listing.add_argument("--format", choices=("console", "json"), default="console", help="console (default) or json")
    adding = add_action(actions, "add", "add the recordings in files of a public repository to the index")
    adding.add_argument("repository", metavar="REPO", help="owner/name@commit, with all 40 digits of the commit")
    adding.add_argument("paths", metavar="PATH", nargs="+", help="a file in that repository")
    adding.add_argument("--licence", metavar="NAME", required=True, help="the licence of the repository, such as MIT")
    adding.add_argument("--provider", metavar="PROVIDER", default="", help="the provider, if no host names it")
    adding.add_argument("--date", metavar="DATE", default="", help="the day of exchanges that do not show it")
    adding.add_argument("--fixture", metavar="REASON", default="", help="why these are not what the provider sent")
    for action in (fetching, adding):
        action.add_argument(
            "--index", metavar="DIR", default="", help="the folder of the index (default: this project's)"
        )
        action.add_argument("--mirror", metavar="DIR", default="", help=_MIRROR)
        action.add_argument("--url", metavar="URL", default=RAW, help="the server of raw files (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action; `fetch` returns 1 if a recording is gone, differs or could not be fetched."""
    actions = {"fetch": _fetch, "check": _check, "list": _list, "add": _add}
    return actions[arguments.action](arguments)


def _fetch(arguments: argparse.Namespace) -> int:
    provider = arguments.provider
    indexed = index.load(_index(arguments))
    wanted = [each for each in indexed if not provider or provider in (each.provider, each.service)]
    if not wanted:
        raise UnknownName("provider with recordings", provider, sorted({each.provider for each in indexed}))
    progress = Progress(report_at_end=True)
    with ExitStack() as stack:
        origin = _origin(arguments, stack)
        checked = list(
            fetch(
                wanted,
                origin,
                Cache(),
                arguments.jobs,
                lambda done, total: progress.show(f"{done} of {plural(total, 'file')}"),
            )
        )
    progress.clear()
    for line in _report(checked):
        print(line)
    return int(any(each.state in _BAD for each in checked))


def _index(arguments: argparse.Namespace) -> Path:
    return Path(arguments.index) if arguments.index else index.FOLDER


def _origin(arguments: argparse.Namespace, stack: ExitStack) -> FileOrigin:
    if arguments.mirror:
        return Mirrors(Path(arguments.mirror))
    # Imported here because httpx takes long to load, and mirrors do not need it.
    import httpx

    limits = httpx.Limits(max_connections=getattr(arguments, "jobs", 1))
    client = httpx.Client(headers={"user-agent": "wire-conformance"}, limits=limits)
    return Raw(stack.enter_context(client), arguments.url)


def _report(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield what became of the recordings: problems first, then a line per repository, then the sum."""
    problems = dict.fromkeys(
        (each.recording.place, each.state, each.reason) for each in checked if each.state is not State.VERIFIED
    )
    for place, state, reason in problems:
        yield f"{state}: {place}: {reason}"
    by_repository: dict[str, Counter[State]] = {}
    for each in checked:
        by_repository.setdefault(each.recording.place.repository, Counter())[each.state] += 1
    for repository, counted in by_repository.items():
        yield f"{repository}: {_counted(counted)}"
    yield f"{plural(len(checked), 'recording')}: {_counted(Counter(each.state for each in checked))}"


def _counted(counted: Counter[State]) -> str:
    return ", ".join(f"{counted[state]} {state}" for state in State if counted[state])


def _list(arguments: argparse.Namespace) -> int:
    provider, claim = profiles.load_profile(arguments.provider).name, arguments.claim
    if claim and claim not in vocabulary():
        raise UnknownName("claim", claim, vocabulary())
    path = folder("reports") / "results" / CALIBRATION / f"{provider}.json"
    if not path.exists():
        raise Unusable(f"no recordings of {provider} were counted; see `conformance calibrate --write`")
    evidence: Any = read_json(path)
    entries = [each for each in evidence["claims"] if claim in ("", each["claim"])]
    shown = [_entry(each, evidence["exchanges"]) for each in entries]
    if arguments.format == "json":
        print(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return 0
    for each in shown:
        print("\n".join(_lines(each)))
    if not shown:
        print(f"no recording of {provider} shows anything about {claim or 'any claim'}")
    return 0


def _entry(entry: Any, digests: Sequence[str]) -> dict[str, Any]:
    """Return an entry of a profile with its recordings instead of their positions."""
    known = index.by_digest()
    about = {key: held for key, held in entry.items() if key not in KINDS}
    found = {}
    for kind in KINDS:
        positions = [each if isinstance(each, list) else [each, ""] for each in entry.get(kind, ())]
        held = [(known.get(digests[number]), digests[number], reason) for number, reason in positions]
        if held:
            found[kind] = [_row(recording, digest, reason) for recording, digest, reason in held]
    return about | found


def _row(recording: IndexedRecording | None, digest: str, reason: str) -> dict[str, Any]:
    if recording is None:
        return {"digest": digest}
    row = {
        "link": recording.link,
        "number": recording.number,
        "model": recording.model,
        "date": recording.date,
        "status": recording.status,
        "licence": recording.licence,
        "digest": digest,
    }
    return row | ({"reason": reason} if reason else {})


def _lines(entry: dict[str, Any]) -> Iterator[str]:
    times = [
        f"since {entry['since']}" if entry.get("since") else "",
        f"until {entry['until']}" if entry.get("until") else "",
    ]
    about = ", ".join(each for each in (entry["model"], *times) if each)
    yield f"{entry['claim']}{f' ({about})' if about else ''}: {orjson.dumps(entry['value']).decode()}"
    if entry.get("engine"):
        yield f"  confirmed by {plural(entry['engine'], 'exchange')} with an engine"
    for kind in KINDS:
        for row in entry.get(kind, ()):
            status = "" if row.get("status") is None else f" {row['status']}"
            named = f"{row.get('date', '')} {row.get('model', '')}{status}".strip()
            reason = f" ({row['reason']})" if "reason" in row else ""
            where = (
                f"{row['link']} #{row['number']}" if "link" in row else f"recording {row['digest']}, not in the index"
            )
            yield f"  {kind}{reason}: {named}: {where}"


def _check(arguments: argparse.Namespace) -> int:
    # Imported here because the other actions need no rules.
    from conformance.evidence.recorded_run import RecordedRun
    from conformance.results import Level
    from conformance.results.files import write

    asked = arguments.provider
    indexed = {each.provider for each in index.load() if asked in ("", each.provider, each.service)}
    broken = 0
    for provider in sorted(filter(profiles.has, indexed)) or [asked]:
        run = RecordedRun(provider)
        unexpected = run.unexpected(Level.MUST)
        for played, outcome in unexpected:
            found = outcome.findings[0].message if outcome.findings else outcome.reason
            print(f"{provider}: {outcome.rule}: {found}: {played.recording.link} #{played.recording.number}")
        failed = len({played.recording.digest for played, _ in unexpected})
        print(f"{provider}: {plural(len(run.played), 'recording')}, {failed} break a MUST")
        broken += failed
        if arguments.write:
            write(Path(arguments.write), run.results())
    return int(bool(broken))


def _add(arguments: argparse.Namespace) -> int:
    if not arguments.index:
        # The index of an installed package is not for changes.
        checkout_folder("conformance", "--index DIR is required")
    given = Contribution(arguments.repository, arguments.licence, arguments.provider, arguments.date, arguments.fixture)
    with ExitStack() as stack:
        found = contribute(given, arguments.paths, _origin(arguments, stack))
    index.add(found, _index(arguments))
    for place, held in index.by_place(found).items():
        named = ", ".join(sorted({each.provider for each in held}))
        print(f"{place}: {plural(len(held), 'recording')} of {named}")
    return 0
