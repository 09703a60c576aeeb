"""The words of results: levels, statuses, verdicts, kinds of evidence, and how notes and reasons begin."""

from enum import StrEnum


class Level(StrEnum):
    """The severity of a rule or finding: the keyword of its source."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"

    @property
    def severity(self) -> int:
        """Return 2 for MUST, 1 for SHOULD, 0 for MAY."""
        return _SEVERITIES[self]


_SEVERITIES = {Level.MUST: 2, Level.SHOULD: 1, Level.MAY: 0}


class Harm(StrEnum):
    """What a violation does to an agent, the worst first: it stops the loop, it loses content, or it is only form."""

    LOOP = "loop"
    CONTENT = "content"
    FORM = "form"

    @property
    def rank(self) -> int:
        """Return 1 for what stops a loop, 2 for what loses content, 3 for form."""
        return _RANKS[self]


_RANKS = {harm: rank for rank, harm in enumerate(Harm, 1)}


class Status(StrEnum):
    """The status of a check.

    `untested`: a scenario promised the check, but there was nothing to check. `errored`: the rule itself raised. That
    is a bug in this project, which no baseline covers.
    """

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"
    UNTESTED = "untested"
    ERRORED = "errored"


class Verdict(StrEnum):
    """What reports say of a fact.

    A provider's pass against the simulator is `declared`: it tests the suite, not the provider. An adapter's pass
    conforms, because the adapter itself is under test. `departs`: a SHOULD or MAY is not met. `breaks`: a MUST.
    `untested`: promised by a claim and not put to the test. `unknown`: nothing is claimed.
    """

    CONFORMS = "conforms"
    DECLARED = "declared"
    DEPARTS = "departs"
    BREAKS = "breaks"
    UNTESTED = "untested"
    ERRORED = "errored"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not applicable"


class Evidence(StrEnum):
    """Where an observation comes from; the kinds are never mixed.

    `live`: this run, a real endpoint. `recorded`: a cassette of a real endpoint. `engine`: a cassette of a real
    open-source server on a local machine. `simulated`: the project's own simulator playing a profile's claims.
    """

    LIVE = "live"
    RECORDED = "recorded"
    ENGINE = "engine"
    SIMULATED = "simulated"


NOT_PLAYED = "not played"
"""How the note of a case begins that does not apply: a claim rules out what it needs."""

INCONCLUSIVE = "inconclusive"
"""How the note of a case begins that has no result: the endpoint was busy or failed."""

UNREADABLE = "unreadable cassette"
"""How the note of a case begins that could not be replayed, because its cassette is broken or missing."""

ENDED_BY_MODEL = "ended before turn"
"""How the note of a case begins that the model ended early, as it may, by a call too few or too many."""

PUBLIC_RECORDINGS = "recorded"
"""What stands for the scenario in a case that sums up public recordings; their models and days differ."""

TRAFFIC = "traffic"
"""What stands for the scenario in a case that sums up what passed the proxy."""

NOTHING_TO_JUDGE = "nothing to judge"
"""How the reason of an outcome begins that is not applicable because its rule found no element to check."""
