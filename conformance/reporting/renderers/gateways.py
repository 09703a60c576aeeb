"""The table of all gateways: facts by front and back, as a page of Markdown, with what was lost and where."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from conformance.gateways.loss import GatewayLoss, known, title
from conformance.reporting.gateway_cells import LOST, NOTHING, WORDS, by_gateway, cells, shown_losses
from conformance.reporting.text import code, markdown_table, plural, prose
from conformance.results.runs import Results

_SEP: Final = "; after it: "
_MAX_SHOWN: Final = 40

INTRODUCTION: Final = """\
Each gateway runs on this machine between a client of ours and a simulated provider, with nonces in every text, argument
and result. [The page with the four bodies of each cell](gateways.html) shows what was sent at both ends.
A cell says what becomes of a fact at one front before one back:
"""


Issues: TypeAlias = Mapping[str, Mapping[str, str]]
"""The issues in which a fault is known: by gateway with its version, then by fact."""

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


def render(
    many: Sequence[Results],
    unable: Sequence[tuple[str, str]] = (),
    issues: Issues = _NONE,
    notes: Mapping[str, str] = _NONE,
) -> str:
    """Return the page; `unable` are gateways that cannot run here, each with the reason, `notes` those of others."""
    return "\n".join(_lines(many, unable, issues, notes)) + "\n"


def _lines(
    many: Sequence[Results], unable: Sequence[tuple[str, str]], issues: Issues, notes: Mapping[str, str]
) -> Iterator[str]:
    yield from ("# Gateways", "", INTRODUCTION)
    yield markdown_table(["word", "meaning"], [[_marked(word), meaning] for word, meaning in WORDS.items()])
    yield ""
    for name, own in by_gateway(many).items():
        day = max([each.run.date for each in own], default="")
        yield from (f"## {prose(name)}", "", f"Run on {day}. {prose(notes.get(name, ''))}".strip(), "")
        found = [cells(each) for each in own]
        facts = [fact for fact in known() if any([each[fact].word != NOTHING for each in found])]
        rows = [[code(fact.partition("/")[2]), *[_marked(each[fact].word) for each in found]] for fact in facts]
        yield markdown_table(["fact", *[prose(f"{each.run.protocol} → {each.provider}") for each in own]], rows)
        yield ""
        yield from _details(own, issues.get(name, {}))
    if unable:
        yield from ("## Gateways that do not run here", "")
        yield markdown_table(["gateway", "reason"], [[prose(name), prose(reason)] for name, reason in unable])


def _marked(word: str) -> str:
    return f"**{word}**" if word == LOST else word


def _details(own: Sequence[Results], issues: Mapping[str, str]) -> Iterator[str]:
    """Yield what is lost, each fact once with the fronts and backs that lose it, one proof and its issue."""
    found: dict[str, list[GatewayLoss]] = {}
    for loss in shown_losses(own):
        found.setdefault(loss.outcome.rule, []).append(loss)
    for fact, same in sorted(found.items())[:_MAX_SHOWN]:
        first = min(same, key=lambda each: len(str(each.bodies)) or 10**9)
        text, _, became = first.finding.message.rpartition(_SEP)
        ends = ", ".join([f"{each.results.run.protocol} → {each.results.provider}" for each in same])
        cases = plural(sum([len(each.cases) for each in same]), "case")
        yield f"- {code(fact)}: {prose(title(fact))} Lost at {prose(ends)}, in {cases}. "
        yield f"  {code(first.case.name)}: {code(text)}, at {code(first.finding.at)} before and {code(became)} after."
        if fact in issues:
            yield f"  See <{issues[fact]}>."
    yield ""
