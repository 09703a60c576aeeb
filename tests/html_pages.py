"""HTML pages of the matrix: one with everything that it can show, and one in which every text is hostile."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from conformance.profiles import Claim, Profile, Source
from conformance.reporting.matrix.table import Inputs, Table, table
from conformance.reporting.renderers import html
from conformance.results import Evidence, Finding, Level, Outcome, Refusal, Status
from conformance.results.runs import Case, Results
from tests.observations import DONE, inputs

ATTACK: Final = (
    "</script></style></dialog><script>document.title='owned'</script><!--<script>"
    "<img src=https://evil.example/x onerror=\"document.title='owned'\">$data &lt;b&gt;\u202e\x1b[31m\u2028"
)
ADDRESSES: Final = ("javascript:document.title='owned'", 'https://example.com/"onclick=x', "data:text/html,x", ATTACK)
_ATTACKED: Final = "stream.done"


def example(folder: Path) -> Table:
    """Return the table of the small example."""
    return table(inputs(folder))


def hostile(folder: Path) -> Table:
    """Return a table whose findings, refusals, names, versions, claims and sources all try to be markup."""
    given = inputs(folder)
    profile = _attacked(given.profiles["example"])
    found = Finding(ATTACK, ATTACK, Level.MUST, Refusal(400, ATTACK), ATTACK, ATTACK)
    case = Case("one-tool-call", "stream", Evidence.SIMULATED, (Outcome(DONE, Status.FAILED, Level.MUST, 1, (found,)),))
    adapter = Results(ATTACK, ATTACK, (case,), "example", {ATTACK: ATTACK})
    return table(Inputs((*given.results, adapter), {"example": profile}, given.calibration))


def _attacked(profile: Profile) -> Profile:
    sources = tuple([Source(address, ATTACK, ATTACK) for address in ADDRESSES])
    claim = Claim(_ATTACKED, ATTACK, versions=ATTACK, source=sources, confidence="high", note=ATTACK)
    claims = {**profile.claims, _ATTACKED: (claim,)}
    return replace(profile, title=ATTACK, claims=claims, _layers={}, _resolved={})


def write(folder: Path, made: Table) -> Path:
    """Write the page of a table and return its path."""
    path = folder / "matrix.html"
    path.write_text(html.render(made), "utf-8")
    return path
