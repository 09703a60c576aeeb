"""The answer to `prepare --ask`: the requests, their fields and what is missing of the wish, as JSON and as text."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any, Final

from conformance.profiles import Profile
from conformance.reporting.asked.fields import FieldClaim, SentField, fields, sent_bodies, url
from conformance.reporting.asked.requests import Sample, Wish
from conformance.reporting.bodies import body_lines
from conformance.reporting.text import shorten
from conformance.suite.unknowns import open_claims
from conformance.wire.native import CHAT
from conformance.wires import by_name

_VALUE: Final = 48
"""How many characters of a value the table shows; JSON has all."""

_CANONICAL: Final = "as on the canonical wire; nothing is claimed of it"


def answer(found: Sample, profile: Profile, wish: Wish) -> dict[str, Any]:
    """Return all of an answer as JSON values."""
    bodies = zip((found.first, found.second), sent_bodies(found, profile), strict=True)
    first, second = ({"url": url(profile, each), "body": body} for each, body in bodies)
    native = found.before.native
    return {
        "provider": profile.name,
        "model": profile.model,
        "wire": profile.wire,
        "wish": {"tools": wish.tools, "parallel": wish.parallel, "thinking": wish.thinking, "stream": wish.stream},
        "first": first,
        "reply": found.before.response if native is None else native.response,
        "second": second,
        "fields": [_field(each) for each in fields(found, profile, wish)],
        "missing": [each._asdict() for each in found.shortfalls],
        "open": [str(each) for each in open_claims(profile, profile.model)],
    }


def lines(found: Sample, profile: Profile, wish: Wish) -> Iterator[str]:
    """Yield the lines of an answer: both requests as JSON, and a table of their fields."""
    first, second = sent_bodies(found, profile)
    title = by_name(profile.wire).title
    yield f"{profile.service}, {profile.model or 'any model'}, {title}: {_wished(wish)}"
    for shortfall in found.shortfalls:
        yield f"{'problem' if shortfall.is_refused else 'note'}: {shortfall.text} ({shortfall.claim})"
    for name, canonical, body in (("First", found.first, first), ("Second", found.second, second)):
        yield from ("", f"{name} request: POST {url(profile, canonical)}")
        yield from [line.text for line in body_lines(body)]
    yield from ("", "Fields: what is sent, and the claim, value, date, confidence and source behind it")
    rows = fields(found, profile, wish)
    cells = {id(claim): _cells(claim) for row in rows for claim in row.claims}
    widths = [max([len(row[number]) for row in cells.values()], default=0) for number in range(4)]
    for row in rows:
        yield f"  {', '.join(row.pointers) or '(left out)'}: {row.sent}"
        if not row.claims and row.sent != profile.model:
            yield f"    {_CANONICAL}"
        for claim in row.claims:
            *columns, source = cells[id(claim)]
            aligned = "  ".join([text.ljust(width) for text, width in zip(columns, widths, strict=True)])
            yield f"    {aligned}  {source}".rstrip()
            yield from [f"      another source says {each.value}: {each.source}" for each in claim.others]
            yield from [f"      {claim.choice}"] if claim.choice else []
    if still_open := open_claims(profile, profile.model):
        yield from ("", f"Open of the core facts: {', '.join(map(str, still_open))}.")
        yield f"With a key, a few requests settle them: {_command(profile)}"
    yield from ("", "The first reply is the simulator's: ids, signatures and texts in the second request are examples.")


def _command(profile: Profile) -> str:
    wire = "" if profile.wire == CHAT else f" --protocol={profile.wire}"
    model = f" --model={quote(profile.model)}" if profile.model else ""
    return f"pytest --provider={quote(profile.service)}{wire}{model} --live --only-unknown --results DIR"


def _wished(wish: Wish) -> str:
    calls = "parallel calls" if wish.parallel else "tools" if wish.tools else "no tools"
    thinking = {True: "thinking on", False: "thinking off", None: "thinking as the provider has it"}[wish.thinking]
    return f"{calls}, {thinking}, {'streamed' if wish.stream else 'plain'}"


def _cells(claim: FieldClaim) -> tuple[str, ...]:
    value = shorten(" ".join(claim.value.split()), _VALUE)
    source = "; ".join(claim.sources[:1]) + (f" and {len(claim.sources) - 1} more" if len(claim.sources) > 1 else "")
    return claim.name, value, claim.read or "undated", claim.confidence, source


def _field(field: SentField) -> Mapping[str, Any]:
    return {"pointers": field.pointers, "sent": field.sent, "claims": [_claim(claim) for claim in field.claims]}


def _claim(claim: FieldClaim) -> Mapping[str, Any]:
    return claim._asdict() | {"others": [each._asdict() for each in claim.others]}
