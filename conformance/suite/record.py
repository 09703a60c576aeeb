"""Recording of cassettes: every case of a model, played against the simulator or the provider's API."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from conformance import profiles
from conformance.results import Evidence
from conformance.results.runs import Case, Results
from conformance.suite import subjects
from conformance.suite.options import Options
from conformance.suite.run import Run
from conformance.transport.shelf import CassetteFolder


def record(
    options: Options, log: Callable[[Case], None] = lambda _: None, warn: Callable[[str], None] = lambda _: None
) -> Results:
    """Record every case of a model and return the results; each case is logged when it is done.

    The cassettes replace the old ones together in the end. Those of scenarios that no longer exist are removed. `warn`
    gets what was not recorded, why, and what can be resumed. Raises Unusable if simulated replies would replace real
    ones, and if the endpoint cannot be used.
    """
    run = Run(replace(options, record=True))
    is_done = False
    try:
        for scenario, variant in run.cases():
            log(run.case(scenario, variant))
        is_done = True
    finally:
        for line in warnings(run, is_done=is_done):
            warn(line)
        run.close(is_done=is_done)
    return run.results()


def warnings(run: Run, *, is_done: bool) -> Iterator[str]:
    """Yield what a run did not record, why, and how to go on if it ended early."""
    for case, reason in run.left_out.items():
        yield f"{case} is not recorded: {reason}"
    if run.stopped:
        yield run.stopped
    if run.staged and (run.stopped or not is_done):
        yield f"no cassette has changed; cases recorded so far: {len(run.staged)}; to go on, add --resume"


def simulated_models(cassettes: Path) -> Iterator[tuple[str, str]]:
    """Yield each provider with its default model and every model that it has simulated cassettes of."""
    for name in subjects.names():
        entries = CassetteFolder(cassettes, name).manifest()
        real = {model for model, entry in entries.items() if entry.evidence is not Evidence.SIMULATED}
        # An engine's cassettes replace those that were simulated for its profile.
        ran = any(entries[model].evidence is Evidence.ENGINE for model in real)
        default = "" if ran else profiles.load(name).model
        for model in sorted({default, *entries} - real - {""}):
            yield name, model
