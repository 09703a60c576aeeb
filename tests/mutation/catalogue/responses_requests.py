"""Faults of clients on the wire of Responses."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from tests.mutation import definition, targets
from tests.mutation.bases import Record
from tests.mutation.definition import REJECTED, SURVIVED, Allowed
from tests.mutation.native_targets import items, last, output_items, where
from tests.mutation.targets import Slot, in_last_request, keys

mutation = partial(definition.mutation, wire="responses")

_AT_SERVER: Final = (Allowed(SURVIVED, "The call is only at the server.", on="responses-held-session/1"),)
_KINDS: Final = ("function_call", "function_call_output", "reasoning")
_PAIRS: Final = ("transcript/calls-answered", "transcript/result-answers-call")


def _lists(records: Sequence[Record]) -> Iterator[list[Any]]:
    """Yield the inputs of requests that are lists of items."""
    return (body["input"] for body in targets.requests(records) if isinstance(body["input"], list))


def _before(kind: str) -> Any:
    """Return a predicate: whether the item behind one is of a kind."""
    return lambda item: item.key + 1 < len(item.holder) and item.holder[item.key + 1].get("type") == kind


@mutation(
    where(in_last_request(items("reasoning")), _before("function_call")),
    "responses/call-with-reasoning",
    related=("reasoning/resent-on-tool-turns",),
    sessions=True,
)
def reasoning_left_out_before_call(item: Slot) -> None:
    """The reasoning that led to a call is left out, and the call keeps its id."""
    item.drop()


@mutation(
    where(in_last_request(items("reasoning")), _before("function_call")),
    "responses/call-with-reasoning",
    related=("responses/reasoning-before-its-item",),
    sessions=True,
)
def reasoning_behind_its_item(item: Slot) -> None:
    """A reasoning item stands behind the item that it led to."""
    item.holder[item.key], item.holder[item.key + 1] = item.holder[item.key + 1], item.value


@mutation(last(items("reasoning")), "responses/reasoning-before-its-item")
def reasoning_alone(item: Slot) -> None:
    """Everything behind a reasoning item is left out."""
    del item.holder[item.key + 1 :]


@mutation(in_last_request(items("reasoning")), "reasoning/details-unchanged", sessions=True)
def blob_altered(item: Slot) -> None:
    """The encrypted content of a reasoning item is not the one that came with it."""
    item.value["encrypted_content"] = "b3RoZXI="


@mutation(where(items("reasoning"), lambda item: "encrypted_content" in item.value), "responses/items-at-the-server")
def blob_left_out(item: Slot) -> None:
    """A reasoning item is sent without its encrypted content, to a server that stores nothing."""
    del item.value["encrypted_content"]


def _unfinished(records: Sequence[Record]) -> Iterator[tuple[Slot, str]]:
    """Yield the reasoning items that were streamed, each with its blob as it was when the item was added."""
    streams = [record["response"] for record in records if isinstance(record["response"], list)]
    added = [event["item"] for events in streams for event in events if event["type"].endswith("item.added")]
    blobs = {item["id"]: item["encrypted_content"] for item in added if "encrypted_content" in item}
    for item in items("reasoning")(records[-1:]):
        if item.value["id"] in blobs:
            yield item, blobs[item.value["id"]]


@mutation(_unfinished, "responses/blob-of-the-done-item", sessions=True)
def blob_of_the_added_item(found: tuple[Slot, str]) -> None:
    """The encrypted content is the one of the item that was added, before it was done."""
    item, blob = found
    item.value["encrypted_content"] = blob


@mutation(
    where(in_last_request(items("reasoning", "function_call")), lambda item: "id" in item.value),
    "responses/item-ids-of-the-reply",
    sessions=True,
)
def id_invented(item: Slot) -> None:
    """An item is sent back under an id that the client made."""
    item.value["id"] = f"{item.value['id'].partition('_')[0]}_made_by_the_client"


@mutation(items("reasoning", "function_call"), "responses/item-id-prefixes")
def id_of_another_kind(item: Slot) -> None:
    """The id of an item does not begin as those of its kind do."""
    item.value["id"] = "call_1"


@mutation(
    where(items("function_call"), lambda item: "id" in item.holder[item.key - 1]),
    "responses/item-ids-unique",
    related=("responses/item-id-prefixes",),
)
def id_twice(item: Slot) -> None:
    """Two items have the same id."""
    item.value["id"] = item.holder[item.key - 1]["id"]


@mutation(
    where(items("function_call_output"), lambda item: item.key == 0),
    "responses/history-sent-once",
    sessions=True,
)
def held_call_sent_again(item: Slot) -> None:
    """A call that the server holds is sent again before its output."""
    call = {"type": "function_call", "call_id": item.value["call_id"], "name": "get_weather", "arguments": "{}"}
    item.holder.insert(0, call)


@mutation(items("function_call_output"), "transcript/calls-answered", allows=_AT_SERVER)
def output_left_out(item: Slot) -> None:
    """A call has no output."""
    item.drop()


@mutation(items("function_call_output"), "transcript/one-result-per-call", allows=_AT_SERVER)
def output_twice(item: Slot) -> None:
    """A call has two outputs."""
    item.holder.insert(item.key, dict(item.value))


@mutation(
    items("function_call_output"),
    "transcript/result-answers-call",
    related=("transcript/calls-answered",),
    allows=_AT_SERVER,
)
def output_for_another_call(item: Slot) -> None:
    """An output names a call that there is not."""
    item.value["call_id"] = "call_other"


@mutation(items("function_call"), "transcript/result-answers-call", related=("responses/reasoning-before-its-item",))
def call_item_left_out(item: Slot) -> None:
    """A call is left out, and its output is not."""
    item.drop()


@mutation(
    items("function_call"),
    "transcript/calls-answered",
    related=("transcript/result-answers-call", "responses/reasoning-before-its-item"),
)
def output_before_its_call(item: Slot) -> None:
    """The output of a call stands before the call."""
    called = item.value["call_id"]
    at = next(at for at, each in enumerate(item.holder) if at > item.key and each.get("call_id") == called)
    item.holder.insert(item.key, item.holder.pop(at))


@mutation(in_last_request(items("function_call")), "transcript/reply-resent-unchanged", sessions=True)
def arguments_rewritten(item: Slot) -> None:
    """The arguments of a call are sent back as other JSON."""
    item.value["arguments"] = '{"city":"Berlin"}'


@mutation(
    items("message"),
    "responses/roles-known",
    related=("transcript/result-answers-call", "responses/reasoning-before-its-item"),
)
def role_of_a_tool_item(item: Slot) -> None:
    """A message has a role that this wire does not have."""
    item.value["role"] = "tool"


def _held(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    return (body for body in targets.requests(records) if "previous_response_id" in body)


@mutation(_held, "responses/one-kind-of-state")
def two_kinds_of_state(body: dict[str, Any]) -> None:
    """A request names an earlier response and a conversation."""
    body["conversation"] = "conv_1"


@mutation(
    lambda records: (each["response"] for each in records[:-1] if any(_held([records[-1]]))),
    "responses/previous-response-stored",
    sessions=True,
)
def response_not_stored(reply: dict[str, Any]) -> None:
    """A request names a response that was not stored."""
    reply["store"] = False


@mutation(targets.requests, "responses/state-supported", claims={"responses.previous-response-id": REJECTED})
def state_where_there_is_none(body: dict[str, Any]) -> None:
    """A request names an earlier response of a server that keeps none."""
    body["previous_response_id"] = "resp_0"


def _name_phases(records: Sequence[Record]) -> None:
    if all(isinstance(record["response"], dict) for record in records):
        sent = [item for item in items("message")(records) if item.value["role"] == "assistant"]
        for item in (*sent, *output_items("message")(records)):
            item.value["phase"] = "final_answer"


@mutation(
    where(in_last_request(items("message")), lambda item: "phase" in item.value),
    "responses/phase-kept",
    sessions=True,
    prepare=_name_phases,
)
def phase_left_out(item: Slot) -> None:
    """A message of the assistant is sent back without its phase."""
    del item.value["phase"]


@mutation(
    last(items("function_call_output")),
    "responses/items-accepted",
    claims={"responses.unsupported-items": {"kinds": ["item_reference"], "refusal": REJECTED}},
)
def reference_where_unsupported(item: Slot) -> None:
    """An item is a reference, for a server that knows none."""
    item.record["request"]["store"] = True
    item.holder.append({"type": "item_reference", "id": "msg_02"})


@mutation(in_last_request(items("function_call")), "responses/items-at-the-server", sessions=True)
def reference_to_what_is_not_stored(item: Slot) -> None:
    """An item is a reference to one that the server did not store."""
    item.put({"type": "item_reference", "id": item.value["id"]})


@mutation(
    keys(
        items("function_call", "function_call_output", "reasoning"), "call_id", "name", "arguments", "output", "summary"
    ),
    "native/request-shape",
    related=_PAIRS,
)
def item_key_dropped(slot: Slot) -> None:
    """An item of a request lacks a required key."""
    slot.drop()


@mutation(
    keys(
        items("function_call", "function_call_output", "reasoning"), "call_id", "name", "arguments", "output", "summary"
    ),
    "native/request-shape",
    related=_PAIRS,
)
def item_key_retyped(slot: Slot) -> None:
    """A key of an item has a value of the wrong type."""
    slot.retype()


@mutation(keys(targets.definitions, "name", "type"), "native/request-shape", related=("tool-calls/name-declared",))
def tool_key_dropped(slot: Slot) -> None:
    """A tool of a request lacks a required key."""
    slot.drop()


@mutation(
    where(items("function_call"), _before("function_call")),
    "responses/calls-together",
    claims={"responses.split-calls": REJECTED},
)
def message_between_calls(item: Slot) -> None:
    """The assistant speaks between two calls of a turn, at a host that takes them for two turns then."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "And the other."}]}
    item.holder.insert(item.key + 1, said)


@mutation(items("function_call", "message"))
def ids_left_out(item: Slot) -> None:
    """A call or a message is sent back without the id of its item."""
    item.value.pop("id", None)


@mutation(last(items("function_call_output")))
def output_in_parts(item: Slot) -> None:
    """An output is a list of parts."""
    item.value["output"] = [{"type": "input_text", "text": item.value["output"]}]


@mutation(items("message"))
def message_with_its_type(item: Slot) -> None:
    """A message names its type."""
    item.value["type"] = "message"


@mutation(output_items("message"))
def reply_with_a_hosted_tool(item: Slot) -> None:
    """A reply holds the call of a tool that the server ran."""
    searched = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    }
    item.holder.insert(item.key, searched)
