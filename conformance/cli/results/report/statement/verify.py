"""Verify whose a statement is, and that it says what the results say that it was made from.

Exits with 0 only if both are proven: the statement is signed with every --key, or attested by a workflow of --repo, and
the statement that the results give is the same. Without a signature, or without the option that says whose it must be,
a statement is at most consistent, and the exit code is 1, because anybody can make a consistent one.

A signature proves who states something, and not that it is true: whoever runs the tests can edit results before signing
them. Results whose evidence contradicts itself, or whose exchanges are known to be of another kind, are refused. So are
edited and incomplete ones, even with --partial.
"""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from conformance.arguments import print_accepted
from conformance.cli import _statements
from conformance.errors import Unusable
from conformance.reporting import plausibility, statement
from conformance.reporting.text import plural, printable
from conformance.results.files import read_with_paths
from conformance.signing import Expected, NotProven, open_document
from conformance.terminal import print_error

EXAMPLES: Final = """\
  conformance report statement verify statement.json --key key.pub results
  conformance report statement verify attestation.json --repo example/gateway results"""

OPTIONS_ANYWHERE: Final = True

_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("statement", type=Path, metavar="FILE", help="the statement: signed, attested (a Sigstore bundle), or neither")
    add(
        "paths",
        nargs="*",
        type=Path,
        metavar="RESULTS",
        help="results files, or folders of them (default: the files that the statement names, in its own folder)",
    )
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument(
        "--key",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a public key in PEM that must have signed it; repeatable: all of them, and nobody else",
    )
    whose.add_argument(
        "--repo", default="", metavar="OWNER/NAME", help="the GitHub repository whose workflow must have attested it"
    )
    _statements.add_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print whose the statement is and what differs; return 1 if it is not proven."""
    if arguments.repo and not _REPOSITORY.fullmatch(arguments.repo):
        raise Unusable(f"--repo {arguments.repo}: expected OWNER/NAME")
    try:
        opened = open_document(arguments.statement, Expected(arguments.key, arguments.repo))
    except NotProven as error:
        print(printable(f"refused: {error}"))
        return 1
    stated = statement.read(opened.payload, str(arguments.statement))
    found = read_with_paths(arguments.paths or _named(arguments.statement, stated), arguments.partial)
    shown = _statements.made(found, arguments, {})
    different = [*plausibility.doubts(found), *statement.differences(stated, shown, _statements.today())]
    if different:
        _print_refusal(different, stated)
    else:
        _print_runs(stated)
        verdict = f"verified: signed by {opened.signer}"
        if opened.unproven:
            verdict = f"{opened.unproven}: consistent, not proven" + (f"; {opened.signer}" if opened.signer else "")
        print(printable(verdict))
    print_accepted(arguments.partial)
    return 1 if different or opened.unproven else 0


def _named(file: Path, stated: Mapping[str, Any]) -> list[Path]:
    """Return the files of results that a statement names, which are beside it."""
    paths = [file.parent / each["name"] for each in stated["subject"]]
    for path in paths:
        if not path.is_file():
            raise Unusable(f"{path} does not exist; pass the RESULTS that the statement was made from")
    return paths


def _print_refusal(different: list[str], stated: Mapping[str, Any]) -> None:
    for each in different:
        print(printable(each))
    made_by, this = stated["predicate"]["conformance"], _statements.version()
    if made_by != this:
        print_error(f"the statement was made with conformance {made_by}, this is {this}")
    print(f"refused: {plural(len(different), 'difference')} between the statement and the results")


def _print_runs(stated: Mapping[str, Any]) -> None:
    about = stated["predicate"]
    named = "".join([f", {about[each]}" for each in ("project", "url") if each in about])
    print(printable(f"made on {about['date']} with conformance {about['conformance']}{named}, as it says itself"))
    for each in about["runs"]:
        counts = each["checks"]
        print(
            printable(f"{each['name']}: as stated: {counts['conforms']} checks conform, {counts['fails']} fail, ")
            + f"{counts['declared']} are declared; evidence: {', '.join(each['evidence'])}"
        )
