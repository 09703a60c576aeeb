"""Bodies of requests that a well-behaved client sends: to nobody in particular, or to one provider by its profile."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from conformance import profiles
from conformance.convert import egress
from conformance.scenarios import tool_definitions
from conformance.strategies.transcript import IDS, NAMES, REASONING, Message, transcripts

MODEL: Final = "example-model"
"""The model of a request to no provider."""

_PORTABLE_IDS: Final = tuple([name for name in IDS if name not in ("colliding within a turn", "empty")])
_CHOICES: Final[Mapping[str, Any]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "named": {"type": "function", "function": {"name": NAMES[0]}},
}
_FORCED: Final = ("required", "named")
_LACKING: Final = (
    "reasoning.omitted-on-tool-turn",
    "reasoning.omitted-on-earlier-tool-turn",
    "reasoning.empty-on-tool-turn",
    "reasoning.null-on-tool-turn",
)
"""The claims about tool turns without reasoning: where one of these is refused or harmful, every turn has some."""

_PARAMETERS: Final = {
    "parallel_tool_calls": st.booleans(),
    "temperature": st.sampled_from([0, 0.5, 1]),
    "top_p": st.just(0.9),
    "seed": st.integers(0, 2**31 - 1),
    "stop": st.just("END") | st.just(["END"]),
}


def requests(
    *,
    provider: str | None = None,
    model: str = "",
    messages: st.SearchStrategy[list[Message]] | None = None,
    stream: bool | None = None,
) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy of request bodies that break no rule of level MUST.

    Without a `provider` they are valid by `schemas/canonical/request.json`. With one they are what `egress.prepare`
    makes of a transcript by what the provider's profile claims of the `model` (by default the profile's own), with
    reasoning on every tool turn where that is demanded, and no tools where none are taken. `messages` draws
    the transcripts, by default those of `transcripts` that may be sent; `stream` says whether the reply is to be
    streamed, None for both. Raises UnknownName for a provider that nobody has.
    """
    if provider is None:
        return _bodies(MODEL, {}, transcripts(ids=_PORTABLE_IDS) if messages is None else messages, stream)
    profile = profiles.load(provider)
    claims = profile.at(model or profile.model)
    conflicts = [each["when"] for each in _list(claims, "request.conflicts") if each["verdict"] != "accepted"]
    bodies = _bodies(model or profile.model, claims, _taken(claims) if messages is None else messages, stream)
    return bodies.filter(lambda body: not any(all(profiles.matches(each, body) for each in when) for when in conflicts))


def _taken(claims: Mapping[str, Any]) -> st.SearchStrategy[list[Message]]:
    """Return a strategy of the transcripts of which egress can make what a provider is not claimed to refuse."""
    lacking = any(_bites(claims, name) for name in _LACKING)
    return transcripts(
        ids=_PORTABLE_IDS,
        reasoning="text" if lacking else REASONING,
        max_calls=3 if _takes_tools(claims) else 0,
    )


def _takes_tools(claims: Mapping[str, Any]) -> bool:
    return claims.get("tools.supported") is not False and not _bites(claims, "thinking.with-tools")


@st.composite
def _bodies(
    draw: st.DrawFn,
    model: str,
    claims: Mapping[str, Any],
    messages: st.SearchStrategy[list[Message]],
    stream: bool | None,  # noqa: FBT001 — a composite hands on what it is given
) -> dict[str, Any]:
    transcript = draw(messages)
    body: dict[str, Any] = {"model": model, "messages": egress.prepare(transcript, claims)}
    calls = any("tool_calls" in message for message in transcript)
    if calls or (_takes_tools(claims) and draw(st.booleans())):
        body["tools"] = [tool_definitions()[name] for name in NAMES]
        body |= draw(st.fixed_dictionaries({}, optional={"tool_choice": st.sampled_from(_choices(claims))}))
    if stream is None:
        body |= draw(st.fixed_dictionaries({}, optional={"stream": st.booleans()}))
    else:
        body["stream"] = stream
    if body.get("stream") and draw(st.booleans()):
        body["stream_options"] = {"include_usage": True}
    return body if claims else body | draw(st.fixed_dictionaries({}, optional=_PARAMETERS))


def _choices(claims: Mapping[str, Any]) -> list[Any]:
    """Return the values of `tool_choice` that are claimed to be taken; every one where nothing is claimed at all."""
    if not claims:
        return [*_CHOICES.values()]
    refused = [name for name in claims if name.startswith("thinking.with-") and _bites(claims, name)]
    listed = _list(claims, "tools.choices")
    return [_CHOICES[kind] for kind in _CHOICES if kind in listed and not (kind in _FORCED and refused)] or ["auto"]


def _list(claims: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = claims.get(name)
    return value if isinstance(value, list) else ()


def _bites(claims: Mapping[str, Any], name: str) -> bool:
    """Say whether a deviation is claimed to be refused or to do harm."""
    return claims.get(name, "unknown") not in ("accepted", "ignored", "unknown")
