"""Record cassettes, from the simulator or, with --live and a key, from the provider itself.

`pytest --provider=P` replays cassettes. Recording from the simulator is reproducible: the cassettes change only if
claims, scenarios or the simulator change.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance import artifacts
from conformance.arguments import PROVIDER_HELP, add_header, add_times, positive
from conformance.artifacts import Journal
from conformance.errors import ConformanceError, Unusable
from conformance.reporting.text import printable
from conformance.terminal import print_error

if TYPE_CHECKING:
    from conformance.results.runs import Case
    from conformance.suite.options import Options

EXAMPLES: Final = """\
  conformance provider record --provider deepseek
  conformance provider record --provider deepseek --live --model deepseek-v4-pro
  conformance provider record --provider ./gateway.yaml --live --header 'x-portkey-provider: openai'
  conformance provider record --all"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument(
        "--provider",
        metavar="PROVIDER",
        help=PROVIDER_HELP,
    )
    whose.add_argument("--all", action="store_true", help="every provider, from the simulator")
    add = parser.add_argument
    add("--model", metavar="MODEL", default="", help="the model to request (default: the one that the profile names)")
    add("--live", action="store_true", help="send the requests to the provider, with your key")
    add("--max-requests", metavar="N", type=int, help="send at most N requests with --live")
    add_header(parser)
    add_times(parser, "the whole recording with --live, which fails if it is over")
    add(
        "--cassettes",
        metavar="DIR",
        default="",
        help="where to write (default: cassettes; required outside a checkout)",
    )
    add("--resume", action="store_true", help="go on with a recording that was interrupted")
    add(
        "--jobs",
        metavar="N",
        type=positive,
        default=os.cpu_count() or 1,
        help="processes (default: one per CPU)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each case or provider; return 1 if a case could not be finished."""
    # Imported here because these modules load httpx and vcrpy, which --help does not need.
    from datetime import UTC, datetime

    from conformance.processes import unwinding_on_signals
    from conformance.resources import checkout_folder
    from conformance.suite.options import Options, headers_of

    if arguments.header and not arguments.live:
        raise Unusable("--header is for requests to a provider; add --live")
    if arguments.cassettes:
        cassettes = Path(arguments.cassettes)
    else:
        cassettes = checkout_folder("cassettes", "--cassettes DIR is required")
    today = datetime.now(tz=UTC).date().isoformat()
    if arguments.all:
        if arguments.live or arguments.model:
            message = "--all records every provider from the simulator; use --provider with --live and --model"
            raise Unusable(message)
        return _record_all(Options("", cassettes, today, resume=arguments.resume), arguments.jobs)
    options = Options(
        arguments.provider,
        cassettes,
        today,
        model=arguments.model,
        live=arguments.live,
        max_requests=arguments.max_requests,
        request_timeout=arguments.request_timeout,
        max_time=arguments.max_time,
        resume=arguments.resume,
        headers=headers_of(arguments.header),
    )
    with unwinding_on_signals():
        return _record_one(options)


def _record_one(options: "Options") -> int:
    from conformance.suite.cassettes import record

    def log(case: "Case") -> None:
        print(printable(f"{case.name}: {case.note or f'{len(case.probes)} probes'}"), flush=True)

    warnings: list[str] = []

    def warn(line: str) -> None:
        warnings.append(line)
        print_error(line)

    results = record(options, log, warn)
    broken = len([case for case in results.cases if _is_broken(case)])
    print(f"{results.subject}, {results.model}: {len(results.cases) - broken} of {len(results.cases)} cases")
    return int(bool(broken or warnings))


def _is_broken(case: "Case") -> bool:
    """Return True if a case was not played to its end; one that the claims rule out is complete."""
    from conformance.results import NOT_PLAYED

    return bool(case.note) and not case.note.startswith(NOT_PLAYED)


def _record_all(options: "Options", jobs: int) -> int:
    """Record the cassettes of every provider in several processes; one that fails does not stop the others."""
    from conformance.processes.workers import in_order, worker_pool
    from conformance.suite.cassettes import simulated_models

    journal = Journal(options.cassettes / ".recording.json", resume=options.resume)
    wanted = [each for each in simulated_models(options.cassettes) if "/".join(each) not in journal.done]
    failed = 0
    with artifacts.locked(options.cassettes), worker_pool(max(1, jobs)) as pool:
        problems = in_order(pool, _problem, [replace(options, provider=name, model=model) for name, model in wanted])
        for (name, model), problem in zip(wanted, problems, strict=True):
            print(printable(f"{name}, {model}: {problem or 'recorded'}"), flush=True)
            failed += bool(problem)
            if not problem:
                journal.add(f"{name}/{model}")
    if not failed:
        journal.clear()
    return int(bool(failed))


def _problem(options: "Options") -> str:
    """Record one provider and return what went wrong, as text because errors are not passed between processes."""
    from conformance.suite.cassettes import record

    warnings: list[str] = []
    try:
        results = record(options, warn=warnings.append)
    except ConformanceError as error:
        return "; ".join([str(error), *warnings])
    return "; ".join([*warnings, *(f"{case.name}: {case.note}" for case in results.cases if _is_broken(case))])
