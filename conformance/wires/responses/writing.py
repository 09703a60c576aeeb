"""Chat completions as Responses: the requests of the suites, and the replies of the simulator.

A request is sent stateless: nothing is stored, and encrypted reasoning is asked for. What `reasoning_details` hold
becomes items of type reasoning, where their `index` says, or else before the text and the calls. A call with an
`item_id` becomes an item with that id. Ids that a reply of chat completions lacks are made from the request and the id
of the reply, so that they are reproducible, and differ if anything else does. Writing repairs nothing, so that the
suites can send deviations; `hold` takes from a transcript what this wire cannot hold, and names it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.wire.blocks import Block, blocks_of, message_of, reduced
from conformance.wire.losses import Losses
from conformance.wire.native import OWN, Native
from conformance.wire.tool_choice import AllowedTools, limited_choice
from conformance.wire.values import as_object, as_word, objects, rendered
from conformance.wires.responses.blocks import (
    DETAILS,
    PARTS,
    WRITTEN_CALLS,
    join,
    joins,
    reasoning_item,
    write_call,
)
from conformance.wires.responses.declared import as_declared, declared_tools
from conformance.wires.responses.playing import events

__all__ = ["conversation", "events", "hold", "named", "own", "reply", "request"]

_COPIED: Final = ("model", "stream", "temperature", "top_p", "parallel_tool_calls", "reasoning")
_LIMITS: Final = ("max_completion_tokens", "max_tokens")
BLOBS: Final = "reasoning.encrypted_content"
"""What `include` names to get encrypted reasoning."""

_REASONS: Final[Mapping[str, str]] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_DEFAULTS: Final[Mapping[str, Any]] = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""What a reply repeats of its request, and what it says if the request does not."""

_TOOL: Final[Mapping[str, Any]] = {"description": None, "parameters": None, "strict": True}
"""What a reply says of a function that is left out of its request."""

_TEXT_MEMBERS: Final[Mapping[str, Any]] = {"annotations": [], "logprobs": []}
_ID_BYTES: Final = 24
_PREFIX: Final = "resp_"
_CONVERSATION: Final = ("previous_response_id", "instructions", "input", "tools")
"""What ids of replies are made from: not the model, so that recordings of many providers are alike and stay small."""
_OF_REPLIES: Final = ("status", "id")
_UNNAMED: Final = ("message", "function_call")
"""The items that are sent back without the id of the stored copy."""


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of chat completions as one of Responses."""
    made: dict[str, Any] = {key: body[key] for key in _COPIED if key in body}
    made |= {"store": False, "include": [BLOBS]}
    limit = next((body[key] for key in _LIMITS if key in body), None)
    if limit is not None:
        made["max_output_tokens"] = limit
    made |= conversation(body.get("messages"))
    if type(body.get("tools")) is list:
        made["tools"] = [_tool(as_object(tool.get("function"))) for _, tool in objects(body["tools"])]
    if "tool_choice" in body:
        made["tool_choice"] = _choice(body["tool_choice"])
    if "response_format" in body:
        made["text"] = {"format": _format(body["response_format"])}
    return made


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function as a tool; a schema is not taken literally unless chat completions asked for that."""
    made = {"type": "function", "name": function.get("name"), "parameters": function.get("parameters")}
    made |= {"description": function["description"]} if "description" in function else {}
    return made | {"strict": function.get("strict") is True}


def _choice(choice: Any) -> Any:
    limited = limited_choice(choice)
    if isinstance(limited, AllowedTools):
        tools = [{"type": "function", "name": name} for name in limited.names]
        return {"type": "allowed_tools", "mode": limited.mode, "tools": tools}
    if type(choice) is not dict:
        return choice
    return "auto" if limited is None else {"type": "function", "name": limited.name}


def _format(wanted: Any) -> Any:
    """Return the form that a reply has to have; a schema stands one level higher than in chat completions."""
    if as_object(wanted).get("type") != "json_schema":
        return wanted
    return {"type": "json_schema", **as_object(wanted.get("json_schema"))}


def conversation(canonical: Any) -> dict[str, Any]:
    """Return the instructions and the items of a request: a first system message in one text, and all others."""
    made: dict[str, Any] = {}
    listed = [message for _, message in objects(canonical)]
    first = listed[0] if listed else {}
    if first.get("role") == "system" and type(first.get("content")) is str and first["content"]:
        made["instructions"] = first["content"]
        listed = listed[1:]
    return made | {"input": [item for message in listed for item in _input_items(message)]}


def _input_items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the items that a message is sent as."""
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        item = {"type": "function_call_output", "output": _parts(content)}
        yield item | ({"call_id": message["tool_call_id"]} if "tool_call_id" in message else {})
    elif role == "assistant":
        yield from message[OWN] if OWN in message else _turn_items(message)
    else:
        yield {"type": "message", "role": role, "content": _parts(content)}


def _parts(content: Any) -> Any:
    """Return a content with its parts under the names that they have on this wire; a text stays one."""
    if type(content) is not list:
        return content
    return [PARTS.written_or_kept(part) if type(part) is dict else part for part in content]


def _turn_items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the items of an assistant's message in their order, its reasoning as it stands; the refusal comes last.

    What belongs to one reasoning item is joined.
    """
    last: dict[str, Any] | None = None
    for kind, value, _ in _blocks(message):
        made = _item(kind, value)
        if last is not None and kind == "detail" and _belongs(value, made, last):
            join(last, made)
            continue
        if last is not None:
            yield last
        last = made
        if kind != "detail":
            yield made
            last = None
    if last is not None:
        yield last
    refusal = message.get("refusal")
    if type(refusal) is str and refusal:
        yield _said({"type": "refusal", "refusal": refusal})


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of an assistant's message; one that says and calls nothing has an empty text."""
    content = message.get("content")
    details, calls = ([each for _, each in objects(message.get(key))] for key in ("reasoning_details", "tool_calls"))
    parts = [part for _, part in objects(content)] if type(content) is list else content
    found = blocks_of({"content": parts, "tool_calls": calls, "reasoning_details": details})
    if content == "" and not (calls or message.get("refusal")):
        found.append(Block("text", ""))
    return found


def _belongs(detail: Mapping[str, Any], made: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Return whether a detail goes into the item before it.

    A blob does, and so does a text that has its position: without one, it may be sent twice.
    """
    return joins(last, made) and ("index" in detail or "encrypted_content" in made)


def _item(kind: str, value: Any) -> dict[str, Any]:
    if kind == "call":
        return write_call(value)
    if kind == "detail":
        return reasoning_item(value)
    return _said({"type": "output_text", "text": value} if kind == "text" else dict(value))


def _said(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [part]}


def hold(canonical: Sequence[Mapping[str, Any]], losses: Losses) -> list[dict[str, Any]]:
    """Return what this wire holds of a transcript's messages; the rest is noted, by its place among them."""
    held: list[dict[str, Any]] = []
    run = _Run(losses)
    for position, message in enumerate(canonical):
        if message["role"] == "assistant":
            run.add(message, position)
            continue
        held += run.end()
        if "name" in message:
            losses.add((position, "name"), "a message item has no name")
        content = message["content"]
        if type(content) is list:
            kept = [(part, PARTS.convert(part, (position, "content", at), losses)) for at, part in enumerate(content)]
            content = [part for part, made in kept if made is not None] or ""
        result = {"tool_call_id": message["tool_call_id"]} if message["role"] == "tool" else {}
        held.append({"role": message["role"], **result, "content": content})
    return held + run.end()


class _Run:
    """Assistant messages that follow each other: their items have no boundary, so they come back as one."""

    __slots__ = ("_blocks", "_last", "_losses", "_refusals")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._blocks: list[Block] = []
        self._refusals: list[str] = []
        self._last: int | None = None

    def add(self, message: Mapping[str, Any], position: int) -> None:
        """Add a message at a position of the transcript."""
        refusal = message.get("refusal")
        blocks = blocks_of(reduced({**message, "refusal": None}, (position,), self._losses, DETAILS, WRITTEN_CALLS))
        if refusal == "":
            self._losses.add((position, "refusal"), "an empty refusal is left out")
        if not blocks and not refusal:
            self._losses.add((position,), "holds nothing that an item could hold")
            return
        if self._last is not None:
            self._losses.add((self._last,), "comes back joined with the assistant message after it")
            self._losses.add((position,), "comes back joined with the assistant message before it")
        self._last = position
        self._blocks += blocks
        self._refusals += [refusal] if refusal else []

    def end(self) -> list[dict[str, Any]]:
        """Return the message that the run is, if there is one, and begin a new one."""
        made = message_of(self._blocks)
        plain = made.pop("reasoning_content", None)
        if plain is not None:
            made["reasoning_details"] = [{"type": "reasoning.text", "text": plain, "index": 0}]
        if self._refusals:
            made["refusal"] = "".join(self._refusals)
        is_empty = self._last is None
        self._blocks, self._refusals, self._last = [], [], None
        return [] if is_empty else [{**made, "content": made["content"] or None}]


def reply(body: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply of chat completions as one of Responses to a request; the body of an error is the same on both."""
    if "choices" not in body:
        return dict(body)
    _, choice = next(objects(body["choices"]), (0, {}))
    identity = "".join(named(str(body.get("id", "")), asked))
    reason = _REASONS.get(as_word(choice.get("finish_reason")))
    status = "completed" if reason is None else "incomplete"
    created = body.get("created", 0)
    return {
        "id": identity,
        "object": "response",
        "created_at": created,
        "completed_at": created if status == "completed" else None,
        "status": status,
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "model": body.get("model"),
        "output": _output(as_object(choice.get("message")), identity, status, asked),
        **_repeated(asked),
        "usage": _usage(as_object(body.get("usage"))),
    }


def named(identity: str, asked: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id that a reply has here, by its id in chat completions: what all begin with, and the digits."""
    digits = identity.removeprefix(_PREFIX)
    return _PREFIX, _made_id(identity, asked) if digits == identity else digits


def _repeated(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reply repeats of its request, whole: with the defaults of what is left out."""
    made = {key: value if asked.get(key) is None else asked[key] for key, value in _DEFAULTS.items()}
    for key in ("reasoning", "text"):
        made[key] = {**_DEFAULTS[key], **made[key]} if type(made[key]) is dict else made[key]
    if type(made["tools"]) is list:
        made["tools"] = [
            {**_TOOL, **tool} if type(tool) is dict and tool.get("type") == "function" else tool
            for tool in made["tools"]
        ]
    return made


def own(native: Native) -> Any:
    """Return the items of a reply; None if it has none.

    Nothing is stored, so the ids of messages and calls name nothing, and no request has a `status`; reasoning keeps its
    id, which belongs to its encrypted content.
    """
    output = as_object(native.reply).get("output")
    if type(output) is not list:
        return None
    return [_sent_back(item) if type(item) is dict else item for item in output]


def _sent_back(item: Mapping[str, Any]) -> dict[str, Any]:
    dropped = _OF_REPLIES if item.get("type") in _UNNAMED else _OF_REPLIES[:1]
    return {key: value for key, value in item.items() if key not in dropped}


def _made_id(identity: str, asked: Mapping[str, Any]) -> str:
    """Return the hexadecimal digits of a reply's id: the same for what continues the same conversation."""
    seed = identity + rendered([asked.get(key) for key in _CONVERSATION])
    return hashlib.blake2b(seed.encode(errors="surrogatepass"), digest_size=_ID_BYTES).hexdigest()


def _output(message: Mapping[str, Any], identity: str, status: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a reply; the last one is incomplete if the reply is."""
    phase = {"phase": message["phase"]} if "phase" in message else {}
    declared = declared_tools(asked.get("tools"))
    items = [_answered(as_declared(item, declared), phase, asked) for item in _turn_items(message)]
    if items and "status" in items[-1]:
        items[-1]["status"] = status
    prefixes = {"reasoning": "rs", "message": "msg", "function_call": "fc", "custom_tool_call": "ctc"}
    # As OpenAI's own: the ids of a reply and of its items begin with the same digits.
    digits = identity.removeprefix(_PREFIX)
    return [{"id": f"{prefixes[item['type']]}_{digits}{position:02x}"} | item for position, item in enumerate(items)]


def _answered(item: dict[str, Any], phase: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item as a reply has it: with encrypted content if the request asks for it or nothing is stored."""
    if item["type"] == "message":
        content = [part | (_TEXT_MEMBERS if part["type"] == "output_text" else {}) for part in item["content"]]
        return {"type": "message", "role": item["role"], "status": "completed", "content": content, **phase}
    if item["type"] != "reasoning":
        return {**item, "status": "completed"}
    if BLOBS in (asked.get("include") or ()) or asked.get("store") is False:
        return item
    return {key: value for key, value in item.items() if key != "encrypted_content"}


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": usage.get("prompt_tokens", 0),
        "input_tokens_details": {"cached_tokens": 0, **as_object(usage.get("prompt_tokens_details"))},
        "output_tokens": usage.get("completion_tokens", 0),
        "output_tokens_details": {"reasoning_tokens": 0, **as_object(usage.get("completion_tokens_details"))},
        "total_tokens": usage.get("total_tokens", 0),
    }
