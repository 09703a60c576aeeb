"""Cassettes recorded anew: every case of a model, played against the simulator or the provider itself."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from conformance import profiles
from conformance.errors import Unusable
from conformance.results import Case, Evidence, Results
from conformance.suite.run import Options, Run
from conformance.transport.cassette import Shelf


def record(options: Options, told: Callable[[Case], None] = lambda _: None) -> Results:
    """Record every case of a model and return what came of them; each is told as soon as it is played.

    Cassettes of scenarios that there are no more are removed. Raises Unusable where a real provider's replies would
    be lost to simulated ones, and where the endpoint cannot be asked.
    """
    run = Run(replace(options, record=True))
    shelf = Shelf(options.cassettes, run.profile.name)
    entry = shelf.manifest().get(run.model)
    if entry is not None and entry.evidence is not Evidence.SIMULATED and not options.live:
        raise Unusable(
            f"the cassettes of {run.model} hold real replies ({entry.evidence}); add --live to record them anew"
        )
    try:
        for scenario, variant in run.cases():
            told(run.case(scenario, variant))
    finally:
        run.close()
    played = {case.name for case in run.results().cases if case.outcomes}
    for path in shelf.path(run.model, "x").parent.glob("*.yaml"):
        if path.stem not in played:
            path.unlink()
    return run.results()


def simulated_models(cassettes: Path) -> Iterator[tuple[str, str]]:
    """Yield each provider with its usual model and those that it has simulated cassettes of."""
    for name in profiles.names():
        entries = Shelf(cassettes, name).manifest()
        real = {model for model, entry in entries.items() if entry.evidence is not Evidence.SIMULATED}
        # An engine's cassettes stand in the place of those that were simulated for its profile.
        ran = any(entries[model].evidence is Evidence.ENGINE for model in real)
        usual = "" if ran else profiles.load(name).model
        for model in sorted({usual, *entries} - real - {""}):
            yield name, model
