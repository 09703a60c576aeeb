"""The part of the pytest plugin for `--evidence recorded`: checks the public recordings of a provider."""

from pathlib import Path
from typing import Final

import pytest

from conformance import profiles
from conformance.errors import ConformanceError
from conformance.evidence import recorded_run
from conformance.evidence.recorded_run import PLUGIN, RecordedRun
from conformance.reporting.matrix import cells
from conformance.reporting.renderers.run_end import links
from conformance.reporting.renderers.run_end import render as render_end
from conformance.reporting.renderers.terminal import render
from conformance.reporting.text import plural
from conformance.results import files
from conformance.suite.options import on_wire
from conformance.suite.pytest_config import MATRIX, width_of

SUITE: Final = Path(recorded_run.__file__).with_name("test_recordings.py")
"""The suite of the recordings."""


class RecordedPlugin:
    """Prints what does not conform, or the matrix, at the end of a run over recordings, and writes its results."""

    def __init__(self, run: RecordedRun, results: Path | None) -> None:
        self.run = run
        self._results = results

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the end of the run."""
        run, results = self.run, self.run.results()
        found, config = cells(results, run.profile), terminalreporter.config
        terminalreporter.write_line("")
        if config.getoption(MATRIX):
            terminalreporter.write_line(render(results, found, run.profile.title, width_of(config)))
        else:
            shown = links(results.subject, self._results)
            terminalreporter.write_line(render_end(results, found, shown, width_of(config)))
        altered = [each.recording for each in run.played if each.recording.fixture]
        fixtures = sum(not each.is_partial for each in altered)
        counted = plural(len(run.played) - fixtures, "recording")
        others = f"; {fixtures} more are changed or hand-written fixtures" if fixtures else ""
        terminalreporter.write_line(f"{counted} of the public index{others}.")

    def pytest_sessionfinish(self) -> None:
        """Write the results."""
        if self._results is not None:
            files.write(self._results, self.run.results())


def register(
    config: pytest.Config, provider: str, protocol: str, model: str, results: Path | None, *, strict: bool
) -> None:
    """Prepare a run over the recordings of a provider; raises pytest.UsageError, which says what to do."""
    try:
        profile = on_wire(profiles.load_profile(provider), protocol)
        run = RecordedRun(profile, model, strict=strict)
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(RecordedPlugin(run, results), PLUGIN)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = [str(SUITE)]
