"""What the hosts that serve a model do with a request, where nothing but the model is known.

A request without a URL is portable or not, which the canonical wire answers; whether it *works* depends on where it is
sent, and the hosts known to serve its model are the places where it can be.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from conformance.judge import judge_by_models
from conformance.profiles import load, naming
from conformance.results import Finding, Level
from conformance.rules import Rule
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side

_MAX_RULES: Final = 8
_ERROR: Final = 400


class RefusedByHosts(NamedTuple):
    """What a rule found at a place, and which hosts reject a request for it, each with its finding."""

    rule: str
    by: Mapping[str, Finding]

    @property
    def finding(self) -> Finding:
        """Return the finding of the first host, which is the vendor if it is among them."""
        return next(iter(self.by.values()))


class Served(NamedTuple):
    """A model, its hosts on the wire of the request in order, its vendor first, and what some of them reject.

    `vendor` is empty if the model has none that serves it. `answered`: whether the requests were answered where they
    were sent, whichever host that is.
    """

    model: str
    vendor: str
    hosts: tuple[str, ...]
    refused: tuple[RefusedByHosts, ...]
    answered: bool = False

    @property
    def refusing(self) -> tuple[str, ...]:
        """Return the hosts that reject the request."""
        met = {host for each in self.refused for host in each.by}
        return tuple([host for host in self.hosts if host in met])

    @property
    def line(self) -> str:
        """Say how many hosts reject the request: `deepseek-v4-flash: refused by 3 of the 9 hosts known to serve it`."""
        many = f"{len(self.hosts)} hosts" if len(self.hosts) > 1 else "host"
        return f"{self.model}: refused by {len(self.refusing) or 'none'} of the {many} known to serve it"


def judge_by_model(conversation: Conversation, rules: Sequence[Rule], as_of: str = "") -> Served | None:
    """Return what the hosts do that serve the model of a conversation; None if it names none or several.

    The conversation is translated. Only hosts that a profile describes on its wire count.
    """
    models = {each.model for each in conversation if each.request is not None and each.model}
    wires = {each.protocol for each in conversation}
    if len(models) != 1 or len(wires) != 1:
        return None
    (model,), (wire,) = models, wires
    day = as_of or max(each.date for each in conversation)
    hosts = {name: own for name, own in naming.serving(model, day).items() if wire in load(name).wires}
    if not hosts:
        return None
    served = [(load(name), own) for name, own in hosts.items()]
    judgements = judge_by_models(conversation, served, claimed_rules(tuple(rules)), as_of)
    found = refusals(zip(hosts, [each.found() for each in judgements], strict=True))
    return Served(model, naming.vendor_of(model), tuple(hosts), found, all(map(_is_answered, conversation)))


def _is_answered(exchange: Exchange) -> bool:
    """Return whether a host accepted a request: it has a reply that is no error."""
    if exchange.status is not None:
        return exchange.status < _ERROR
    return exchange.response is not None and not (isinstance(exchange.response, dict) and "error" in exchange.response)


def refusals(found: Iterable[tuple[str, Iterable[Any]]]) -> tuple[RefusedByHosts, ...]:
    """Return what hosts reject, by rule and place, of the outcomes that each of them has."""
    met: dict[tuple[str, str], dict[str, Finding]] = {}
    for host, outcomes in found:
        for outcome in outcomes:
            for finding in outcome.findings:
                if finding.refusal is not None and finding.level is Level.MUST and finding.side == Side.CLIENT:
                    met.setdefault((outcome.rule, finding.at), {}).setdefault(host, finding)
    return tuple([RefusedByHosts(rule, by) for (rule, _), by in met.items()])


@lru_cache(maxsize=_MAX_RULES)
def claimed_rules(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Return the rules about requests that depend on claims: all others find the same at every host."""
    return tuple([rule for rule in rules if rule.reads and rule.on.side == Side.CLIENT])


def as_outcomes(served: Served, outcomes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what hosts reject as outcomes of a report, which all have one level; findings there already name them.

    It is a SHOULD if the vendor or most hosts reject the request, since then it works hardly anywhere or not at its
    source; otherwise a MAY, and so is what was accepted where it was sent.
    """
    is_news = not served.answered and (served.vendor in served.refusing or 2 * len(served.refusing) > len(served.hosts))
    level = Level.SHOULD if is_news else Level.MAY
    known = {outcome["rule"]: outcome for outcome in outcomes}
    added: dict[str, dict[str, Any]] = {}
    for refused in served.refused:
        answers = {"hosts": [_answer(host, finding) for host, finding in refused.by.items()]}
        there = [each for each in known.get(refused.rule, {}).get("findings", ()) if each["at"] == refused.finding.at]
        for each in there:
            each.update(answers)
        if not there:
            of = f"{len(refused.by)} of the {len(served.hosts)} hosts known to serve {served.model}"
            message = f"{refused.finding.message}; refused by {of}"
            about: dict[str, Any] = {
                "at": refused.finding.at,
                "message": message,
                "level": level.value,
                "side": Side.CLIENT.value,
            }
            about["rank"] = refused.finding.harm.rank
            outcome = added.setdefault(refused.rule, _outcome(refused.rule, level))
            outcome["findings"].append(about | answers)
            outcome["judged"] += 1
    return list(added.values())


def _outcome(rule: str, level: Level) -> dict[str, Any]:
    return {"rule": rule, "status": "failed", "level": level.value, "judged": 0, "findings": []}


def _answer(host: str, finding: Finding) -> dict[str, Any]:
    refusal = finding.refusal
    shown: dict[str, Any] = {"provider": host}
    if refusal is not None:
        shown["status"] = refusal.status
        shown |= {"message": refusal.message} if refusal.message else {}
    return shown
