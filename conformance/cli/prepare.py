"""Show what a provider would be sent of a conversation: its messages as that provider takes them, and why.

FILE holds a canonical transcript (a list of messages) or a request body with one. The messages go to standard output,
to standard error one line for everything that differs from the transcript, with the claim of the profile behind it
(`conformance list claims --provider P` tells its source). What the provider is known to refuse and what cannot be
fixed makes the exit code 1.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import convert, profiles
from conformance.convert.egress import Note
from conformance.documents import parse_json, read_json

EXAMPLES: Final = """\
  conformance prepare --provider deepseek transcript.json
  conformance prepare --provider mistral --model magistral-medium-latest request.json > messages.json
  jq .messages request.json | conformance prepare --provider moonshot --format json - | jq .notes"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    model = "the model that is asked (default: that of the request body, else what holds for all of the provider's)"
    shown = "messages: as they are sent, notes on standard error (default); json: an object of messages, ids and notes"
    parser.add_argument("--provider", metavar="P", required=True, help="whom it is for")
    parser.add_argument("--model", metavar="M", help=model)
    parser.add_argument("--format", choices=("messages", "json"), default="messages", metavar="F", help=shown)
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default="-", help="a JSON file; - is standard input (default)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the messages and the notes; return 1 where something stays that the provider is known to refuse."""
    profile = profiles.load(arguments.provider)
    named = arguments.file != "-"
    value: Any = read_json(Path(arguments.file)) if named else parse_json(sys.stdin.buffer.read(), "<stdin>")
    file = arguments.file if named else "<stdin>"
    prepared = convert.prepare(value, profile, model=arguments.model, file=file)
    if arguments.format == "json":
        ids = [identity._asdict() for identity in prepared.ids]
        notes = [_json(note) for note in prepared.notes]
        print(_text({"messages": prepared.messages, "ids": ids, "notes": notes}))
    else:
        print(_text(prepared.messages))
        for note in prepared.notes:
            print(f"{'note' if note.fixed else 'stays'}: {note}", file=sys.stderr)
    return 1 if prepared.unfixed else 0


def _json(note: Note) -> dict[str, Any]:
    return {"pointer": note.pointer, "reason": note.reason, "claim": note.claim, "mended": note.fixed}


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
