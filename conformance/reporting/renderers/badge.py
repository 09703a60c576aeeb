"""Badges: what was seen to conform, in a word, as SVG or for shields.io.

What only the simulator played says "declared" and never "conforms".
"""

from collections.abc import Callable, Mapping
from typing import Final
from xml.sax.saxutils import escape

import orjson

from conformance.reporting.matrix.counts import Standing
from conformance.reporting.text import printable

_GREEN, _RED, _BLUE, _GREY = "#2c7a34", "#b3261e", "#1f5f99", "#5c5c5c"
"""Dark enough for white text: a contrast of 4.5 to 1 and more, as WCAG 2.2 asks of small text."""

_HEIGHT: Final = 20
_PADDING: Final = 6
_NARROW: Final = "iljtf.,:;|!'()[] "
_WIDE: Final = "mwMW@%"
_WIDTHS: Final = {"narrow": 4.0, "usual": 6.6, "capital": 7.9, "wide": 10.5, "foreign": 11.0}
"""Width in pixels of characters of Verdana at 11 pixels, rounded up."""


def render_svg(standing: Standing, label: str) -> str:
    """Return a badge as SVG that stands alone: no font, script or style is fetched, and its title says all."""
    message, colour = _message(standing)
    shown = [escape(printable(text), {'"': "&quot;"}) for text in (label, message)]
    left, right = (_width(printable(text)) for text in (label, message))
    title = f"{shown[0]}: {shown[1]}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" '
        f'aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<rect width="{left}" height="{_HEIGHT}" fill="{_GREY}"/>\n'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{colour}"/>\n'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f'<text x="{left / 2:g}" y="14">{shown[0]}</text>\n'
        f'<text x="{left + right / 2:g}" y="14">{shown[1]}</text>\n'
        "</g>\n</svg>\n"
    )


def render_shields(standing: Standing, label: str) -> str:
    """Return what shields.io makes a badge of; source: https://shields.io/badges/endpoint-badge."""
    message, colour = _message(standing)
    shown = {"schemaVersion": 1, "label": label, "message": message, "color": colour}
    return orjson.dumps(
        shown | ({"isError": True} if standing.fails else {}), option=orjson.OPT_APPEND_NEWLINE
    ).decode()


FORMATS: Final[Mapping[str, Callable[[Standing, str], str]]] = {"svg": render_svg, "shields": render_shields}


def _message(standing: Standing) -> tuple[str, str]:
    """Return what a badge says and its colour: green for what was seen to conform whole, blue for mere declarations."""
    declared = f"{standing.declared} declared" if standing.declared else ""
    if not standing.seen:
        return (declared, _BLUE) if declared else ("nothing judged", _GREY)
    seen = f"{standing.conforms} of {standing.seen} conform"
    return ", ".join([seen, declared] if declared else [seen]), _RED if standing.fails else _GREEN


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
