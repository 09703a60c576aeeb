"""Print the statement about results, signed with a key file.

Without --key the statement is not signed, and proves nothing. A key is made with
`openssl genpkey -algorithm ed25519 -out key.pem`, and `openssl pkey -in key.pem -pubout -out key.pub` prints the public
key, which you publish where others trust it. In a workflow of GitHub, no key is needed: pass the output of --predicate
to actions/attest.
"""

import argparse
import re
from pathlib import Path
from typing import Final

import orjson

from conformance.arguments import print_accepted
from conformance.cli import _statements
from conformance.errors import Unusable
from conformance.reporting.text import printable_json
from conformance.results.files import read_with_paths
from conformance.signing import sign

EXAMPLES: Final = """\
  conformance report statement make results --project 'Our gateway' --key key.pem > statement.json
  conformance report statement make results --predicate > predicate.json"""

_URL: Final = re.compile(r"https?://\S+")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="RESULTS", help="results files, or folders of them")
    _statements.add_options(parser)
    add("--project", default="", metavar="NAME", help="whose statement it is")
    add("--url", default="", metavar="URL", help="where the statement and the results are published")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--key", type=Path, metavar="FILE", help="sign with this private key, Ed25519 or ECDSA in PEM")
    form.add_argument(
        "--predicate", action="store_true", help="print only the predicate, which actions/attest takes and signs"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the statement."""
    if arguments.url and not _URL.fullmatch(arguments.url):
        raise Unusable(f"--url {arguments.url}: expected an http or https URL")
    about = {"date": _statements.today(), "conformance": _statements.version()}
    about |= {name: text for name in ("project", "url") if (text := getattr(arguments, name))}
    found = read_with_paths(arguments.paths, arguments.partial)
    shown = _statements.made(found, arguments, about)
    if arguments.predicate:
        shown = shown["predicate"]
    elif arguments.key is not None:
        shown = sign(orjson.dumps(shown), arguments.key)
    print(printable_json(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()))
    print_accepted(arguments.partial)
    return 0
