"""Record cassettes anew: of the simulator, or with --live and a key of the provider itself.

They are what `pytest --provider P` replays. The simulator's are the same every time: where claims, scenarios and
simulator have not changed, nothing does.
"""

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.errors import ConformanceError, Unusable

if TYPE_CHECKING:
    from conformance.results import Case
    from conformance.suite.run import Options

EXAMPLES: Final = """\
  conformance record --provider deepseek
  conformance record --provider deepseek --live --model deepseek-v4-pro
  conformance record --all"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    whom = parser.add_mutually_exclusive_group(required=True)
    whom.add_argument("--provider", metavar="P", help="whose cassettes; see `conformance list providers`")
    whom.add_argument("--all", action="store_true", help="those of every provider, simulated")
    parser.add_argument("--model", metavar="M", default="", help="the model to ask (default: the profile's own)")
    parser.add_argument("--live", action="store_true", help="ask the provider itself, with its key")
    parser.add_argument("--max-requests", metavar="N", type=int, help="send no more than so many with --live")
    parser.add_argument("--cassettes", metavar="DIR", default="", help="where they stand (default: the project's own)")
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes for --all (default: one a CPU)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Record, and say of each case or provider what came of it; 1 where a case could not be played to its end."""
    # Imported here because the harness loads httpx and vcrpy, which the other verbs need not wait for.
    from datetime import UTC, datetime
    from pathlib import Path

    from conformance.resources import folder
    from conformance.suite.run import Options

    cassettes = Path(arguments.cassettes) if arguments.cassettes else folder("cassettes")
    today = datetime.now(tz=UTC).date().isoformat()
    if arguments.all:
        if arguments.live or arguments.model:
            message = "--all records the simulator with each provider's own model; name a --provider for the rest"
            raise Unusable(message)
        return _all(Options("", cassettes, today), arguments.jobs)
    options = Options(
        arguments.provider,
        cassettes,
        today,
        model=arguments.model,
        live=arguments.live,
        max_requests=arguments.max_requests,
    )
    return _one(options)


def _one(options: "Options") -> int:
    from conformance.suite.record import record

    def told(case: "Case") -> None:
        print(f"{case.name}: {case.note or f'{len(case.probes)} probes'}", flush=True)

    results = record(options, told)
    broken = [case.name for case in results.cases if case.outcomes and case.note]
    print(f"{results.subject}, {results.model}: {len(results.cases) - len(broken)} of {len(results.cases)} cases")
    return int(bool(broken))


def _all(options: "Options", jobs: int) -> int:
    """Record every provider's cassettes, several at a time; one that cannot be recorded does not end the others."""
    from concurrent.futures import ProcessPoolExecutor

    from conformance.suite.record import simulated_models

    wanted = [*simulated_models(options.cassettes)]
    failed = 0
    with ProcessPoolExecutor(max(1, jobs)) as pool:
        told = pool.map(_quietly, [replace(options, provider=name, model=model) for name, model in wanted])
        for (name, model), problem in zip(wanted, told, strict=True):
            print(f"{name}, {model}: {problem or 'recorded'}", flush=True)
            failed += bool(problem)
    return int(bool(failed))


def _quietly(options: "Options") -> str:
    """Return what stood in the way of recording; errors do not cross processes."""
    from conformance.suite.record import record

    try:
        results = record(options)
    except ConformanceError as error:
        return str(error)
    return "; ".join([f"{case.name}: {case.note}" for case in results.cases if case.outcomes and case.note])
