"""What is not known of famous models, as a list to work through."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from conformance.reporting.matrix.table import Table
from conformance.reporting.text import code, plural, prose
from conformance.reporting.worklist import OpenQuestion, open_questions

_INTRODUCTION: Final = """\
# Open questions

The core facts that are unknown for models that many agents use. Each says when it was last searched, and which one
request would settle it. If you have a key, the first command below a model sends those requests alone, and writes a
file to contribute: [Contributing](../CONTRIBUTING.md). The second prints the requests that they depart from.

"""


def publish(_table: Table) -> Mapping[str, str]:
    """Return the file by its path."""
    return {"open-questions.md": "".join(render(tuple(open_questions())))}


def render(questions: tuple[OpenQuestion, ...]) -> Iterator[str]:
    """Yield the page in parts."""
    yield _INTRODUCTION
    for (provider, model), group in groupby(questions, key=lambda each: (each.provider, each.model)):
        held = list(group)
        yield f"## {prose(model)} at {prose(provider)}\n\n{plural(len(held), 'fact')}\n\n"
        yield f"```sh\n{_commands(provider, model)}\n```\n\n"
        yield from (_line(each) for each in held)
        yield "\n"


def _commands(provider: str, model: str) -> str:
    service, _, wire = provider.partition(".")
    protocol = f" --protocol={wire}" if wire else ""
    return (
        f"pytest --provider={service}{protocol} --model={model} --live --only-unknown --results=results\n"
        f'conformance prepare --ask "{service}{f", {wire}" if wire else ""}, {model}, tools, thinking on"'
    )


def _line(question: OpenQuestion) -> str:
    searched = f"nothing was found on {question.searched}" if question.searched else "its sources do not settle it"
    if question.depends:
        searched = "it depends on who replies"
    if not question.request:
        return f"- {code(question.claim)}: {searched}. Any reply with tool calls shows it.\n"
    return f"- {code(question.claim)}: {searched}. It is settled by: {prose(question.request)}\n"
