"""Show the messages to send to a provider for a conversation, and why they differ from it.

FILE holds a canonical transcript (a list of messages) or a request body with one. The messages go to standard output;
on another wire than chat completions (--protocol), the whole request does. Each difference from the transcript is one
line on standard error, with the claim that requires it (`conformance explain claims --provider P` shows the sources).

Without a conversation, --ask "deepseek, tools, thinking on" prints the first and the second request of one: the host or
model in any words, then what you wish: tools, no tools, parallel, thinking on, thinking off, stream, and the name of a
wire (chat completions, messages, responses, gemini). Below the requests stand their fields, each with its claim, value,
date, confidence and source. Where sources disagree, the requests have what no source says is refused.

Returns exit code 1 if the request cannot be made acceptable to the provider, or a claim rules the wish out, and 2 for
a word in the wish that means nothing.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Any, Final

import orjson

from conformance import convert, judge, profiles
from conformance.arguments import PROVIDER_HELP, STDIN, add_json_file, read_json_file
from conformance.convert.egress import Note
from conformance.convert.native import native_request
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.reporting.asked.answer import answer, lines
from conformance.reporting.asked.requests import sample
from conformance.reporting.asked.words import understood
from conformance.reporting.text import printable, printable_json, printable_lines
from conformance.results import Level, Status
from conformance.suite.options import on_wire
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from conformance.wire.views import Side
from conformance.wires import NATIVE

EXAMPLES: Final = """\
  conformance prepare --provider deepseek transcript.json
  conformance prepare --provider anthropic --protocol messages request.json
  conformance prepare --provider mistral --model magistral-medium-latest request.json > messages.json
  conformance prepare --ask "deepseek, tools, thinking on"
  conformance prepare --ask "claude-opus-4.5 at bedrock, parallel, stream" --format json
  conformance prepare --ask "responses, parallel" --provider ./my-gateway.yaml
  jq .messages request.json | conformance prepare --provider moonshot --format json - | jq .notes"""

_MODEL: Final = "the model (default: that of the request body, otherwise use the claims that hold for all models)"
_ANY_MODEL: Final = "any-model"
_FORMAT: Final = (
    "messages: the messages, notes on standard error (default); json: an object of messages, ids and notes; with "
    "--ask: text (default) or json"
)
_ASK: Final = "print the first and second request for a host, a model and a wish in words, and the claims behind them"
_PROTOCOL: Final = (
    f"the wire: {', '.join((CHAT, *NATIVE))} (default: chat, or the first one of a provider without chat)"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--provider",
        metavar="PROVIDER",
        default="",
        help=PROVIDER_HELP,
    )
    add("--ask", metavar="WISH", help=_ASK)
    add("--model", metavar="MODEL", help=_MODEL)
    add("--protocol", choices=(CHAT, *NATIVE), default="", metavar="WIRE", help=_PROTOCOL)
    add("--format", choices=("messages", "text", "json"), default="", metavar="F", help=_FORMAT)
    add_json_file(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the messages or the request, and the notes; return 1 if the provider would still reject the request."""
    if arguments.ask is not None:
        return _ask(arguments)
    if not arguments.provider:
        raise Unusable('--provider is required; without a conversation, --ask "deepseek, tools" shows the requests')
    if arguments.format == "text":
        raise Unusable("--format text is for --ask; a conversation has messages or json")
    profile = on_wire(profiles.load_profile(arguments.provider), arguments.protocol)
    value, file = read_json_file(arguments.file)
    prepared = convert.prepare(value, profile, model=arguments.model, file=file)
    name, made, notes = "messages", prepared.messages, prepared.notes
    if profile.wire != CHAT:
        # A bare list of messages has no parameters to send.
        given = value if isinstance(value, dict) else {}
        body = {**given, **({"model": arguments.model} if arguments.model else {}), "messages": prepared.messages}
        at = ("messages",) if given else ()
        sent = native_request(body, prepared.origins, profile.wire, at)
        # Which model is asked is still to be said, so that it is missing is no refusal.
        whole = body if body.get("model") else {**body, "model": profile.model or _ANY_MODEL}
        judged = sent if whole is body else native_request(whole, prepared.origins, profile.wire, at)
        name, made, notes = "request", sent.body, (*notes, *sent.notes, *_rejected(judged.exchange, profile))
    if arguments.format == "json":
        ids = [identity._asdict() for identity in prepared.ids]
        print(_text({name: made, "ids": ids, "notes": [_json(note) for note in notes]}))
    else:
        print(_text(made))
        for note in notes:
            print(f"{'note' if note.fixed else 'problem'}: {note}", file=sys.stderr)
    return 1 if any(not note.fixed for note in notes) else 0


def _ask(arguments: argparse.Namespace) -> int:
    """Print the requests for a wish; return 1 if a claim rules a part of the wish out."""
    if arguments.file != STDIN:
        raise Unusable(f"--ask makes a conversation of its own; omit {arguments.file}, or --ask to prepare that file")
    if arguments.format == "messages":
        raise Unusable("--format messages is for a conversation; --ask has text or json")
    asked = understood(arguments.ask, arguments.provider, arguments.model or "", arguments.protocol)
    if asked.ignored:
        words = printable(", ".join(map(repr, asked.ignored)))
        print(f"note: these words of the wish say nothing here: {words}", file=sys.stderr)
    found = sample(asked.profile, asked.wish)
    if found is None:
        why = "" if asked.profile.is_served(asked.profile.model) else f": it no longer serves {asked.profile.model}"
        print(f"problem: by its claims, {asked.profile.name} refuses the first request{why}", file=sys.stderr)
        return 1
    if arguments.format == "json":
        print(_text(answer(found, asked.profile, asked.wish)))
    else:
        print(printable_lines("\n".join(lines(found, asked.profile, asked.wish))))
    return 1 if any(each.is_refused for each in found.shortfalls) else 0


def _rejected(exchange: Exchange, profile: Profile) -> Iterator[Note]:
    """Yield a note for each finding of a rule that the provider enforces; it points into the request on its wire."""
    for outcome in judge.check((exchange,), profile):
        if outcome.status is not Status.FAILED or outcome.level is not Level.MUST:
            continue
        for finding in outcome.findings:
            if finding.side == Side.CLIENT and finding.level is Level.MUST:
                yield Note(finding.at.removeprefix("/0/request"), finding.message, outcome.rule, fixed=False)


def _json(note: Note) -> dict[str, Any]:
    return {"pointer": note.pointer, "reason": note.reason, "claim": note.claim, "fixed": note.fixed}


def _text(value: Any) -> str:
    return printable_json(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
