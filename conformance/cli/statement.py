"""Make a compatibility statement from results, or verify one by the results that it was made from.

A statement is a JSON file (schemas/files/statement.json) that a project publishes beside its results: what was checked,
with what versions, when, by which command, what fails, and the SHA-256 of each file of results. Whoever has both files
verifies them. A statement that says anything else than the results is refused, with what differs.
"""

import argparse
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.arguments import add_action
from conformance.errors import Unusable
from conformance.reporting import statement
from conformance.reporting.matrix.own import named_profiles
from conformance.reporting.text import plural, printable
from conformance.results.files import read_with_paths
from conformance.terminal import print_error

EXAMPLES: Final = """\
  conformance statement make results --project 'Our gateway' --url https://example.com/wire > statement.json
  conformance statement verify statement.json results"""

_URL: Final = re.compile(r"https?://\S+")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=argparse.ArgumentParser
    )
    make = add_action(actions, "make", "print the statement about results")
    verify = add_action(actions, "verify", "compare a statement with the results that it was made from")
    verify.add_argument("statement", type=Path, metavar="FILE", help="the statement")
    for action in (make, verify):
        action.add_argument("paths", nargs="+", type=Path, metavar="RESULTS", help="results files, or folders of them")
        own = "the profile of your own that results were checked against; repeatable"
        action.add_argument("--provider", action="append", default=[], type=Path, metavar="FILE", help=own)
    make.add_argument("--project", default="", metavar="NAME", help="whose statement it is")
    make.add_argument("--url", default="", metavar="URL", help="where the statement and the results are published")


def run(arguments: argparse.Namespace) -> int:
    """Print the statement, or what differs; return 1 if it does not hold."""
    return {"make": _make, "verify": _verify}[arguments.action](arguments)


def _make(arguments: argparse.Namespace) -> int:
    if arguments.url and not _URL.fullmatch(arguments.url):
        raise Unusable(f"--url {arguments.url}: expected an http or https URL")
    about = {"date": _today(), "conformance": _version()}
    about |= {name: text for name in ("project", "url") if (text := getattr(arguments, name))}
    shown = orjson.dumps(_statement(arguments, about), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    print(shown.decode(), end="")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    stated = statement.read(arguments.statement)
    shown = _statement(arguments, {})
    different = list(statement.differences(stated, shown, _today()))
    for each in different:
        print(printable(each))
    if different:
        if stated["conformance"] != _version():
            print_error(f"the statement was made with conformance {stated['conformance']}, this is {_version()}")
        print(f"refused: {plural(len(different), 'difference')} between the statement and the results")
        return 1
    for each in stated["subjects"]:
        counts = each["checks"]
        print(
            printable(f"{each['name']}: as stated: {counts['conforms']} checks conform, {counts['fails']} fail, ")
            + f"{counts['declared']} are declared; evidence: {', '.join(each['evidence'])}"
        )
    return 0


def _statement(arguments: argparse.Namespace, about: Mapping[str, str]) -> dict[str, Any]:
    own = named_profiles(arguments.provider)
    return statement.make(read_with_paths(arguments.paths), own, about)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _version() -> str:
    try:
        return version("wire-conformance")
    except PackageNotFoundError:
        return "unknown"
