"""Prove that the rules can fail: mutate good conversations and report what finds each mutation.

The mutations are the bad examples of every rule, and a catalogue (a dropped result, a reused id, a missing end mark)
that is applied wherever it fits in the fixtures and in the simulated scenarios. A row counts the mutations that a rule
has to find: those that it finds, those that only related rules find, those that only other rules find, and those that
nothing finds (survived). It also counts false positives, where another rule should have reported. Harmless changes are
made as well, and no rule may report one.

Returns exit code 1 if a mutation survives or a rule reports a false positive, and the catalogue gives no reason for it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import orjson

from conformance import artifacts, rules
from tests.mutation import run as mutate
from tests.mutation.report import render_score

ROOT: Final = Path(__file__).parents[2]

EXAMPLES: Final = """\
examples:
  python -m tests.mutation
  python -m tests.mutation --rule 'stream/*' --format json
  python -m tests.mutation --write"""


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.mutation",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--rule", action="append", default=[], metavar="RULE", help="only mutations for rules that match; repeatable")
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--write", action="store_true", help="also write the score to reports/mutation.json")
    arguments = parser.parse_args(given)
    if arguments.write and arguments.rule:
        parser.error("--write needs the score of all rules; omit --rule")
    return arguments


def main(given: Sequence[str] | None = None) -> int:
    """Print the score; return 1 if the catalogue does not explain all of it."""
    arguments = _arguments(given)
    chosen = rules.select(arguments.rule) if arguments.rule else rules.load()
    score = mutate(chosen)
    data = orjson.dumps(score, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if arguments.write:
        artifacts.write(ROOT / "reports" / "mutation.json", data)
    print(data.decode() if arguments.format == "json" else "\n".join(render_score(score)))
    return int(score["total"]["unexplained"] > 0)


if __name__ == "__main__":
    sys.exit(main())
