"""A small set of inputs of the published reports, with one of everything that they show."""

from pathlib import Path

from conformance import profiles
from conformance.baseline import Entry
from conformance.reporting.matrix.table import Inputs
from conformance.results import Evidence, Finding, Level, Outcome, Refusal, Status
from conformance.results.runs import Case, ProbeResult, Results

DONE, FORMAT, RESENT = "stream/ends-with-done", "tool-calls/id-in-claimed-format", "reasoning/present-on-tool-turns"
ANSWERED = "loop/every-prompt-answered"

PROFILE = """\
title: "Example | of <a> host"
kind: host
base_url: https://api.example.com/v1
key: EXAMPLE_KEY
model: m-1
note: It takes *stars* as they are.
models:
  m-latest:
    lifecycle: {alias_of: m-1, since: 2026-01, until: 2026-09, source: {url: https://example.com/end, read: 2026-01}}
  m-0*:
    note: The first generation.
    claims:
      thinking.mode: {value: never, source: {url: https://example.com/old, read: 2026-01}, confidence: low}
  m-old:
    note: It is in no table of living models.
    lifecycle:
      - since: 2024-05
        until: 2025-12
        source: {url: https://example.com/end, read: 2026-01}
        note: Announced | early.
claims:
  ids.format:
    value: call_[0-9|]+
    source: {url: https://example.com/ids, read: 2026-01-02, quote: an id}
    confidence: high
  reasoning.request-field:
    value: reasoning_content
    source: {url: https://example.com/back, read: 2026-01}
    confidence: medium
  reasoning.omitted-on-tool-turn:
    value:
      status: 400
      message: The `reasoning_content` must be passed back.
      body: {error: {message: Provider returned error, metadata: {raw: '{{"message":"No \\"reasoning\\"."}}'}}}
    since: 2026-01
    source: [{url: https://example.com/back, read: 2026-01}, {inferred: a letter}]
    confidence: high
    note: Since the model thinks.
    disagrees: {value: accepted, source: {url: https://example.com/other, read: 2026-01}, note: One report.}
  results.missing: {value: unknown, source: {searched: 2026-01}, confidence: low}
  stream.done: {value: true, source: {url: https://example.com/stream, read: 2026-01}, confidence: high}
  thinking.mode: {value: default-on, source: {url: https://example.com/think, read: 2026-01}, confidence: high}
  thinking.on:
    value: {thinking: {type: enabled}}
    source: {url: https://example.com/think, read: 2026-01}
    confidence: high
  thinking.off: {value: impossible, source: {url: https://example.com/think, read: 2026-01}, confidence: high}
"""


def inputs(folder: Path) -> Inputs:
    """Return results of a provider, of a further model and of an adapter, with a calibration and a baseline entry."""
    path = folder / "example.yaml"
    path.write_text(PROFILE.replace("disagrees: {", "disagrees: [{").replace("One report.}", "One report.}]"))
    entries = (Entry(f"example:m-2/*/{DONE}", "It never sends *one*.", "https://example.com/bug"),)
    calibration = {
        "example": {
            "recordings": 4,
            "exchanges": ["0a", "1b", "2c", "3d"],
            "claims": [
                {"claim": "ids.format", "model": "", "value": "call_[0-9|]+", "confirmed": [0, 1, 3]},
                {"claim": "stream.done", "model": "", "value": True, "confirmed": [0], "contradicted": [1, 2]},
            ],
        }
    }
    return Inputs((_provider(), _further(), _adapter()), {"example": profiles.read(path)}, calibration, entries)


def _provider() -> Results:
    passed = Outcome(FORMAT, Status.PASSED, Level.MUST, 2)
    probes = (
        ProbeResult(
            "ids-empty",
            "A call has an empty id.",
            "request/tool-call-id-not-empty",
            Status.PASSED,
            "accepted",
            "accepted",
        ),
        ProbeResult("results-null", "A result is null.", "x/y", Status.NOT_APPLICABLE, "unknown", "accepted"),
    )
    return Results("example", "m-1", (Case("one-tool-call", "plain", Evidence.SIMULATED, (passed,), probes),))


def _further() -> Results:
    found = Finding(
        "/0/response", "expected `[DONE]`, got | the end", Level.MUST, excerpt='["{}"]', asked='{"role":"user"}'
    )
    broken = Outcome(DONE, Status.FAILED, Level.MUST, 1, (found,))
    departs = Outcome(
        FORMAT, Status.FAILED, Level.SHOULD, 1, (Finding("/0/response", "expected a, got b", Level.SHOULD),)
    )
    case = Case("one-tool-call", "stream", Evidence.ENGINE, (broken, departs))
    return Results("example", "m-2", (case,), versions={"server": "1.0"}, further=True)


def _adapter() -> Results:
    refusal = Refusal(400, "The `reasoning_content` must be passed back.")
    found = Finding(
        "/1/request/messages/1", "expected reasoning, got none", Level.MUST, refusal, '{"role":"assistant"}'
    )
    outcomes = (
        Outcome(ANSWERED, Status.PASSED, Level.MUST, 1),
        Outcome(RESENT, Status.FAILED, Level.MUST, 1, (found,)),
    )
    case = Case("agent-session", "plain", Evidence.SIMULATED, outcomes)
    return Results("an-sdk@1.0", "m-1", (case,), "example", {"an-sdk": "1.0"})
