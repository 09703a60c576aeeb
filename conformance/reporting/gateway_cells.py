"""What becomes of a fact at one front of a gateway before one back, in a word, with the exchange that shows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.fidelity.passages import Became, Pair, passages
from conformance.fidelity.spoken import Kind
from conformance.gateways.definition import profile_of
from conformance.gateways.loss import GatewayLoss, known, losses
from conformance.results import Level, Outcome, Status
from conformance.results.runs import Case, Results
from conformance.wire.exchange import Exchange
from conformance.wires import by_name

LOST: Final = "lost"
SAID: Final = "said"
KEPT: Final = "kept"
MAPPED: Final = "mapped"
REFUSED: Final = "refused"
NOTHING: Final = "–"

WORDS: Final[Mapping[str, str]] = {
    KEPT: "nothing was lost",
    MAPPED: "nothing was lost, and ids have other values at both ends",
    LOST: "lost or changed, in at least one case (MUST)",
    SAID: "changed or dropped in a way that is a SHOULD or a MAY",
    REFUSED: "the gateway refuses the request that tests it",
    NOTHING: "there was nothing to compare",
}

BODIES: Final = ("front/request", "back/request", "back/response", "front/response")
"""The four bodies in the order in which they pass."""

_IDS: Final = "gateway/ids-mapped"
_TESTED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "gateway/effort-kept": ("single/effort",),
    "gateway/images-kept": ("single/image", "single/image-in-result"),
    "gateway/parallel-switch-kept": ("single/parallel-off",),
    "gateway/reply-format-kept": ("single/reply-format",),
    "gateway/stop-texts-kept": ("single/stop-texts",),
    "gateway/temperature-kept": ("single/temperature",),
    "gateway/tool-choice-kept": ("single/tool-choice-named", "single/tool-choice-none", "single/tool-choice-required"),
    "gateway/top-p-kept": ("single/top-p",),
    "gateway/unknown-parameters-kept": ("single/unknown-parameter",),
}
"""The cases without which there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class GatewayCell:
    """What becomes of a fact: the word, the loss if there is one, and the case and its bodies that show it."""

    word: str
    loss: GatewayLoss | None = None
    case: str = ""
    bodies: Mapping[str, Any] | None = None


def by_gateway(many: Sequence[Results]) -> Mapping[str, Sequence[Results]]:
    """Return the results of each gateway with its version, in order."""
    found: dict[str, list[Results]] = {}
    for results in sorted(many, key=lambda each: each.name):
        found.setdefault(results.subject.partition(":")[0], []).append(results)
    return found


def cells(results: Results) -> Mapping[str, GatewayCell]:
    """Return the cell of each fact."""
    lost = {each.outcome.rule: each for each in losses(results)}
    found: dict[str, list[tuple[Case, Outcome]]] = {}
    for case in results.cases:
        for outcome in case.outcomes:
            found.setdefault(outcome.rule, []).append((case, outcome))
    return {fact: _cell(results, fact, found.get(fact, []), lost.get(fact)) for fact in known()}


def _cell(results: Results, fact: str, found: Sequence[tuple[Case, Outcome]], loss: GatewayLoss | None) -> GatewayCell:
    if loss is not None:
        failed = [outcome for _, outcome in found if outcome.status is Status.FAILED]
        is_lost = any([each.level is Level.MUST for each in failed])
        return GatewayCell(LOST if is_lost else SAID, loss, loss.case.name, loss.bodies)
    passed = [case for case, outcome in found if outcome.status is Status.PASSED]
    if passed:
        shown = next((each for each in passed if each.requests), None)
        if shown is None:
            return GatewayCell(KEPT)
        bodies = _first_bodies(shown)
        is_mapped = fact == _IDS and _has_other_ids(results, bodies)
        return GatewayCell(MAPPED if is_mapped else KEPT, None, shown.name, bodies)
    tests = _TESTED_BY.get(fact, ())
    refused = [case for case in results.cases if case.name.rpartition(".")[0] in tests and "(HTTP 4" in case.note]
    return GatewayCell(REFUSED if refused else NOTHING, None, refused[0].name if refused else "")


def _first_bodies(case: Case) -> Mapping[str, Any]:
    number = case.requests[0].exchange
    return {each.path.partition(" ")[0]: each.body for each in case.requests if each.exchange == number}


def _has_other_ids(results: Results, bodies: Mapping[str, Any]) -> bool:
    """Return whether a call has another id before the gateway than behind it."""
    pair = Pair(
        0,
        _exchange(results.run.protocol, bodies, "front"),
        (_exchange(profile_of(results.provider).wire, bodies, "back"),),
    )
    return any([_is_renamed(each) for passage in passages((pair,)) for each in passage.became(Kind.CALL)])


def _is_renamed(each: Became) -> bool:
    return each.after is not None and None not in (each.before.id, each.after.id) and each.before.id != each.after.id


def _exchange(wire: str, bodies: Mapping[str, Any], end: str) -> Exchange:
    own = by_name(wire)
    request, reply = bodies.get(f"{end}/request") or {}, bodies.get(f"{end}/response")
    url = f"http://{end}/v1{own.path(request)}"
    made = Exchange.of_plain(request, reply, 200, streamed=isinstance(reply, str), url=url)
    return made if wire == "chat" else own.translate_one(made)


def shown_losses(own: Sequence[Results]) -> Iterator[GatewayLoss]:
    """Yield the losses at MUST in all results of a gateway."""
    for results in own:
        for loss in losses(results):
            if loss.outcome.level is Level.MUST:
                yield loss
