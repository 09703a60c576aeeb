"""One loss of a gateway as results hold it: the fact, the smallest case that shows it, and its four bodies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance import fidelity
from conformance.errors import UnknownName, Unusable
from conformance.fidelity import GATEWAY_RULES
from conformance.results import Finding, Outcome, Status
from conformance.results.runs import Case, Results

_RULES_PAGE: Final = "https://github.com/wire-conformance/wire-conformance/blob/main/reports/rules.md"
_TITLES: Final = {
    fidelity.BACK_REQUEST_VALID: "What the gateway sends is what the provider accepts.",
    fidelity.FRONT_REPLY_VALID: "What the gateway replies is right on the client's wire.",
}


def title(fact: str) -> str:
    """Return what a fact says, in a sentence."""
    return _TITLES.get(fact) or fidelity.by_id()[fact].title


@dataclass(frozen=True, slots=True)
class GatewayLoss:
    """A fact that does not hold, with the case whose bodies were kept; `cases` are the names of all that show it."""

    results: Results
    case: Case
    outcome: Outcome
    cases: tuple[str, ...]

    @property
    def finding(self) -> Finding:
        """Return the finding that shows it."""
        kept = {str(each.exchange) for each in self.case.requests}
        return next((each for each in self.outcome.findings if each.at.split("/")[1] in kept), self.outcome.findings[0])

    @property
    def bodies(self) -> Mapping[str, Any]:
        """Return the four bodies, by `front/request`, `back/request`, `back/response` and `front/response`."""
        number = self.finding.at.split("/")[1]
        found = {each.path: each.body for each in self.case.requests if str(each.exchange) == number}
        return {path.partition(" ")[0]: body for path, body in found.items()}

    @property
    def status(self) -> int:
        """Return the status of the provider's reply; 200 if it was not kept."""
        paths = [each.path for each in self.case.requests if each.path.startswith("back/response ")]
        return int(paths[0].partition(" ")[2]) if paths else 200

    @property
    def back_path(self) -> str:
        """Return the path of the fact's place behind the gateway."""
        return self.finding.message.rpartition("; after it: ")[2]


def known() -> tuple[str, ...]:
    """Return the ids of all facts about gateways."""
    return (*[each.id for each in fidelity.load()], *GATEWAY_RULES)


def sources() -> Mapping[str, str]:
    """Return the URL of the source of each fact about gateways."""
    return {each.id: each.source.url for each in fidelity.load()} | dict.fromkeys(GATEWAY_RULES, _RULES_PAGE)


def losses(results: Results) -> Iterator[GatewayLoss]:
    """Yield the losses in results, one for each fact: that of a case whose bodies were kept."""
    found: dict[str, list[tuple[Case, Outcome]]] = {}
    for case in results.cases:
        for outcome in case.outcomes:
            if outcome.status is Status.FAILED:
                found.setdefault(outcome.rule, []).append((case, outcome))
    for rule in sorted(found):
        cases = tuple([case.name for case, _ in found[rule]])
        kept = [each for each in found[rule] if _shows(*each)]
        case, outcome = (kept or found[rule])[0]
        yield GatewayLoss(results, case, outcome, cases)


def _shows(case: Case, outcome: Outcome) -> bool:
    kept = {str(each.exchange) for each in case.requests}
    return any([finding.at.split("/")[1] in kept for finding in outcome.findings])


def find(many: Sequence[Results], name: str, fact: str, front: str = "", back: str = "") -> GatewayLoss:
    """Return the loss of a gateway that a fact finds, at the smallest case.

    Raises UnknownName for an unknown fact or gateway, and Unusable, with what it does lose, if the fact holds.
    """
    if fact not in known():
        raise UnknownName("fact about gateways", fact, known())
    own = [each for each in many if name in (each.subject.partition(":")[0], each.subject.partition("@")[0])]
    if not own:
        raise UnknownName("gateway in these results", name, {each.subject.partition("@")[0] for each in many})
    own = [each for each in own if front in ("", each.run.protocol) and back in ("", each.provider)]
    found = [each for results in own for each in losses(results)]
    fitting = [each for each in found if each.outcome.rule == fact]
    if not fitting:
        others = ", ".join(sorted({each.outcome.rule for each in found})) or "nothing"
        raise Unusable(f"{name} keeps what {fact} is about in these results; it breaks {others}")
    return min(fitting, key=lambda each: (len(str(each.bodies)) or 10**9, each.results.name))
