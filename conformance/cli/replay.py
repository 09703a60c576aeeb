"""Play every cassette again and write the results that the published reports are made of.

What `pytest --provider P --results DIR` does for one provider, for all of them. A further model of a provider has
results of its own, with the model's name in theirs.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.resources import folder
from conformance.terminal import complain

if TYPE_CHECKING:
    from conformance.suite.replay import Replay

EXAMPLES: Final = """\
  conformance replay --all --jobs 2
  conformance replay --provider deepseek --results results"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--all", action="store_true", help="play the cassettes of every provider")
    whose.add_argument("--provider", default="", metavar="P", help="play those of one provider")
    add = parser.add_argument
    add("--model", default="", metavar="M", help="of a provider's models this one alone")
    add("--jobs", type=int, default=1, metavar="N", help="play in N processes (default: 1)")
    add("--cassettes", type=Path, metavar="DIR", help="the folder of cassettes (default: the project's own)")
    add("--results", type=Path, metavar="DIR", help="where to write (default: reports/results of the project)")


def run(arguments: argparse.Namespace) -> int:
    """Play, and say of each model where its results stand; 1 where one could not be played."""
    # Imported here because the harness loads httpx and vcrpy, which the other verbs need not wait for.
    from conformance.suite.replay import recorded, replay

    cassettes = arguments.cassettes or folder("cassettes")
    results = arguments.results or folder("reports") / "results"
    wanted = recorded(cassettes, arguments.provider, arguments.model)
    played = replay(wanted, cassettes, results, arguments.jobs, _told)
    return int(any(each.problem for each in played))


def _told(each: "Replay") -> None:
    if each.problem:
        complain(f"{each.provider}, {each.model}: {each.problem}")
    else:
        print(f"{each.provider}, {each.model}: {each.path}", flush=True)
