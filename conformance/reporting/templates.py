"""The Jinja templates of the published pages, which stand beside their renderers."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.reporting.text import cell, code, link, markdown_table, plural, printable, prose

if TYPE_CHECKING:
    from jinja2 import Environment


def render_template(template: str, /, **values: Any) -> str:
    """Return a page; `template` is its path below the renderers. HTML is escaped, Markdown is not."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> "Environment":
    # Imported here because only the published pages need it, and every start of the command line would pay for it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "renderers"),
        autoescape=select_autoescape(("html.j2",)),
        # A misspelt name must not become an empty place on a published page.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {each.__name__: each for each in (cell, code, link, plural, printable, prose)}
    environment.globals["table"] = markdown_table
    return environment
