"""What is wrong with a profile although its file is valid: claims that exclude each other, or that change nothing."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.profiles.claims import UNKNOWN, UPSTREAM, Claims, Histories, Profile, rejects_or_damages

_NO_TEXT: Final = ("none", ["none"])
_NEEDS_THINKING: Final = (
    "reasoning.omitted-on-tool-turn",
    "reasoning.omitted-on-earlier-tool-turn",
    "reasoning.omitted-on-plain-turn",
    "reasoning.empty-on-tool-turn",
    "reasoning.null-on-tool-turn",
)
_REASONS: Final = (
    "finish.with-calls",
    "finish.with-calls-in-stream",
    "finish.with-named-tool-choice",
    "finish.with-required-tool-choice",
    "finish.with-truncated-call",
)
_EXCLUDED: Final[tuple[tuple[str, Any, str, Any], ...]] = (
    ("tools.supported", False, "tools.parallel", True),
    ("tools.parallel", False, "ids.unique-in-reply", True),
    ("stream.done", False, "stream.after-done", True),
    ("stream.done", False, "stream.error-then-done", True),
    ("thinking.mode", "never", "thinking.with-tools", None),
    ("ids.unique-in-conversation", True, "ids.numbering", "turn"),
    ("error.param-type", "absent", "error.shape", "openai"),
)
"""Values of two claims that exclude each other; None is any refusal."""


class Contradiction(NamedTuple):
    """Claims that cannot hold together, for a model (empty: for all), and why."""

    model: str
    claims: tuple[str, ...]
    message: str


def contradictions(profile: Profile) -> tuple[Contradiction, ...]:
    """Return the claims of one section that exclude each other on the last day of the profile's sources.

    A model section may differ from the claims for all models in one claim alone, and leave what it makes pointless.
    """
    apart = {name for model in profile.models for name in model.claims}
    # What a model's own section changes may resolve what seems to contradict for all models.
    general = [each for each in _of("", _held(profile.claims, profile.as_of)) if not apart & set(each.claims)]
    sections = [each for model in profile.models for each in _of(model.name, _held(model.claims, profile.as_of))]
    return (*general, *sections)


def _held(histories: Histories, day: str) -> Claims:
    return {name: claim.value for name, history in histories.items() for claim in history if claim.holds(day)}


def unchanged(own: Histories, base: Profile) -> tuple[str, ...]:
    """Return the claims for all models that a base makes in the same way already."""
    return tuple([name for name, history in own.items() if _values(history) == _values(base.claims.get(name, ()))])


def _values(history: Any) -> list[tuple[Any, str, str]]:
    return [(claim.value, claim.since, claim.until) for claim in history]


def _of(model: str, claims: Claims) -> Iterator[Contradiction]:
    known = {name: value for name, value in claims.items() if value not in (UNKNOWN, UPSTREAM)}
    for left, value, right, other in _EXCLUDED:
        if known.get(left) == value and _is(known.get(right), other):
            message = f"{left}: {_word(value)} and {right}: {_word(known[right])} exclude each other"
            yield Contradiction(model, (left, right), message)
    yield from _of_thinking(model, known)
    yield from _of_fields(model, known)
    yield from _of_lists(model, known)


def _of_thinking(model: str, known: Mapping[str, Any]) -> Iterator[Contradiction]:
    mode = known.get("thinking.mode")
    if mode == "never":
        for name in _NEEDS_THINKING:
            if rejects_or_damages(known.get(name)):
                yield Contradiction(
                    model, ("thinking.mode", name), f"thinking.mode: never, so {name} cannot be refused"
                )
    for when, name in (("never", "thinking.on"), ("always", "thinking.off")):
        if mode == when and isinstance(known.get(name), Mapping):
            yield Contradiction(model, ("thinking.mode", name), f"thinking.mode: {when}, so {name} is impossible")


def _of_fields(model: str, known: Mapping[str, Any]) -> Iterator[Contradiction]:
    read = known.get("reasoning.request-field")
    for field in read if isinstance(read, list) else [read]:
        name = f"reasoning.input.{field}"
        if isinstance(known.get(name), Mapping):
            message = f"reasoning.request-field: {field} is read from a field that {name} refuses"
            yield Contradiction(model, ("reasoning.request-field", name), message)
    required = "reasoning.omitted-on-tool-turn"
    if read in _NO_TEXT and isinstance(known.get(required), Mapping):
        message = f"reasoning.request-field: none, so {required} cannot be refused"
        yield Contradiction(model, ("reasoning.request-field", required), message)
    if known.get("reasoning.response-field") in _NO_TEXT:
        for name in ("reasoning.details.types", "reasoning.details.formats"):
            if known.get(name):
                message = f"reasoning.response-field: none, so {name} lists what never occurs"
                yield Contradiction(model, ("reasoning.response-field", name), message)


def _of_lists(model: str, known: Mapping[str, Any]) -> Iterator[Contradiction]:
    reasons: Any = known.get("finish.reasons")
    for name in _REASONS if isinstance(reasons, list) else ():
        missing = [each for each in _listed(known.get(name)) if each not in reasons]
        if missing:
            message = f"{name}: {', '.join(missing)} is not in finish.reasons"
            yield Contradiction(model, ("finish.reasons", name), message)
    accepted = known.get("tools.choices")
    obeyed = _listed(known.get("tools.choices-obeyed")) if isinstance(accepted, list) else []
    more = [each for each in obeyed if each not in (accepted or ())]
    if more:
        message = f"tools.choices-obeyed: {', '.join(more)} is not in tools.choices"
        yield Contradiction(model, ("tools.choices", "tools.choices-obeyed"), message)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _is(value: Any, wanted: Any) -> bool:
    return isinstance(value, Mapping) if wanted is None else bool(value == wanted)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "refused" if isinstance(value, Mapping) else str(value)
