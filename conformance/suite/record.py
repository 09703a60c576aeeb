"""Recording of cassettes: every case of a model, played against the simulator or the provider's API."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from conformance import profiles
from conformance.errors import Unusable
from conformance.results import Case, Evidence, Results
from conformance.suite.options import Options
from conformance.suite.run import Run
from conformance.transport.shelf import CassetteFolder


def record(
    options: Options, log: Callable[[Case], None] = lambda _: None, warn: Callable[[str], None] = lambda _: None
) -> Results:
    """Record every case of a model and return the results; each case is logged when it is done.

    The cassettes replace the old ones together in the end. Those of scenarios that no longer exist are removed. `warn`
    gets what was not recorded, and why. Raises Unusable if simulated replies would replace real ones, and if the
    endpoint cannot be used; it says then what can be resumed.
    """
    run = Run(replace(options, record=True))
    is_done = False
    try:
        for scenario, variant in run.cases():
            log(run.case(scenario, variant))
        is_done = True
    except Unusable as error:
        raise Unusable(f"{error}{resume_hint(run)}") from None
    finally:
        for line in warnings(run):
            warn(line)
        run.close(is_done=is_done)
    return run.results()


def warnings(run: Run) -> Iterator[str]:
    """Yield what a run did not record, and why."""
    for case, reason in run.left_out.items():
        yield f"{case} is not recorded: {reason}"
    if run.stopped:
        yield f"{run.stopped}{resume_hint(run)}"


def resume_hint(run: Run) -> str:
    """Return what was recorded before a run ended early, and how to go on; empty if there is nothing."""
    count = len(run.staged)
    return f"; {count} recorded cases wait, and no cassette has changed: add --resume to go on" if count else ""


def simulated_models(cassettes: Path) -> Iterator[tuple[str, str]]:
    """Yield each provider with its default model and every model that it has simulated cassettes of."""
    for name in profiles.names():
        entries = CassetteFolder(cassettes, name).manifest()
        real = {model for model, entry in entries.items() if entry.evidence is not Evidence.SIMULATED}
        # An engine's cassettes replace those that were simulated for its profile.
        ran = any(entries[model].evidence is Evidence.ENGINE for model in real)
        default = "" if ran else profiles.load(name).model
        for model in sorted({default, *entries} - real - {""}):
            yield name, model
