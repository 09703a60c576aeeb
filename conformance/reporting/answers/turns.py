"""What a provider does with requests that omit reasoning, in a word, and in which turns."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.profiles import UNKNOWN, rejects_or_damages, tolerates
from conformance.reporting.answers import Meaning

_CURRENT: Final = "reasoning.omitted-on-tool-turn"
_EARLIER: Final = "reasoning.omitted-on-earlier-tool-turn"
_PLAIN: Final = "reasoning.omitted-on-plain-turn"
_EMPTY: Final = "reasoning.empty-on-tool-turn"
_ALTERED: Final = "reasoning.altered"

UNSIGNED: Final = "signature.omitted"
"""The claim about a signature that is not sent back."""

TURNS: Final = (_CURRENT, _EARLIER, _PLAIN)
"""The claims about omitted reasoning, by turn."""


def omitted(claims: Mapping[str, Any]) -> tuple[str, Meaning, str, tuple[str, ...]]:
    """Return the worst handling of omitted reasoning, its meaning, its claim, and the turns in which it happens."""
    found = {name: claims.get(name, UNKNOWN) for name in TURNS}
    bad = [name for name, value in found.items() if rejects_or_damages(value)]
    if bad:
        return _word(found[bad[0]]), Meaning.BREAKS, bad[0], (_turns(bad, found), *_also(claims))
    unsigned = claims.get(UNSIGNED, UNKNOWN)
    if rejects_or_damages(unsigned):
        return _word(unsigned), Meaning.BREAKS, UNSIGNED, ("signatures of calls", *_also(claims))
    if tolerates(found[_CURRENT]):
        return str(found[_CURRENT]), Meaning.WORKS, _CURRENT, tuple(_also(claims))
    return UNKNOWN, Meaning.UNKNOWN, _CURRENT, tuple(_also(claims))


def _turns(bad: list[str], found: Mapping[str, Any]) -> str:
    if len(bad) == len(found):
        return "every turn"
    if _PLAIN in bad:
        return "plain turns" if len(bad) == 1 else "tool turns and plain turns"
    if _EARLIER in bad:
        return "every tool turn" if _CURRENT in bad else "earlier tool turns"
    return "current tool turn" + (", earlier ones unknown" if found[_EARLIER] == UNKNOWN else "")


def _also(claims: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is rejected or damaged if reasoning is emptied or changed."""
    for words, name in (("empty", _EMPTY), ("changed", _ALTERED)):
        value = claims.get(name, UNKNOWN)
        if rejects_or_damages(value):
            yield f"{words}: {_word(value)}"


def _word(value: Any) -> str:
    return str(value["status"]) if isinstance(value, Mapping) and "status" in value else str(value)
