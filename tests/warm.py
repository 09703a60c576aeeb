"""Loads what every run of the suites loads; `tests.forks` imports this module in the process that it forks."""

from conformance import cli, profiles, pytest_output, pytest_results, rules, scenarios, schemas
from conformance.reporting.renderers import run_end
from conformance.suite import cassettes, rehearsal, run
from conformance.transport import client

LOADED = (
    *(cli, pytest_output, pytest_results, client, cassettes, rehearsal, run, run_end),
    rules.load(),
    [scenarios.load(name) for name in scenarios.names()],
    profiles.vocabulary(),
    schemas.validator("canonical/error-shapes#/$defs/openai"),
)
