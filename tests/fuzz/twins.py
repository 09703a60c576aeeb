"""A reply as one body and as the stream that adds up to it, which the rules judge alike."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from conformance.results import Outcome, Status
from conformance.schemas import validator
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from tests.fuzz import wired

OWN: Final[Mapping[str, str]] = {
    "http/body-is-object-or-stream": "an empty list of candidates is a reply, but no event",
    "native/reply-shape": "the events of a stream have schemas of their own",
    "response/choice-index-zero": "in a stream, a second number is taken for one choice that is split in two",
    "response/finish-reason-matches-tool-calls": "some providers are known to end streams for another reason",
    "shape/choice": "chunks have a schema of their own",
    "shape/request": "the twins ask for different things",
    "shape/response": "chunks have a schema of their own",
    "tool-calls/id-in-claimed-format": "providers are known to have another format in streams",
}
"""Rules that find something else in a stream, and why."""


def both(wire: str, request: Any, reply: Mapping[str, Any]) -> tuple[Exchange, Exchange]:
    """Return an exchange with a reply, and the one with its stream."""
    made = []
    for streams in (False, True):
        asked = _asking(wire, request, streams=streams)
        response = wired.stream_text(wired.streamed(wire, reply)) if streams else reply
        url = wired.url_of(wire, asked, streams=streams)
        made.append(Exchange(asked, response, 200, streams, url=url))
    return made[0], made[1]


def _asking(wire: str, request: Any, *, streams: bool) -> Any:
    """Return a request that asks for a stream or not; on one wire, the URL says it."""
    if not isinstance(request, dict) or wire == "gemini":
        return request
    more = {"stream_options": {"include_usage": True}} if wire == CHAT and streams else {}
    rest = {name: each for name, each in request.items() if name != "stream_options"}
    return {**rest, "stream": streams, **more}


def are_comparable(wire: str, reply: Mapping[str, Any]) -> bool:
    """Return whether a stream can say what a reply says: bodies of another shape are judged by other schemas."""
    known = "canonical/response" if wire == CHAT else f"wires/{wire}/reply"
    choices = reply.get("choices" if wire == CHAT else "candidates", [])
    indexes = [each.get("index") if isinstance(each, dict) else None for each in choices]
    return not validator(known).errors(reply) and len(set(indexes)) == len(indexes) and _is_within_64_bits(reply)


def _is_within_64_bits(value: Any) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def differences(plain: Sequence[Outcome], streamed: Sequence[Outcome]) -> list[str]:
    """Return the rules that find something in one form only, of those that look at something in both.

    Words are not compared: they quote the wire, and a stream quotes a part of it.
    """
    return [
        f"{one.rule}: plain {_words(one)}, streamed {_words(other)}"
        for one, other in zip(plain, streamed, strict=True)
        if one.judged and other.judged and one.rule not in OWN and _fails(one) != _fails(other)
    ]


def _fails(outcome: Outcome) -> bool:
    return outcome.status is Status.FAILED


def _words(outcome: Outcome) -> list[str]:
    return sorted({each.message for each in outcome.findings})
