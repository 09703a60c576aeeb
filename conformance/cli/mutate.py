"""Prove that the rules can fail: plant faults into good conversations and tell which rule finds each.

Planted are the bad examples of every rule, and a catalogue of vices (a result dropped, an id used again, an end mark
lost) at every place of the fixtures and of the scenarios as the simulator plays them. A row counts the faults that a
rule is to find: how many it finds itself, how many only rules that speak of what follows (kin), how many only others,
and how many nobody (survived); and how often it accuses where another rule was meant. Harmless changes are made too,
of which no rule may speak. The exit code is 1 where something survives, or a rule accuses falsely, without a reason in
the catalogue.
"""

import argparse
from typing import Final

import orjson

from conformance import rules
from conformance.errors import Unusable
from conformance.mutation import run as plant
from conformance.reporting.renderers.mutation import render_score
from conformance.resources import folder

EXAMPLES: Final = """\
  conformance mutate
  conformance mutate --rule 'stream/*' --format json
  conformance mutate --write"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    add = parser.add_argument
    add("--rule", action="append", default=[], metavar="GLOB", help="only faults for these rules; may be given again")
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--write", action="store_true", help="write the score to reports/mutation.json, too")


def run(arguments: argparse.Namespace) -> int:
    """Plant, print the score, and return 1 where the catalogue does not explain it."""
    if arguments.write and arguments.rule:
        raise Unusable("the score of some rules is not written, only that of all; leave --rule or --write away")
    score = plant(rules.select(arguments.rule or ["*"]))
    data = orjson.dumps(score, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if arguments.write:
        (folder("reports") / "mutation.json").write_bytes(data)
    print(data.decode() if arguments.format == "json" else "\n".join(render_score(score)))
    return int(score["total"]["unexplained"] > 0)
