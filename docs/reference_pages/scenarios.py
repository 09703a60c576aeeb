"""The page of the scenarios and their probes, from the files that define them."""

from collections.abc import Iterator
from typing import Final

from conformance import scenarios
from conformance.reporting.text import code, markdown_table, plural, prose
from conformance.scenarios import Probe, Scenario

_INTRODUCTION = """\
# Scenarios

A scenario is a scripted conversation: what the user asks, what the model thinks, which tools it calls, and what it
says. A probe is one request of a scenario, sent again with one deviation, such as omitted reasoning. It shows what the
provider does with that deviation.

The suites play a scenario against a provider, and the simulator plays it to a client. Some scenarios are for clients
only, since no provider can be asked to misbehave as they script it. Others are for providers only: they compare replies
with what the requests fix, whatever the model says.
"""

_AUDIENCES: Final = {"clients": "a client only", "providers": "a provider only", "both": "a provider and a client"}


def page() -> str:
    """Return the page: a section for each scenario, those for both ends first."""
    every = map(scenarios.load, scenarios.names())
    loaded = sorted(every, key=lambda each: (each.audience != "both", each.for_clients, each.name))
    return "\n".join([_INTRODUCTION, *[line for each in loaded for line in _scenario(each)]])


def _scenario(scenario: Scenario) -> Iterator[str]:
    yield from (f"## {scenario.name}", "", prose(scenario.title), "")
    played = _AUDIENCES[scenario.audience]
    variants = " and ".join(scenario.variants)
    yield from (f"Tests {played}; replies are {variants}; {plural(len(scenario.turns), 'exchange')}.", "")
    if scenario.probes:
        yield from (markdown_table(("probe", "what is different", "rule that it breaks"), _rows(scenario)), "")


def _rows(scenario: Scenario) -> list[tuple[str, str, str]]:
    return [(code(each.name), prose(each.title), _rule(each)) for each in scenario.probes]


def _rule(probe: Probe) -> str:
    return f"[{probe.breaks}](rules.md#{probe.breaks.replace('/', '')})" if probe.breaks else "none; should be accepted"
