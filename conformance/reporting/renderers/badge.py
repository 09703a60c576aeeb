"""Badges: how many checks conform, as SVG or for shields.io.

Passes that only the simulator shows are called "declared", never "conforms".
"""

from collections.abc import Callable, Mapping
from typing import Final
from xml.sax.saxutils import escape

import orjson

from conformance.reporting.matrix.counts import CheckCounts
from conformance.reporting.text import printable

_GREEN, _RED, _BLUE, _GREY = "#2c7a34", "#b3261e", "#1f5f99", "#5c5c5c"
"""Dark enough for white text: a contrast of at least 4.5 to 1, as WCAG 2.2 requires for small text."""

_HEIGHT: Final = 20
_PADDING: Final = 6
_NARROW: Final = "iljtf.,:;|!'()[] "
_WIDE: Final = "mwMW@%"
_WIDTHS: Final = {"narrow": 4.0, "usual": 6.6, "capital": 7.9, "wide": 10.5, "foreign": 11.0}
"""Width in pixels of characters of Verdana at 11 pixels, rounded up."""


def message(counts: CheckCounts) -> str:
    """Return the text of a badge."""
    return _message(counts)[0]


def render_svg(counts: CheckCounts, label: str, link: str = "") -> str:
    """Return a self-contained SVG badge: it loads no font, script or style, and its title has the whole text.

    `link` is the address of the page that it leads to where it is opened or embedded as an object; an image in a page
    needs a link around it.
    """
    text, colour = _message(counts)
    shown = [_escaped(each) for each in (label, text)]
    left, right = (_width(printable(each)) for each in (label, text))
    opening, closing = (f'<a href="{_escaped(link)}">\n', "</a>\n") if link else ("", "")
    title = f"{shown[0]}: {shown[1]}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" '
        f'aria-label="{title}">\n'
        f"<title>{title}</title>\n{opening}"
        f'<rect width="{left}" height="{_HEIGHT}" fill="{_GREY}"/>\n'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{colour}"/>\n'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f'<text x="{left / 2:g}" y="14">{shown[0]}</text>\n'
        f'<text x="{left + right / 2:g}" y="14">{shown[1]}</text>\n'
        f"</g>\n{closing}</svg>\n"
    )


def render_shields(counts: CheckCounts, label: str, _link: str = "") -> str:
    """Return a badge for shields.io, which takes links apart; source: https://shields.io/badges/endpoint-badge."""
    text, colour = _message(counts)
    shown = {"schemaVersion": 1, "label": label, "message": text, "color": colour}
    return orjson.dumps(shown | ({"isError": True} if counts.fails else {}), option=orjson.OPT_APPEND_NEWLINE).decode()


FORMATS: Final[Mapping[str, Callable[[CheckCounts, str, str], str]]] = {"svg": render_svg, "shields": render_shields}


def _escaped(text: str) -> str:
    return escape(printable(text), {'"': "&quot;"})


def _message(counts: CheckCounts) -> tuple[str, str]:
    """Return the text and colour of a badge: green if all observed checks conform, blue if all are only declared."""
    declared = f"{counts.declared} declared" if counts.declared else ""
    if not counts.observed:
        return (declared, _BLUE) if declared else ("nothing checked", _GREY)
    observed = f"{counts.conforms} of {counts.observed} conform"
    return ", ".join([observed, declared] if declared else [observed]), _RED if counts.fails else _GREEN


def _width(text: str) -> int:
    return round(sum(_WIDTHS[_kind(each)] for each in text)) + 2 * _PADDING


def _kind(character: str) -> str:
    if not character.isascii():
        return "foreign"
    if character in _NARROW:
        return "narrow"
    if character in _WIDE:
        return "wide"
    return "capital" if character.isupper() else "usual"
