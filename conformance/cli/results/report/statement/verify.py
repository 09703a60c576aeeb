"""Compare a statement with the results that it was made from."""

import argparse
from pathlib import Path
from typing import Final

from conformance.arguments import print_accepted
from conformance.cli import _statements
from conformance.reporting import statement
from conformance.reporting.text import plural, printable
from conformance.terminal import print_error

EXAMPLES: Final = """\
  conformance report statement verify statement.json results"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("statement", type=Path, metavar="FILE", help="the statement")
    _statements.add_results(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what differs; return 1 if the statement does not hold."""
    stated = statement.read(arguments.statement)
    shown = _statements.made(arguments, {})
    different = list(statement.differences(stated, shown, _statements.today()))
    for each in different:
        print(printable(each))
    if different:
        if stated["conformance"] != _statements.version():
            print_error(
                f"the statement was made with conformance {stated['conformance']}, this is {_statements.version()}"
            )
        print(f"refused: {plural(len(different), 'difference')} between the statement and the results")
        print_accepted(arguments.partial)
        return 1
    for each in stated["subjects"]:
        counts = each["checks"]
        print(
            printable(f"{each['name']}: as stated: {counts['conforms']} checks conform, {counts['fails']} fail, ")
            + f"{counts['declared']} are declared; evidence: {', '.join(each['evidence'])}"
        )
    print_accepted(arguments.partial)
    return 0
