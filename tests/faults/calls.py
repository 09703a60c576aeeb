"""Faults of tool calls: ids, arguments, names, types, order, indexes, finish reasons."""

from collections.abc import Mapping
from typing import Any

import orjson

from tests.faults import Reply, arguments_of, fault

_PARALLEL = ("parallel-tool-calls",)
_TURNS = ("interleaved-thinking", "two-tool-turns")
_ARGUMENTS = ("tool-calls/arguments-are-an-object",)


def _is_fragmented(claims: Mapping[str, Any]) -> bool:
    return claims.get("stream.call-shape") != "whole"


@fault("tool-calls/id-unique-in-conversation", as_warning=True)
def ids_restart(_request: Mapping[str, Any], reply: Reply) -> None:
    """Ids start again in every reply, in the claimed format."""
    for position, call in enumerate(reply.calls):
        kept = reply.state.setdefault(f"id {position}", call[0]["id"])
        _set_id(call, kept)


@fault("tool-calls/id-in-claimed-format", "tool-calls/id-unique-in-conversation", as_warning=True)
def ids_are_positions(_request: Mapping[str, Any], reply: Reply) -> None:
    """Ids are call_0, call_1 in every reply."""
    for position, call in enumerate(reply.calls):
        _set_id(call, f"call_{position}")


@fault("tool-calls/id-unique-in-reply", "core: tool-call-ids", scenarios=_PARALLEL)
def ids_equal(_request: Mapping[str, Any], reply: Reply) -> None:
    """The calls of a reply share one id."""
    for call in reply.calls:
        _set_id(call, reply.calls[0][0]["id"])


@fault("tool-calls/id-not-empty")
def ids_empty(_request: Mapping[str, Any], reply: Reply) -> None:
    """Ids are empty."""
    for call in reply.calls:
        _set_id(call, "")


@fault("tool-calls/id-not-empty", "shape/choice", "shape/chunk", "shape/message")
def ids_missing(_request: Mapping[str, Any], reply: Reply) -> None:
    """Calls have no id."""
    for call in reply.calls:
        for fragment in call:
            fragment.pop("id", None)


@fault("tool-calls/id-in-claimed-format", needs=lambda claims: claims.get("ids.format", "unknown") != "unknown")
def ids_of_another_format(_request: Mapping[str, Any], reply: Reply) -> None:
    """Ids have another format."""
    for call in reply.calls:
        _set_id(call, f"functions.{call[0]['id']}:7")


@fault("stream/id-once", "tool-calls/", "stream/", scenarios=_PARALLEL, variants=("stream",), needs=_is_fragmented)
def id_changes_in_a_stream(_request: Mapping[str, Any], reply: Reply) -> None:
    """Each fragment of a call has an id of its own."""
    if reply.streamed:
        for call in reply.calls:
            for number, fragment in enumerate(call):
                fragment["id"] = f"{call[0]['id'][:-1]}{number}"


@fault(*_ARGUMENTS)
def arguments_encoded_twice(_request: Mapping[str, Any], reply: Reply) -> None:
    """Arguments are a JSON string that holds JSON."""
    for call in reply.calls:
        reply.set_arguments(call, orjson.dumps(arguments_of(call)).decode())


@fault("shape/")
def arguments_are_objects(_request: Mapping[str, Any], reply: Reply) -> None:
    """Arguments are objects."""
    for call in reply.calls:
        arguments = orjson.loads(arguments_of(call))
        reply.set_arguments(call, arguments)
        for fragment in call[1:]:
            fragment["function"].pop("arguments")


@fault("as-scripted", *_ARGUMENTS)
def arguments_lose_a_character(_request: Mapping[str, Any], reply: Reply) -> None:
    """Arguments lack a character of a value."""
    for call in reply.calls:
        reply.set_arguments(call, arguments_of(call).replace("o", "", 1).replace("e", "", 1))


@fault("tool-calls/arguments-fit-schema", "as-scripted", *_ARGUMENTS)
def arguments_lost(_request: Mapping[str, Any], reply: Reply) -> None:
    """Arguments are an empty object."""
    for call in reply.calls:
        reply.set_arguments(call, "{}")


@fault("tool-calls/type-present", as_warning=True, needs=lambda claims: claims.get("reply.call-type") != "absent")
def type_missing(_request: Mapping[str, Any], reply: Reply) -> None:
    """Calls have no type."""
    for call in reply.calls:
        for fragment in call:
            fragment.pop("type", None)


@fault("as-scripted", scenarios=_PARALLEL)
def calls_reordered(_request: Mapping[str, Any], reply: Reply) -> None:
    """The arguments of the two calls are exchanged, so that the calls come in another order."""
    if len(reply.calls) > 1:
        first, second = reply.calls
        texts = arguments_of(first), arguments_of(second)
        reply.set_arguments(first, texts[1])
        reply.set_arguments(second, texts[0])


@fault("as-scripted", "core: parallel-calls", scenarios=_PARALLEL)
def second_call_dropped(_request: Mapping[str, Any], reply: Reply) -> None:
    """Of two calls, only the first comes."""
    if len(reply.calls) > 1:
        second = reply.calls[1]
        for delta in reply.deltas:
            if delta.get("tool_calls"):
                delta["tool_calls"] = [each for each in delta["tool_calls"] if not any(each is x for x in second)]
                if not delta["tool_calls"]:
                    del delta["tool_calls"]


@fault("response/finish-reason-matches-tool-calls", "ended before turn")
def calls_dropped(_request: Mapping[str, Any], reply: Reply) -> None:
    """All calls are lost; the finish reason stays."""
    for delta in reply.deltas:
        delta.pop("tool_calls", None)


@fault("stream/index-distinct", scenarios=_PARALLEL, variants=("stream",))
def indexes_zero(_request: Mapping[str, Any], reply: Reply) -> None:
    """All calls of a stream have index 0."""
    if reply.streamed:
        for call in reply.calls:
            for fragment in call:
                fragment["index"] = 0


@fault("stream/index-present", "shape/chunk", scenarios=_PARALLEL, variants=("stream",))
def indexes_missing(_request: Mapping[str, Any], reply: Reply) -> None:
    """Calls of a stream have no index."""
    if reply.streamed:
        for call in reply.calls:
            for fragment in call:
                fragment.pop("index", None)


@fault("tool-calls/name-declared", scenarios=_TURNS)
def name_undeclared(_request: Mapping[str, Any], reply: Reply) -> None:
    """A function is called that the request does not declare."""
    for call in reply.calls:
        call[0]["function"]["name"] = "functions.get_weather"


@fault("response/finish-reason-matches-tool-calls")
def calls_end_with_stop(_request: Mapping[str, Any], reply: Reply) -> None:
    """A reply with calls ends with stop."""
    if reply.calls:
        _finish(reply, "stop")


@fault("response/finish-reason-matches-tool-calls")
def answers_end_with_tool_calls(_request: Mapping[str, Any], reply: Reply) -> None:
    """A reply without calls ends with tool_calls."""
    if reply.choices and not reply.calls:
        _finish(reply, "tool_calls")


@fault("response/finish-reason-claimed", "response/finish-reason-matches-tool-calls", "shape/")
def finish_reason_foreign(_request: Mapping[str, Any], reply: Reply) -> None:
    """Replies end with end_turn."""
    _finish(reply, "end_turn")


@fault("stream/complete", "shape/", "stream/one-finish-reason", "response/")
def finish_reason_missing(_request: Mapping[str, Any], reply: Reply) -> None:
    """Replies have no finish reason."""
    _finish(reply, None)


@fault("as-scripted", "core: parallel-calls", scenarios=_PARALLEL)
def results_swapped_in_the_answer(_request: Mapping[str, Any], reply: Reply) -> None:
    """The answer takes each city's temperature for the other's."""
    names = {"Rome": "Madrid", "Madrid": "Rome"}
    _rewrite(reply, lambda text: " ".join(names.get(word, word) for word in text.split(" ")))


def _rewrite(reply: Reply, change: Any) -> None:
    """Change the content of a reply as a whole."""
    holders = [delta for delta in reply.deltas if isinstance(delta.get("content"), str)]
    whole = "".join(delta["content"] for delta in holders)
    if holders and whole and not reply.calls:
        for delta in holders:
            delta["content"] = ""
        holders[-1]["content"] = change(whole)


def _set_id(call: list[dict[str, Any]], identity: str) -> None:
    for fragment in call:
        if fragment.get("id"):
            fragment["id"] = identity


def _finish(reply: Reply, reason: str | None) -> None:
    for choice in reply.choices:
        if choice.get("finish_reason"):
            choice["finish_reason"] = reason
