"""Show the messages to send to a provider for a conversation, and why they differ from it.

FILE holds a canonical transcript (a list of messages) or a request body with one. The messages go to standard output.
Each difference from the transcript is one line on standard error, with the claim that requires it
(`conformance list claims --provider P` shows the sources).

Returns exit code 1 if the request cannot be made acceptable to the provider.
"""

import argparse
import sys
from typing import Any, Final

import orjson

from conformance import convert, profiles
from conformance.arguments import add_json_file, read_json_file
from conformance.convert.egress import Note

EXAMPLES: Final = """\
  conformance prepare --provider deepseek transcript.json
  conformance prepare --provider mistral --model magistral-medium-latest request.json > messages.json
  jq .messages request.json | conformance prepare --provider moonshot --format json - | jq .notes"""

_MODEL: Final = "the model (default: that of the request body, otherwise use the claims that hold for all models)"
_FORMAT: Final = "messages: the messages, notes on standard error (default); json: an object of messages, ids and notes"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--provider",
        metavar="PROVIDER",
        required=True,
        help="the provider (see `conformance list providers`), or the path of a profile",
    )
    add("--model", metavar="MODEL", help=_MODEL)
    add("--format", choices=("messages", "json"), default="messages", metavar="F", help=_FORMAT)
    add_json_file(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the messages and the notes; return 1 if the provider would still reject the request."""
    profile = profiles.load_profile(arguments.provider)
    value, file = read_json_file(arguments.file)
    prepared = convert.prepare(value, profile, model=arguments.model, file=file)
    if arguments.format == "json":
        ids = [identity._asdict() for identity in prepared.ids]
        notes = [_json(note) for note in prepared.notes]
        print(_text({"messages": prepared.messages, "ids": ids, "notes": notes}))
    else:
        print(_text(prepared.messages))
        for note in prepared.notes:
            print(f"{'note' if note.fixed else 'problem'}: {note}", file=sys.stderr)
    return 1 if prepared.unfixed else 0


def _json(note: Note) -> dict[str, Any]:
    fixed = {"mended": note.fixed}  # codespell:ignore mended
    return {"pointer": note.pointer, "reason": note.reason, "claim": note.claim, **fixed}


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
