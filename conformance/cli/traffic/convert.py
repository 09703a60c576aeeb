"""Convert a conversation from one message model to another, and report what is lost.

A dialect is the message model of another system; `canonical` is the transcript of this project. Every conversion goes
through the canonical transcript. The result goes to standard output, and one line for each loss to standard error.
"""

import argparse
import sys
from typing import Final

import orjson

from conformance.arguments import add_json_file, read_json_file
from conformance.convert import dialects
from conformance.reporting.text import printable_json

EXAMPLES: Final = """\
  conformance convert --from agent-loop --to canonical messages.json
  jq .messages request.json | conformance convert --from canonical --to agent-loop -"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    known = ", ".join((dialects.CANONICAL, *dialects.names()))
    add = parser.add_argument
    add("--from", dest="source", metavar="DIALECT", required=True, help=f"the dialect of the input: {known}")
    add("--to", dest="target", metavar="DIALECT", required=True, help="the dialect of the output")
    add("--strict", action="store_true", help="return exit code 1 if anything is lost")
    add_json_file(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the converted conversation and what is lost."""
    value, file = read_json_file(arguments.file)
    converted = dialects.convert(value, arguments.source, arguments.target, file)
    print(printable_json(orjson.dumps(converted.value, option=orjson.OPT_INDENT_2).decode()))
    for loss in converted.lost:
        print(f"lost: {loss.pointer}: {loss.reason}", file=sys.stderr)
    return 1 if arguments.strict and converted.lost else 0
