"""Discovered claims as the YAML file of a profile."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.discovery.discovering import Discovery
from conformance.discovery.wires import max_tokens
from conformance.observations.collected import ObservedClaim
from conformance.wire.native import CHAT

_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_PLAIN: Final = re.compile(r"[a-z][a-z0-9._/-]*[a-z0-9]")
_WORDS: Final = frozenset({"true", "false", "null"})


def profile_text(title: str, base_url: str, key: str, found: Sequence[Discovery], day: str) -> str:
    """Return the file of a profile: the first model's claims hold for all, those of others where they differ."""
    return "\n".join([*_lines(title, base_url, key, found, day), ""])


def _lines(title: str, base_url: str, key: str, found: Sequence[Discovery], day: str) -> Iterator[str]:
    first, *others = found
    yield f"# Written by `conformance provider discover` on {day}, from what the endpoint answered."
    yield f"title: {quoted(title)}"
    yield "kind: host"
    yield f"base_url: {quoted(base_url)}"
    if key:
        yield f"key: {quoted(key)}"
    yield f"model: {quoted(first.model)}"
    if first.wire == CHAT:  # Its claims stand at the top of a profile, those of other wires in sections.
        yield from _of_models(first, others, day)
        return
    yield f"max_tokens: {max_tokens(first.wire)}"
    yield "claims: {}"
    yield "protocols:"
    yield f"  {first.wire}:"
    yield from (f"    {line}" for line in _of_models(first, others, day))


def _of_models(first: Discovery, others: Sequence[Discovery], day: str) -> Iterator[str]:
    """Yield the claims about the first model, which hold for all, and before them those of others that differ."""
    differing = [(each, _differing(each, first)) for each in others]
    if any(claims for _, claims in differing):
        yield "models:"
    for each, claims in differing:
        if claims:
            yield f"  {quoted(each.model)}:"
            yield "    claims:"
            yield from (f"      {line}" for line in _claims(claims, each.open, day))
    yield "claims:" if first.claims or first.open else "claims: {}"
    yield from (f"  {line}" for line in _claims({**dict.fromkeys(first.open), **first.claims}, first.open, day))


def _differing(other: Discovery, first: Discovery) -> dict[str, ObservedClaim | None]:
    """Return the claims of a model that are not those of the first one; None for those that are unknown."""
    known: dict[str, ObservedClaim | None] = {**dict.fromkeys(other.open), **other.claims}
    return {name: each for name, each in known.items() if _value(each) != _value(first.claims.get(name))}


def _value(found: ObservedClaim | None) -> Any:
    return None if found is None else [found.value]


def _claims(claims: Mapping[str, ObservedClaim | None], why: Mapping[str, str], day: str) -> Iterator[str]:
    for name, found in sorted(claims.items()):
        yield f"{name}:"
        if found is None:
            yield "  value: unknown"
            yield f"  source: {{searched: {day}}}"
            yield "  confidence: low"
            yield f"  note: {quoted(why.get(name, ''))}"
            continue
        yield f"  value: {quoted(found.value)}"
        yield f"  source: {{exchange: {quoted(found.digest)}, read: {day}}}"
        yield f"  confidence: {found.confidence}"
        if found.note:
            yield f"  note: {quoted(found.note)}"


def quoted(value: Any) -> str:
    """Return a value as YAML on one line: a plain word, or JSON, which YAML includes."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value not in _WORDS:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"
