"""What the proxy prints: a line for each finding, the table of a run under way, and the summary at its end."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tabulate import tabulate

from conformance.fidelity import Difference
from conformance.proxy.judging import Judged, RuleFinding
from conformance.proxy.layers import FieldChange
from conformance.proxy.tally import Tally
from conformance.reporting.text import Paint, plural, printable, shorten
from conformance.results import Level

_COLOURS: Final = {"MUST": "red", "SHOULD": "yellow", "MAY": "cyan"}
_HEADINGS: Final = ("model", "checked", "streamed", "conversations", *[level.value for level in Level])
_WIDTH: Final = 40
_MAX_ROWS: Final = 12
_MAX_REASONS: Final = 10
_MAX_CHANGES: Final = 50


def finding_line(judged: Judged, found: RuleFinding, tap: str, layer: str, paint: Paint) -> str:
    """Return the line of a finding: conversation, model, rule, level, and who has to fix it."""
    finding = found.finding
    level = paint(_COLOURS[finding.level], finding.level.value)
    who = layer or finding.side
    at_tap = f" at {printable(tap)}" if tap else ""
    model = f" ({printable(judged.exchange.model)})" if judged.exchange.model else ""
    where = printable(finding.at or "(root)")
    name = paint("bold", judged.conversation.name)
    return f"{name}{model}{at_tap}: {found.rule} {level} ({who}) at {where}: {printable(finding.message)}"


def more_line(judged: Judged, rule: str, count: int) -> str:
    """Return the line that stands for further findings of a rule in an exchange."""
    return f"{judged.conversation.name}: {rule}: and {plural(count, 'more finding')} in exchange {judged.number}"


def change_line(change: FieldChange) -> str:
    """Return the line of what a gateway does to a field."""
    return f"gateway: {printable(change.at)} {printable(change.what)}"


def loss_line(judged: Judged, loss: Difference, paint: Paint) -> str:
    """Return the line of what was lost on its way through the gateway or the client, with both places."""
    level, name = paint(_COLOURS[loss.level], loss.level.value), paint("bold", judged.conversation.name)
    places = f"{printable(loss.at)}, after it {printable(loss.became)}"
    return f"{name}: {loss.fact} {level} ({loss.by}) at {places}: {printable(loss.message)}"


def table(tally: Tally) -> str:
    """Return the table of a run under way."""
    rows = [_row(name, model) for name, model in sorted(tally.models.items())]
    shown = tabulate(rows[:_MAX_ROWS], headers=_HEADINGS, tablefmt="simple", disable_numparse=True)
    more = len(rows) - _MAX_ROWS
    lines = [shown, *([f"and {plural(more, 'more model')}"] if more > 0 else [])]
    counts = [plural(tally.open, "request") + " under way", f"{tally.unchecked.total():,} not checked"]
    if tally.dropped:
        counts.append(f"{tally.dropped:,} not checked for lack of time")
    return "\n".join([*lines, ", ".join(counts)])


def _row(name: str, model: Any) -> list[str]:
    counts = [model.exchanges.total(), model.exchanges["stream"], model.conversations]
    return [
        shorten(printable(name), _WIDTH),
        *[f"{each:,}" for each in (*counts, *[model.levels[each] for each in Level])],
    ]


def summary(
    tally: Tally, changes: Mapping[FieldChange, int], provider: str, written: Sequence[str], paint: Paint
) -> Iterator[str]:
    """Yield the lines of the summary; `written` are the folders that hold cassettes and results."""
    against = f" against {provider}" if provider else " against the canonical wire"
    conversations = sum(model.conversations for model in tally.models.values())
    yield f"{plural(tally.checked, 'exchange')} in {plural(conversations, 'conversation')} checked{against}"
    if tally.unchecked:
        yield f"{plural(tally.unchecked.total(), 'exchange')} not checked:"
        for reason, count in tally.unchecked.most_common(_MAX_REASONS):
            yield f"  {count:,} × {printable(reason)}"
        if len(tally.unchecked) > _MAX_REASONS:
            yield f"  and {plural(len(tally.unchecked) - _MAX_REASONS, 'other reason')}"
    if tally.dropped:
        yield f"{plural(tally.dropped, 'exchange')} passed faster than they could be checked, and were not"
    for what, count in sorted(tally.missing.items()):
        yield f"{plural(count, 'exchange')} passed without some {what}"
    yield from _changes(changes)
    yield _findings(tally, paint)
    if tally.known:
        each = ", ".join([f"{count:,} × {claim} ({rule})" for (claim, rule), count in tally.known.most_common()])
        yield f"known of {printable(provider)}: {each}"
    if set(tally.parts) - set(tally.sides):
        yield f"to fix: {', '.join([f'{count:,} × {printable(name)}' for name, count in tally.parts.most_common()])}"
    for rule, reason in sorted(tally.broken.items()):
        yield paint("red", f"rule {rule} raised {printable(reason)}; this is a bug in conformance")
    yield from written


def _changes(changes: Mapping[FieldChange, int]) -> Iterator[str]:
    if changes:
        yield f"the gateway changes {plural(len(changes), 'field')}:"
        for change, count in sorted(changes.items())[:_MAX_CHANGES]:
            yield f"  {printable(change.at)} {printable(change.what)} ({plural(count, 'exchange')})"


def _findings(tally: Tally, paint: Paint) -> str:
    levels = tally.levels
    if not tally.checked:
        return "nothing was checked"
    if not levels:
        return paint("green", "no findings")
    by_level = ", ".join([paint(_COLOURS[level], f"{levels[level]:,} {level}") for level in Level if levels[level]])
    by_side = ", ".join([f"{count:,} on the {side} side" for side, count in sorted(tally.sides.items()) if count])
    return f"findings: {by_level}; {by_side}"
