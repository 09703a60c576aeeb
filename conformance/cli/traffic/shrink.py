"""Reduce a session to the smallest one that still breaks a rule, ready to paste into a bug report.

FILE is anything that `check` reads. Of several inputs in it, the smallest one that breaks the rule is reduced:
exchanges, replies, events of streams, messages, parts, keys and text that the fault does not need are left out, and so
are secrets. The result has this fault and no other that the input had not. It goes to standard output, one exchange a
line, and is read by `check` again with the same finding. The sizes go to standard error.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from conformance import rules
from conformance.arguments import day, positive
from conformance.errors import InvalidDocument, Unusable
from conformance.files import AUTO, STDIN
from conformance.files.recognition import chosen_profile
from conformance.formats import Input, read_path
from conformance.formats.records import record_of
from conformance.results import Status
from conformance.terminal import ProgressLine

if TYPE_CHECKING:
    from conformance.profiles import Profile
    from conformance.shrinking import Shrunk

EXAMPLES: Final = """\
  conformance shrink session.jsonl --rule transcript/calls-answered
  conformance shrink traffic.har --rule reasoning/present-on-tool-turns --provider deepseek -o smallest.jsonl
  conformance shrink stream.sse --rule 'stream/id-once' --max-checks 500"""

_PROVIDER: Final = """\
check against this provider's claims, too (default: auto, which recognises the provider; none: check the canonical \
wire alone)"""
_MAX_CHECKS: Final = 3000


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("file", metavar="FILE", help="a file that check reads, or - for standard input")
    add("--rule", metavar="RULE", required=True, help="the rule that the result must break")
    add("--provider", default=AUTO, metavar="PROVIDER", help=_PROVIDER)
    add("--as-of", type=day, metavar="DATE", help="check by the claims of this day, YYYY-MM-DD or today")
    add("-o", "--to", type=Path, metavar="FILE", help="write the result to this file instead of standard output")
    add(
        "--max-checks",
        type=positive,
        default=_MAX_CHECKS,
        metavar="N",
        help="check at most this many smaller sessions (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the smallest session."""
    if arguments.rule not in rules.by_id():
        # Raises the error that suggests a rule.
        rules.select((arguments.rule,))
        raise Unusable(f"--rule takes one rule, got the pattern {arguments.rule!r}")
    given, profile = _smallest_input(arguments)
    shrunk = _shrunk(given, profile, arguments)
    session = "smallest" if len(shrunk.conversation) > 1 else ""
    records = [orjson.dumps(_record(each)) for each in _named(shrunk, session)]
    if arguments.to is None:
        print(b"\n".join(records).decode())
    else:
        from conformance import artifacts

        artifacts.write(arguments.to, (record + b"\n" for record in records))
    print(f"shrunk from {shrunk.before} to {shrunk.after} in {shrunk.checks} checks", file=sys.stderr)
    if not shrunk.is_minimal:
        print("stopped at --max-checks: it may become smaller with more", file=sys.stderr)
    print(f"it breaks {arguments.rule} at {shrunk.finding.at}: {shrunk.finding.message}", file=sys.stderr)
    return 0


def _named(shrunk: "Shrunk", session: str) -> list[dict[str, object]]:
    return [record_of(each, session) for each in shrunk.conversation]


def _record(record: dict[str, object]) -> dict[str, object]:
    """Return a record without what is empty."""
    return {key: value for key, value in record.items() if value is not None}


def _smallest_input(arguments: argparse.Namespace) -> "tuple[Input, Profile | None]":
    """Return the input with the fewest exchanges and bytes that breaks the rule, and its provider's profile."""
    from conformance.judge import check

    best: tuple[tuple[int, int], Input, Profile | None] | None = None
    seen: set[str] = set()
    for given in read_path(STDIN if arguments.file == "-" else Path(arguments.file)):
        if given.problem is not None or not given.conversation:
            continue
        profile = chosen_profile(given, arguments.provider)
        failed = {
            outcome.rule
            for outcome in check(given.conversation, profile, as_of=arguments.as_of or "")
            if outcome.status is Status.FAILED
        }
        seen |= failed
        size = len(given.conversation), sum([len(str(each.request)) for each in given.conversation])
        if arguments.rule in failed and (best is None or size < best[0]):
            best = size, given, profile
    if best is None:
        broken = f"it breaks {', '.join(sorted(seen))}" if seen else "there is no finding in it"
        raise Unusable(f"{arguments.file} does not break {arguments.rule}; {broken}")
    return best[1:]


def _shrunk(given: Input, profile: "Profile | None", arguments: argparse.Namespace) -> "Shrunk":
    from conformance.shrinking import shrink

    line = ProgressLine(report_at_end=True)
    try:
        return shrink(
            given.conversation,
            arguments.rule,
            profile,
            as_of=arguments.as_of or "",
            max_checks=arguments.max_checks,
            progress=lambda checks, left: line.show(f"{checks} checks, {left:,} bytes left"),
        )
    except InvalidDocument as error:
        raise Unusable(str(error)) from None
    finally:
        line.clear()
