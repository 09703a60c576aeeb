"""Prove that the rules can fail: mutate good conversations and report what finds each mutation.

The mutations are the bad examples of every rule, and a catalogue (a dropped result, a reused id, a missing end mark)
that is applied wherever it fits in the fixtures and in the simulated scenarios. A row counts the mutations that a rule
has to find: those that it finds, those that only related rules find, those that only other rules find, and those that
nothing finds (survived). It also counts false positives, where another rule should have reported. Harmless changes are
made as well, and no rule may report one.

Returns exit code 1 if a mutation survives or a rule reports a false positive, and the catalogue gives no reason for it.
"""

import argparse
from pathlib import Path
from typing import Final

import orjson

from conformance import artifacts, rules
from conformance.errors import Unusable
from conformance.mutation import run as mutate
from conformance.reporting.renderers.mutation import render_score
from conformance.resources import checkout_folder

EXAMPLES: Final = """\
  conformance mutate
  conformance mutate --rule 'stream/*' --format json
  conformance mutate --write"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--rule", action="append", default=[], metavar="RULE", help="only mutations for rules that match; repeatable")
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--write", action="store_true", help="also write the score to reports/mutation.json (in a checkout only)")


def run(arguments: argparse.Namespace) -> int:
    """Print the score; return 1 if the catalogue does not explain all of it."""
    target: Path | None = None
    if arguments.write:
        if arguments.rule:
            raise Unusable("--write needs the score of all rules; omit --rule")
        target = checkout_folder("reports", "--format json is required instead of --write") / "mutation.json"
    score = mutate(rules.select(arguments.rule or ["*"]))
    data = orjson.dumps(score, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if target is not None:
        artifacts.write(target, data)
    print(data.decode() if arguments.format == "json" else "\n".join(render_score(score)))
    return int(score["total"]["unexplained"] > 0)
