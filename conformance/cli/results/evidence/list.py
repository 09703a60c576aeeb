"""List the recordings that confirm or contradict a claim, each with a link to its file."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson

from conformance import profiles
from conformance.documents import read_json
from conformance.errors import UnknownName, Unusable
from conformance.evidence import index
from conformance.evidence.entries import KINDS
from conformance.evidence.index import IndexedRecording
from conformance.profiles import vocabulary
from conformance.reporting.text import plural, printable_json
from conformance.resources import folder, unpacked
from conformance.results.files import CALIBRATION

EXAMPLES: Final = """\
  conformance evidence list --provider deepseek
  conformance evidence list --claim reasoning.response-field --provider deepseek --format json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--provider", metavar="PROVIDER", required=True, help="the provider's name")
    parser.add_argument("--claim", metavar="CLAIM", default="", help="the claim (default: every claim)")
    parser.add_argument("--format", choices=("console", "json"), default="console", help="console (default) or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the recordings of each claim."""
    provider, claim = profiles.load_profile(arguments.provider).name, arguments.claim
    if claim and claim not in vocabulary():
        raise UnknownName("claim", claim, vocabulary())
    path = unpacked(folder("reports") / "results" / CALIBRATION) / f"{provider}.json"
    if not path.exists():
        raise Unusable(f"no recordings of {provider} were counted; see `conformance evidence calibrate --write`")
    evidence: Any = read_json(path)
    entries = [each for each in evidence["claims"] if claim in ("", each["claim"])]
    digests = index.digests(evidence["exchanges"])
    shown = [_entry(each, digests) for each in entries]
    if arguments.format == "json":
        print(printable_json(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()))
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
