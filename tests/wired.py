"""A provider that serves all four APIs, one that serves only Gemini's, and SDKs that were driven on them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from conformance import profiles
from conformance.profiles import Profile
from conformance.reporting.matrix.table import Inputs
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case, Results
from tests.observations import DONE, RESENT

WIRES: Final = ("chat", "gemini", "messages", "responses")

_SOURCE: Final = "source: {url: https://example.com/docs, read: 2026-11-02}, confidence: high"
_NATIVE: Final = f"""\
    claims:
      reasoning.response-field: {{value: reasoning_details, {_SOURCE}}}
      reasoning.request-field: {{value: reasoning_details, {_SOURCE}}}
"""
PROFILE: Final = f"""\
title: Wired
kind: gateway
base_url: https://api.example.com/v1
model: m-1
models:
  m-0: {{lifecycle: {{since: 2026-05, source: {{url: https://example.com/end, read: 2026-11-02}}}}}}
claims:
  reasoning.response-field: {{value: reasoning_content, {_SOURCE}}}
  reasoning.request-field: {{value: reasoning_content, {_SOURCE}}}
  reasoning.omitted-on-tool-turn: {{value: accepted, {_SOURCE}}}
protocols:
  messages:
{_NATIVE}      reasoning.omitted-on-tool-turn: {{value: {{status: 400, message: No}}, since: 2026-10, {_SOURCE}}}
  responses:
{_NATIVE}      reasoning.omitted-on-tool-turn: {{value: damaged, {_SOURCE}}}
  gemini:
{_NATIVE}      ids.unique-in-conversation: {{value: false, {_SOURCE}}}
"""
LONE: Final = f"""\
title: Lone
kind: vendor
base_url: https://lone.example.com
model: g-1
claims: {{}}
protocols:
  gemini:
{_NATIVE}"""


def profiles_of(folder: Path) -> dict[str, Profile]:
    """Return the profiles of all wires of both providers, by name."""
    (folder / "wired.yaml").write_text(PROFILE)
    (folder / "lone.yaml").write_text(LONE)
    wired, lone = (profiles.read(folder / f"{name}.yaml") for name in ("wired", "lone"))
    return {each.name: each for each in (wired, *wired.protocols.values(), *lone.protocols.values())}


def inputs(folder: Path) -> Inputs:
    """Return the inputs of reports with a subject for each wire, and two SDKs on some of them."""
    known = profiles_of(folder)
    own = [Results(name, each.model, (_case(RESENT, Status.PASSED),)) for name, each in known.items()]
    sdks = [
        Results("an-sdk@1.0", "m-1", (_case(RESENT, Status.PASSED),), "wired"),
        Results("an-sdk@1.0", "m-1", (_case(RESENT, Status.FAILED),), "wired.messages"),
        Results("other-sdk@2.0", "g-1", (_case(RESENT, Status.FAILED),), "lone.gemini"),
    ]
    return Inputs([*own, *sdks], known)


def of(given: Inputs, results: Sequence[Results]) -> Inputs:
    """Return the inputs with only some of the results."""
    named = {each.profile for each in results}
    known = {name: each for name, each in given.profiles.items() if name in named}
    return replace(given, results=results, profiles=known)


def case(scenario: str) -> Case:
    """Return a case in which a rule passes."""
    return replace(_case(RESENT, Status.PASSED), scenario=scenario)


def _case(rule: str, status: Status) -> Case:
    failed = (Finding("/1/request/messages/1", "expected a, got b", Level.MUST, excerpt="{}"),)
    outcomes = (
        Outcome(rule, status, Level.MUST, 1, failed if status is Status.FAILED else ()),
        Outcome(DONE, Status.PASSED, Level.MUST, 1),
    )
    return Case("one-tool-call", "plain", Evidence.SIMULATED, outcomes)
