"""Show what a provider would be sent of a conversation: its messages as that provider takes them, and why.

FILE holds a canonical transcript (a list of messages) or a request body with one. The messages go to standard output,
to standard error one line for everything that differs from the transcript, with the claim of the profile behind it
(`conformance list claims --provider P` tells its source). What the provider is known to refuse and what cannot be
mended makes the exit code 1.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import profiles
from conformance.convert import egress
from conformance.documents import parse_json, read_json
from conformance.documents.pointer import render
from conformance.errors import InvalidDocument
from conformance.schemas import SchemaError, validator

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
    value = read_json(Path(arguments.file)) if named else parse_json(sys.stdin.buffer.read(), "<stdin>")
    body: Mapping[str, Any] | None = value if isinstance(value, dict) else None
    transcript: Any = value if body is None else body.get("messages")
    at = "" if body is None else "/messages"
    _demand(transcript, at, arguments.file if named else "<stdin>")
    asked = (body or {}).get("model") if arguments.model is None else arguments.model
    prepared = egress.explain(transcript, profile.at(asked if isinstance(asked, str) else ""))
    notes = [note._replace(pointer=at + note.pointer) for note in prepared.notes]
    if arguments.format == "json":
        told = {"ids": [each._asdict() for each in prepared.ids], "notes": [each._asdict() for each in notes]}
        print(_text({"messages": prepared.messages, **told}))
    else:
        print(_text(prepared.messages))
        for note in notes:
            print(f"{'note' if note.mended else 'stays'}: {note}", file=sys.stderr)
    return 1 if prepared.unmended else 0


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _demand(transcript: Any, at: str, file: str) -> None:
    """Raise InvalidDocument for the first fault of a transcript that is not there to be mended."""
    for error in validator("canonical/transcript").errors(transcript):
        if not _is_mended(error):
            raise InvalidDocument(error.message, file, None, at + render(error.place))


def _is_mended(error: SchemaError) -> bool:
    """Say whether a fault is a key too many, or a list of calls that holds none."""
    return error.keyword == "additionalProperties" or (
        error.place[1:] == ("tool_calls",) and error.message.endswith(("got null", "got []"))
    )
