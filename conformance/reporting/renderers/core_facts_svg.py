"""The core facts of well-known providers as a picture, for the README: one table, readable on light and on dark pages.

It loads no font, script or image. What a value means for an agent is a colour and a mark, for those who see no colours.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from conformance.reporting.answers import Meaning, SubjectAnswer
from conformance.reporting.answers.providers import QUESTIONS, provider_answers
from conformance.reporting.answers.wires import titles
from conformance.reporting.matrix.table import Table, TableSubject
from conformance.reporting.text import plural, printable
from conformance.wire.native import CHAT

SHOWN: Final = (
    "anthropic.messages", "deepseek", "gemini.gemini", "groq", "llamacpp", "minimax", "mistral", "moonshot", "ollama",
    "openai", "openai.responses", "openrouter", "sglang", "vllm", "zai",
)  # fmt: skip
"""The providers in the picture: vendors, hosts, gateways and engines that many agents use, on chat completions or on
the API that they are known for; the matrix has all."""

_MARKS: Final = {Meaning.BREAKS: "✕", Meaning.BEWARE: "!", Meaning.UNKNOWN: "?", Meaning.WORKS: "✓"}
_WORDS: Final = {
    Meaning.WORKS: "as on the canonical wire",
    Meaning.BEWARE: "differs: handle it",
    Meaning.BREAKS: "breaks an agent that does not handle it",
    Meaning.UNKNOWN: "unknown",
}
_WIDTHS: Final = (152, 216, 188, 182, 152)
_ROW: Final = 44
_HEAD: Final = 36
_FOOT: Final = 34
_CHARACTER: Final = 6.2
"""The width of a character of a note, in pixels of a wide font."""

_STYLE: Final = """\
text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;font-size:13px;fill:#1f2328}
.head{font-weight:600}.note{font-size:11px;fill:#59636e}.line{stroke:#d1d9e0}.page{fill:#fff}
.breaks{fill:#ffdcd7}.beware{fill:#fff1b8}.works{fill:#d5f2dc}.unknown{fill:#eaeef2}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.note{fill:#a3adb8}.line{stroke:#3d444d}.page{fill:#0d1117}
.breaks{fill:#67211b}.beware{fill:#553f00}.works{fill:#123f22}.unknown{fill:#262c36}}"""


class ProviderRow(NamedTuple):
    """A provider with its answers, in the order of the questions; `api` is named unless it is chat completions."""

    title: str
    answers: Sequence[SubjectAnswer]
    api: str = ""


def publish(table: Table) -> Mapping[str, str]:
    """Return the file by its path."""
    subjects = {subject.name: subject for subject in table.subjects}
    answered = {each.subject: each.answers for each in provider_answers(table.inputs)}
    shown = [(subjects[name], answered[name]) for name in SHOWN if name in answered]
    return {
        "core-facts.svg": render([ProviderRow(each.provider_title, answers, _api(each)) for each, answers in shown])
    }


def render(rows: Sequence[ProviderRow]) -> str:
    """Return the picture: a row for each provider, a column for each fact."""
    width, height = sum(_WIDTHS), _HEAD + _ROW * len(rows) + _FOOT
    size = f'width="{width}" height="{height}"'
    space = 'xmlns="http://www.w3.org/2000/svg"'
    lines = [
        f'<svg {space} {size} viewBox="0 0 {width} {height}" role="img" aria-labelledby="t">',
        f'<title id="t">{escape(_spoken(rows))}</title>',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" {size}/>',
        *_heading(),
        *[line for number, row in enumerate(rows) for line in _row(row, _HEAD + number * _ROW)],
        *_legend(height - 12),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _api(subject: TableSubject) -> str:
    """Return the name of the API; empty for chat completions, and where the provider's title says it."""
    title = "" if subject.wire == CHAT else titles()[subject.wire]
    return "" if title == subject.provider_title else title


def _spoken(rows: Sequence[ProviderRow]) -> str:
    """Return the table as text, for readers who do not see it."""
    heads = [_plain(question.head) for question in QUESTIONS]
    read = ["; ".join(f"{head} {each.value}" for head, each in zip(heads, row.answers, strict=True)) for row in rows]
    named = [f"{row.title} ({row.api})" if row.api else row.title for row in rows]
    return ". ".join(f"{name}: {text}" for name, text in zip(named, read, strict=True))


def _heading() -> Iterator[str]:
    for head, left in zip(("Provider", *[_plain(each.head) for each in QUESTIONS]), _lefts(), strict=True):
        yield f'<text class="head" x="{left + 8}" y="23">{escape(head)}</text>'


def _row(row: ProviderRow, top: int) -> Iterator[str]:
    yield f'<line class="line" x1="0" x2="{sum(_WIDTHS)}" y1="{top}" y2="{top}"/>'
    yield f'<text class="head" x="8" y="{top + (20 if row.api else 27)}">{escape(printable(row.title))}</text>'
    if row.api:
        yield f'<text class="note" x="8" y="{top + 35}">{escape(row.api)}</text>'
    for answer, left, width in zip(row.answers, _lefts()[1:], _WIDTHS[1:], strict=True):
        note = _note(answer, int((width - 16) / _CHARACTER))
        middle = top + (20 if note else 27)
        box = f'x="{left + 2}" y="{top + 3}" width="{width - 4}" height="{_ROW - 6}" rx="5"'
        yield f'<rect class="{answer.meaning}" {box}/>'
        yield f'<text x="{left + 8}" y="{middle}">{_MARKS[answer.meaning]} {escape(printable(answer.value))}</text>'
        if note:
            yield f'<text class="note" x="{left + 8}" y="{top + 35}">{escape(printable(note))}</text>'


def _note(answer: SubjectAnswer, width: int) -> str:
    """Return what fits into a width and says most, whole: the models that differ, then the first note that fits."""
    shown = [*_differences(answer), *[note for note in answer.notes if not note.startswith("on ")]]
    return next((each for each in shown if len(each) <= width), "")


def _differences(answer: SubjectAnswer) -> Iterator[str]:
    """Yield what differs for some models, in ever fewer words."""
    if not answer.others:
        return
    worst = next((other for other in answer.others if other[1][:1].isdigit()), answer.others[0])
    models, value = worst
    short = [model.rpartition("/")[2].strip("*-") or model for model in models]
    count = sum(len(each) for each, _ in answer.others)
    yield from [f"on {', '.join(short)}: {value}"] if len(answer.others) == 1 else []
    yield f"on {short[0]}: {value}" if count == 1 else f"on {short[0]} and {count - 1} more: {value}"
    yield f"on {plural(count, 'model')}: {value}"
    yield f"differs on {plural(count, 'model')}"


def _legend(base: int) -> Iterator[str]:
    left = 8
    for meaning, words in _WORDS.items():
        text = f"{_MARKS[meaning]} {words}"
        yield f'<rect class="{meaning}" x="{left}" y="{base - 11}" width="14" height="14" rx="3"/>'
        yield f'<text class="note" x="{left + 20}" y="{base}">{escape(text)}</text>'
        left += 44 + 6 * len(text)


def _lefts() -> list[int]:
    return [sum(_WIDTHS[:number]) for number in range(len(_WIDTHS))]


def _plain(head: str) -> str:
    return head.replace("\u00ad", "")
