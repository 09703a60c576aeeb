"""What a run of the proxy has seen, in numbers and as results; its size does not grow with the traffic."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from conformance import rules
from conformance.fidelity import Difference
from conformance.observations.sights import digest
from conformance.profiles import Profile
from conformance.proxy.judging import Judged, RuleFinding
from conformance.results import TRAFFIC, Evidence, Finding, Level, Outcome, Status
from conformance.results.record import ExchangesDigest, RunRecord, package_version
from conformance.results.runs import Case, Results
from conformance.transport.client import SIMULATOR
from conformance.wire.views import Side

MAX_MODELS: Final = 100
"""How many models are counted each; further ones are counted together."""

OTHER_MODELS: Final = "other models"

CLIENT: Final = "client"
"""The subject of the results of whatever sent the requests."""

_MAX_FINDINGS: Final = 20
"""How many findings of a rule the results keep."""

_MAX_REASONS: Final = 200


@dataclass(slots=True)
class _Row:
    """One rule: how many exchanges it looked at, in how many it failed, and the first findings."""

    judged: int = 0
    failed: int = 0
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class ModelTally:
    """The exchanges with one model."""

    exchanges: Counter[str] = field(default_factory=Counter)
    """Checked exchanges, `plain` and `stream`."""

    conversations: int = 0
    levels: Counter[Level] = field(default_factory=Counter)
    rows: dict[tuple[str, str], _Row] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    digest: ExchangesDigest = field(default_factory=ExchangesDigest)


@dataclass(slots=True)
class Tally:
    """A whole run.

    `unchecked` counts exchanges by the reason why they were not checked; `sides` counts findings by the side that has
    to fix them. `broken`: what rules raised, by rule. `missing` counts exchanges by what of them did not pass.
    `parts` counts findings by the layer, or the part of a provider, that has to fix them, where that is known. `known`
    counts departures that claims of the provider describe, by claim and rule. `identifies`: whether exchanges are
    identified, as results need it.
    """

    models: dict[str, ModelTally] = field(default_factory=dict)
    unchecked: Counter[str] = field(default_factory=Counter)
    sides: Counter[str] = field(default_factory=Counter)
    broken: dict[str, str] = field(default_factory=dict)
    dropped: int = 0
    open: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)
    known: Counter[tuple[str, str]] = field(default_factory=Counter)
    identifies: bool = True

    @property
    def checked(self) -> int:
        """The number of checked exchanges."""
        return sum(each.exchanges.total() for each in self.models.values())

    @property
    def levels(self) -> Counter[Level]:
        """The number of findings by level."""
        return sum((each.levels for each in self.models.values()), Counter())

    def add(self, judged: Judged) -> None:
        """Count what was found in an exchange."""
        model = self._model(judged.exchange.model or "(no model)")
        variant = "stream" if judged.exchange.streamed else "plain"
        model.exchanges[variant] += 1
        if self.identifies:
            model.digest.add(digest(judged.exchange))
        model.conversations += not judged.number
        # One reply of a real endpoint is enough to make results live only if all are; the simulator proves nothing.
        if SIMULATOR in judged.exchange.headers.get("server", "") or variant not in model.evidence:
            is_simulated = SIMULATOR in judged.exchange.headers.get("server", "")
            model.evidence[variant] = Evidence.SIMULATED if is_simulated else Evidence.LIVE
        for rule in judged.applied:
            model.rows.setdefault((variant, rule), _Row()).judged += 1
        for found in judged.found:
            self._add_finding(model, variant, found, judged)
        for rule in {found.rule for found in judged.found}:
            model.rows[variant, rule].failed += 1
        self.broken |= dict(judged.broken)
        self.known.update(judged.known)

    def _add_finding(self, model: ModelTally, variant: str, found: RuleFinding, judged: Judged) -> None:
        finding = found.finding
        model.levels[finding.level] += 1
        self.sides[finding.side] += 1
        row = model.rows.setdefault((variant, found.rule), _Row(judged=1))
        if len(row.findings) < _MAX_FINDINGS:
            where = f"{finding.message} ({judged.conversation.name})"
            row.findings.append(Finding(finding.at, where, finding.level, side=finding.side))

    def add_loss(self, judged: Judged, loss: Difference) -> None:
        """Count what was lost on its way; it is a finding like those of the rules."""
        self._model(judged.exchange.model or "(no model)").levels[loss.level] += 1
        self.sides[loss.by] += 1
        self.parts[loss.by] += 1

    def add_parts(self, parts: Iterable[str]) -> None:
        """Count findings by what has to fix them."""
        self.parts.update(filter(None, parts))

    def add_unchecked(self, reason: str) -> None:
        """Count an exchange that could not be checked."""
        is_known = reason in self.unchecked or len(self.unchecked) < _MAX_REASONS
        self.unchecked[reason if is_known else "other reasons"] += 1

    def results(self, profile: Profile, today: str, host: str) -> Iterator[Results]:
        """Yield the results of each model, with a case for plain and one for streamed replies.

        `today` (ISO 8601) and `host`, the upstream's, go into the record of the run. Traffic has no cases to select.
        What the client did is not a result of the provider: it is that of an adapter with the name `client`.
        """
        for name, model in sorted(self.models.items()):
            further = name != profile.model
            seen = model.digest
            record = RunRecord(
                package_version(), today, profile.wire, host, requests=seen.count, exchanges=seen.hexdigest()
            )
            yield Results(profile.name, name, _cases(model, Side.PROVIDER), further=further, run=record)
            yield Results(CLIENT, name, _cases(model, Side.CLIENT), profile.name, further=further, run=record)

    def _model(self, name: str) -> ModelTally:
        if name not in self.models and len(self.models) >= MAX_MODELS:
            name = OTHER_MODELS
        return self.models.setdefault(name, ModelTally())


def _cases(model: ModelTally, side: Side) -> tuple[Case, ...]:
    return tuple([_case(model, variant, side) for variant in sorted(model.exchanges)])


def _case(model: ModelTally, variant: str, side: Side) -> Case:
    known = rules.by_id()
    rows = {rule: row for (kind, rule), row in sorted(model.rows.items()) if kind == variant}
    outcomes = tuple([_outcome(rule, row) for rule, row in rows.items() if known[rule].on.side is side])
    return Case(TRAFFIC, variant, model.evidence[variant], outcomes)


def _outcome(rule: str, row: _Row) -> Outcome:
    if not row.findings:
        return Outcome(rule, Status.PASSED, rules.by_id()[rule].level, row.judged)
    level = max((finding.level for finding in row.findings), key=lambda each: each.severity)
    return Outcome(rule, Status.FAILED, level, row.judged, tuple(row.findings))
