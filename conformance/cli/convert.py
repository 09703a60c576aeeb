"""Convert a conversation from one message model to another, and say what is lost.

The dialects are other systems' message models; `canonical` is the transcript of this project. Every conversion goes
through the canonical transcript. The result goes to standard output, what was lost to standard error.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

import orjson

from conformance.convert import dialects
from conformance.documents import parse_json, read_json

EXAMPLES: Final = """\
  conformance convert --from agent-loop --to canonical messages.json
  jq .messages request.json | conformance convert --from canonical --to agent-loop -"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    known = ", ".join((dialects.CANONICAL, *dialects.names()))
    parser.add_argument("--from", dest="source", metavar="A", required=True, help=f"what it is: {known}")
    parser.add_argument("--to", dest="target", metavar="B", required=True, help="what it is to become")
    parser.add_argument("--strict", action="store_true", help="end with exit code 1 where anything was lost")
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default="-", help="a JSON file; - is standard input (default)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the converted conversation, and one line a loss."""
    named = arguments.file != "-"
    value = read_json(Path(arguments.file)) if named else parse_json(sys.stdin.buffer.read(), "<stdin>")
    file = arguments.file if named else "<stdin>"
    converted = dialects.convert(value, arguments.source, arguments.target, file)
    print(orjson.dumps(converted.value, option=orjson.OPT_INDENT_2).decode())
    for loss in converted.lost:
        print(f"lost: {loss.pointer}: {loss.reason}", file=sys.stderr)
    return 1 if arguments.strict and converted.lost else 0
