"""Print the statement about results."""

import argparse
import re
from typing import Final

import orjson

from conformance.arguments import print_accepted
from conformance.cli import _statements
from conformance.errors import Unusable

EXAMPLES: Final = """\
  conformance report statement make results --project 'Our gateway' --url https://example.com/wire > statement.json"""

_URL: Final = re.compile(r"https?://\S+")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _statements.add_results(parser)
    parser.add_argument("--project", default="", metavar="NAME", help="whose statement it is")
    parser.add_argument("--url", default="", metavar="URL", help="where the statement and the results are published")


def run(arguments: argparse.Namespace) -> int:
    """Print the statement."""
    if arguments.url and not _URL.fullmatch(arguments.url):
        raise Unusable(f"--url {arguments.url}: expected an http or https URL")
    about = {"date": _statements.today(), "conformance": _statements.version()}
    about |= {name: text for name in ("project", "url") if (text := getattr(arguments, name))}
    shown = orjson.dumps(_statements.made(arguments, about), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    print(shown.decode(), end="")
    print_accepted(arguments.partial)
    return 0
