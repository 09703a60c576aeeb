"""A provider in words: what it is called, where it is, and the key behaviours that its page shows."""

from collections.abc import Iterator

from conformance import profiles
from conformance.profiles import UNKNOWN, Profile
from conformance.profiles.files import is_path
from conformance.profiles.naming import aliases_of
from conformance.reporting.best_known import best_known
from conformance.reporting.matrix.key_behaviours import KEY_BEHAVIOURS
from conformance.reporting.matrix.sentences import describe, handlings
from conformance.reporting.text import labelled
from conformance.results.calibration import calibration_of
from conformance.suite.options import on_wire
from conformance.wire.native import CHAT

_KINDS = {
    "vendor": "serves its own models",
    "host": "serves models made by others",
    "gateway": "passes requests on to hosts",
    "engine": "is a server program",
    "specification": "is a specification that servers follow",
}


def explained(name: str, width: int) -> Iterator[str]:
    """Yield the lines about a provider, on its first wire and for its default model; long ones are wrapped."""
    named = profiles.load_profile(name)
    # Some vendors speak wires of their own alone.
    profile = on_wire(named, "")
    yield from (f"{named.name} (provider)", *labelled("", f"{named.title} {_KINDS.get(named.kind, '')}", width), "")
    yield f"url     {profile.base_url or 'differs for each customer or server'}"
    yield f"model   {named.model or 'none; name one with --model'}"
    if named.key:
        yield f"key     {named.key}"
    if named.extends:
        yield f"extends {', then '.join(named.extends)}"
    yield f"wires   {', '.join(named.wires)}"
    called = () if is_path(name) else aliases_of(named.name)
    if called:
        yield from labelled("called", ", ".join(called), width, 0, 6)
    if profile.note or named.note:
        yield from ("", *labelled("", profile.note or named.note, width))
    yield from _behaviours(profile, named.model, width)
    words = [f"{word.capitalize()}: {text}." for word, text in handlings()]
    yield from ("", *labelled("", f"{' '.join(words)} Anything not listed matches the canonical wire.", width))
    reference = named.reference
    yield from ("", f"all claims, with their sources: conformance explain claims --provider {reference}")


def _behaviours(profile: Profile, model: str, width: int) -> Iterator[str]:
    """Yield the key behaviours by topic, with their values in words; then what was looked for and not found."""
    unknown = []
    calibration = calibration_of(profile)
    about = "" if profile.wire == CHAT else f", on the wire {profile.wire}"
    yield from ("", f"Key behaviours for agent loops{about}")
    for topic, behaviours in KEY_BEHAVIOURS.items():
        held = [(each.title, profile.claim(each.claim, model)) for each in behaviours]
        unknown += [title for title, claim in held if claim is not None and claim.value == UNKNOWN]
        known = [(title, claim) for title, claim in held if claim is not None and claim.value != UNKNOWN]
        if known:
            yield f"  {topic}"
        for title, claim in known:
            text = " ".join(describe(claim.name, claim.value, _quoted).split())
            seen = best_known(calibration, profile, claim.name, model)
            text += f" ({seen})" if seen else ""
            contested = " (contested by another source)" if claim.disagrees else ""
            origin = f" (from {claim.origin})" if claim.origin else ""
            yield from labelled(f"{title}:", f"{text}{contested}{origin}", width, 4)
    if unknown:
        yield from ("", *labelled("Unknown:", ", ".join(unknown), width))


def _quoted(text: str) -> str:
    # The terminal has no markup; a text with backticks of its own is clearer without more.
    return f"`{text}`" if "`" not in text else f'"{text}"'
