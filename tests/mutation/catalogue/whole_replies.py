"""Faults of what a whole reply says: a text that comes twice, in the wrong field or under the wrong number."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import mutation
from tests.mutation.targets import Reply

_THOUGHT = "The question is whether it is cold there, and it rarely is."

_ASKED: Final = {
    "reasoning.response-field": "reasoning_content",
    "thinking.switches": [{"at": "/thinking/type", "equals": "enabled", "thinks": True}],
}


def _think(records: Sequence[Record]) -> None:
    for record in records:
        record["request"]["thinking"] = {"type": "enabled"}
        for reply in targets.replies([record]):
            reply.put("reasoning_content", _THOUGHT)


@mutation(targets.replies_without_calls, "response/answer-beside-reasoning", related=("reasoning/fields-agree",))
def answer_taken_for_reasoning(reply: Reply) -> None:
    """A reply has its reasoning, and nothing else."""
    reply.put("reasoning_content", _THOUGHT)
    reply.put("content", "")


def _first_answers(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies to the user; after tool results, a model may go on without thinking."""
    replies = targets.replies_without_calls(records)
    return (reply for reply in replies if reply.record["request"]["messages"][-1]["role"] != "tool")


@mutation(_first_answers, "reasoning/returned-when-asked", claims=_ASKED, prepare=_think)
def reasoning_asked_for_in_vain(reply: Reply) -> None:
    """The request turns thinking on, and the reply has no reasoning."""
    reply.put("reasoning_content", "")


@mutation(
    targets.replies_without_calls,
    "reasoning/not-in-content",
    related=("reasoning/fields-agree",),
)
def content_begins_with_reasoning(reply: Reply) -> None:
    """The content of a reply begins with its reasoning."""
    reply.put("reasoning_content", _THOUGHT)
    reply.put("content", f"{_THOUGHT}\n\nRarely.")


@mutation(targets.replies, "response/choice-index-zero")
def only_choice_is_number_one(reply: Reply) -> None:
    """The only choice of a reply has the index 1."""
    events = reply.record["response"] if reply.streamed else [reply.record["response"]]
    for event in events:
        for choice in event.get("choices", ()) if isinstance(event, dict) else ():
            choice["index"] = 1


@mutation(targets.usages, "usage/not-zero-beside-text", related=("usage/reasoning-within-completion",))
def nothing_counted(usage: Any) -> None:
    """All token counts of a reply are zero."""
    usage.update(dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0))


@mutation(targets.requests_with_tools, "request/tool-names-unique")
def tool_declared_twice(body: dict[str, Any]) -> None:
    """A request declares its first tool a second time."""
    body["tools"].append(body["tools"][0])


@mutation(targets.replies_without_calls, "response/content-matches-format")
def json_asked_for(reply: Reply) -> None:
    """The request asks for a JSON object, and the reply is prose."""
    reply.record["request"]["response_format"] = {"type": "json_object"}
