"""List what a client that works with one provider must change for another one.

A and B are names of providers or paths of profiles. Every sentence is made of the claims of both: what the client must
not send any more, what it must read differently, what A rejects and B accepts, and what is unknown of B though the
client may rely on it. Core facts come first, then what broke most SDKs when it was planted; the part of a request that
has to change stands below. Claims that only one of the profiles makes of replies are left out.
"""

import argparse
from typing import Final

import orjson

from conformance import profiles
from conformance.profiles.difference import differences
from conformance.reporting.text import printable, printable_json

EXAMPLES: Final = """\
  conformance provider diff openai deepseek
  conformance provider diff vllm ./my-gateway.yaml
  conformance provider diff deepseek mistral --to-model magistral-medium-latest --format json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("first", metavar="A", help="the provider that the client works with")
    add("second", metavar="B", help="the provider that it shall work with, too")
    add("--from-model", metavar="MODEL", default="", help="the model of A (default: the one that its profile names)")
    add("--to-model", metavar="MODEL", default="", help="the model of B (default: the one that its profile names)")
    add("--format", choices=("text", "json"), default="text", help="text (default) or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the differences."""
    # Imported here because it loads the rules, which --help does not need.
    from conformance.reporting.comparison import fragment, lines, ranked

    first, second = profiles.load_profile(arguments.first), profiles.load_profile(arguments.second)
    found = ranked(differences(first, second, (arguments.from_model, arguments.to_model)))
    if arguments.format == "json":
        rows = [
            {
                **each.difference._asdict(),
                "kind": each.difference.kind.name.lower(),
                "harm": each.harm._asdict() if each.harm.measured else None,
                "instead_of": each.change.instead_of,
                "send": each.change.send,
            }
            for each in found
        ]
        print(printable_json(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()))
        return 0
    print("\n".join(map(printable, lines(found, (first.name, second.name)))).rstrip())
    if not (first.path or second.path or arguments.from_model or arguments.to_model):
        print(f"\nTo share it: reports/matrix.html{fragment(first.name, second.name)}")
    return 0
