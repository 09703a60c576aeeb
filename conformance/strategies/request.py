"""Request bodies that a correct client sends: to any provider, or to one by its profile."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from conformance import profiles
from conformance.convert import egress
from conformance.profiles import rejects_or_damages
from conformance.scenarios import tool_definitions
from conformance.strategies.transcript import IDS, NAMES, REASONING, Message, transcripts

MODEL: Final = "example-model"
"""The model of a request without a provider."""

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
"""The claims about tool turns without reasoning: if one of these is rejected or corrupts, every turn has some."""

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
    """Return a strategy for request bodies that break no rule of level MUST.

    Without a `provider` they are valid by `schemas/canonical/request.json`. With one they are prepared from a
    transcript by the claims of its profile for the `model` (by default that of the profile): reasoning is on every
    tool turn if that is required, and there are no tools if they are not supported. `messages` draws the transcripts,
    by default those of `transcripts` that can be sent; `stream` is whether the reply is streamed, None for both.
    Raises UnknownName if there is no such provider.
    """
    if provider is None:
        return _bodies(MODEL, {}, transcripts(ids=_PORTABLE_IDS) if messages is None else messages, stream)
    profile = profiles.load_profile(provider)
    claims = profile.at(model or profile.model)
    conflicts = [entry["when"] for entry in _list(claims, "request.conflicts") if entry["verdict"] != "accepted"]
    bodies = _bodies(model or profile.model, claims, _accepted(claims) if messages is None else messages, stream)
    return bodies.filter(
        lambda body: not any(all(profiles.matches(condition, body) for condition in when) for when in conflicts)
    )


def _accepted(claims: Mapping[str, Any]) -> st.SearchStrategy[list[Message]]:
    """Return a strategy for transcripts from which egress can make messages that the provider does not reject."""
    lacking = any(rejects_or_damages(claims.get(name)) for name in _LACKING)
    return transcripts(
        ids=_PORTABLE_IDS,
        reasoning="text" if lacking else REASONING,
        max_calls=3 if _supports_tools(claims) else 0,
    )


def _supports_tools(claims: Mapping[str, Any]) -> bool:
    return claims.get("tools.supported") is not False and not rejects_or_damages(claims.get("thinking.with-tools"))


@st.composite
def _bodies(
    draw: st.DrawFn,
    model: str,
    claims: Mapping[str, Any],
    messages: st.SearchStrategy[list[Message]],
    stream: bool | None,  # noqa: FBT001 — a composite passes its arguments on by position
) -> dict[str, Any]:
    transcript = draw(messages)
    body: dict[str, Any] = {"model": model, "messages": egress.prepare(transcript, claims).messages}
    calls = any("tool_calls" in message for message in transcript)
    if calls or (_supports_tools(claims) and draw(st.booleans())):
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
    """Return the values of `tool_choice` that the provider accepts; all of them without claims."""
    if not claims:
        return [*_CHOICES.values()]
    rejected = [name for name in claims if name.startswith("thinking.with-") and rejects_or_damages(claims[name])]
    listed = _list(claims, "tools.choices")
    return [_CHOICES[kind] for kind in _CHOICES if kind in listed and not (kind in _FORCED and rejected)] or ["auto"]


def _list(claims: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = claims.get(name)
    return value if isinstance(value, list) else ()
