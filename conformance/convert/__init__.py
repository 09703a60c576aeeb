"""The reference converter: other message models to the canonical transcript and back, and the way to one provider.

`to_canonical` and `from_canonical` translate whole conversations. `prepare` makes the messages of a request that a
provider accepts; `parse_reply` turns its reply into the next message of the transcript.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance.convert import egress, ingress
from conformance.convert.dialects import INPUT, from_canonical, to_canonical
from conformance.convert.egress import Prepared
from conformance.documents.pointer import render
from conformance.errors import InvalidDocument
from conformance.profiles import Profile, resolve_profile
from conformance.schemas import SchemaError, validator
from conformance.wire import plain
from conformance.wire.assemble import Stream
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.losses import Converted, Loss

__all__ = ["Converted", "Loss", "Prepared", "from_canonical", "from_reply", "parse_reply", "prepare", "to_canonical"]

Provider: TypeAlias = Profile | str | Path | Mapping[str, Any] | None
"""A profile, its name or the path of its file, or the claims that hold; None stands for the canonical wire."""

_CANONICAL_WIRE: Final[Mapping[str, Any]] = {}


def prepare(
    messages: Sequence[Mapping[str, Any]] | Mapping[str, Any],
    profile: Provider = None,
    *,
    model: str | None = None,
    date: str = "",
    file: str = INPUT,
) -> Prepared:
    """Return the messages of a request that the provider accepts, made of a canonical transcript.

    `messages` is a list of messages as `schemas/canonical/transcript.json` describes it, or a request body with one;
    keys that are not canonical are allowed, and left out if the provider does not know them. `profile` is a Profile,
    a name such as "deepseek", the path of a YAML file, or a mapping of claims. `model` defaults to that of the body
    (empty: what holds for every model), `date`, an ISO 8601 day, to the last one on which the profile's sources were
    read. `file` is the name of the transcript in errors.

    `.messages` is a fresh list. `.notes` names every difference: a JSON Pointer into `messages`, the reason, and the
    claim behind it; `.unfixed` are those of what the provider is known to reject and could not be fixed. `.ids` maps
    the ids of calls back. Raises UnknownName if there is no such profile, InvalidDocument with the pointer if the
    transcript is not valid, and TypeError for a value that JSON cannot hold.

    >>> call = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    >>> turn = {"role": "assistant", "content": "", "reasoning_content": "Look.", "tool_calls": [call]}
    >>> result = {"role": "tool", "tool_call_id": "call_1", "content": "12:00"}
    >>> prepared = prepare([{"role": "user", "content": "Time?"}, turn, result], "mistral")
    >>> [message["tool_call_id"] == "call_1" for message in prepared.messages if message["role"] == "tool"]
    [False]
    >>> [(note.pointer, note.claim) for note in prepared.notes if note.claim.startswith("ids.")]
    [('/1/tool_calls/0/id', 'ids.input-pattern')]
    """
    given: Any = plain.plain(messages)
    body = given if isinstance(given, dict) else None
    transcript: Any = given if body is None else body.get("messages")
    at = "" if body is None else "/messages"
    for error in validator("canonical/transcript").errors(transcript):
        if not _is_fixable(error):
            raise InvalidDocument(error.message, file, None, at + render(error.place))
    name = model_of(body) if model is None else model
    prepared = egress.prepare(transcript, _claims(profile, name, date), contested=_contested(profile, name, date))
    return replace(prepared, notes=tuple([note._replace(pointer=at + note.pointer) for note in prepared.notes]))


def parse_reply(
    reply: Exchange | Mapping[str, Any] | Stream | str | bytes,
    profile: Provider = None,
    *,
    model: str | None = None,
    date: str = "",
) -> dict[str, Any]:
    """Return the canonical assistant message of a provider's reply, ready to be appended to the transcript.

    `reply` is an exchange, a response body, or the text or bytes of a body or an event stream. The first choice
    counts. `content` is a string; reasoning is under `reasoning_content`, whatever the provider calls it, and
    `reasoning_details` holds what is signed or encrypted; ids and arguments of tool calls are verbatim. The message is
    valid by `schemas/canonical/message.json`; `from_reply` names what it cannot hold. `profile` is what `prepare`
    takes; `model` and `date` default to those of the exchange. Raises UnknownName if there is no such profile, Unusable
    if the reply holds no message, such as an error, and TypeError for a value that JSON cannot hold.

    >>> message = {"role": "assistant", "content": "Noon.", "reasoning": "Look at the clock."}
    >>> parse_reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    {'role': 'assistant', 'content': 'Noon.', 'reasoning_content': 'Look at the clock.'}
    """
    message: dict[str, Any] = from_reply(reply, profile, model=model, date=date).value
    return message


def from_reply(
    reply: Exchange | Mapping[str, Any] | Stream | str | bytes,
    profile: Provider = None,
    *,
    model: str | None = None,
    date: str = "",
) -> Converted:
    """Return what `parse_reply` returns, and what of the reply it cannot hold.

    `.lost` points into the body, into the message if the reply is only that, or into the body that a stream amounts to.

    >>> call = {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    >>> from_reply({"role": "assistant", "content": None, "tool_calls": [call]}).lost
    (Loss(pointer='/tool_calls/0', reason='the wire has only calls of functions'),)
    """
    value: Any = reply
    if isinstance(reply, Exchange):
        value, date = reply.response, date or reply.date
        model = reply.model if model is None else model
    elif not isinstance(reply, Stream):
        value = plain.reply_body(reply)
    return ingress.convert(value, _claims(profile, model or "", date))


def _claims(profile: Provider, model: str, date: str) -> Mapping[str, Any]:
    if isinstance(profile, Mapping):
        return profile
    resolved = resolve_profile(profile)
    return _CANONICAL_WIRE if resolved is None else resolved.at(model, date)


def _contested(profile: Provider, model: str, date: str) -> Mapping[str, Any]:
    resolved = None if isinstance(profile, Mapping) else resolve_profile(profile)
    return _CANONICAL_WIRE if resolved is None else resolved.contested(model, date)


def _is_fixable(error: SchemaError) -> bool:
    """Return whether the fault is a key too many, or a list of calls that holds none."""
    return error.keyword == "additionalProperties" or (
        error.place[1:] == ("tool_calls",) and (error.got == "null" or error.keyword == "minItems")
    )
