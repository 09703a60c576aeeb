"""Recording of cassettes: every case of a model, played against the simulator or the provider's API."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from conformance import profiles
from conformance.errors import Unusable
from conformance.results import Case, Evidence, Results
from conformance.suite.options import Options
from conformance.suite.run import QUESTION_CASE, Run
from conformance.transport.cassette import CassetteFolder


def record(options: Options, log: Callable[[Case], None] = lambda _: None) -> Results:
    """Record every case of a model and return the results; each case is logged when it is done.

    Cassettes of scenarios that no longer exist are removed. Raises Unusable if simulated replies would replace real
    ones, and if the endpoint cannot be used.
    """
    run = Run(replace(options, record=True))
    cassettes = CassetteFolder(options.cassettes, run.profile.name)
    entry = cassettes.manifest().get(run.model)
    if entry is not None and entry.evidence is not Evidence.SIMULATED and not options.live:
        raise Unusable(
            f"the cassettes of {run.model} hold real replies ({entry.evidence}); add --live to record them again"
        )
    try:
        for scenario, variant in run.cases():
            log(run.case(scenario, variant))
    finally:
        run.close()
    played = {case.name for case in run.results().cases if case.outcomes}
    if run.answer is not None:
        played.add(QUESTION_CASE)
    for path in cassettes.path(run.model, "x").parent.glob("*.yaml"):
        if path.stem not in played:
            path.unlink()
    return run.results()


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
