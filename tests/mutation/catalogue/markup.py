"""Faults of parsers: the markup of a model stays in what clients read."""

from tests.mutation import targets
from tests.mutation.definition import mutation
from tests.mutation.targets import Call, Reply

_CONTENT = "response/no-markup-in-content"


@mutation(targets.replies_without_calls, _CONTENT, related=("reasoning/before-content",))
def call_left_in_content(reply: Reply) -> None:
    """A call stands in the content, in the form of Qwen3-Coder."""
    reply.put("content", "I ask.\n<tool_call>\n<function=get_time>\n<parameter=zone>\nCET\n</parameter>\n</function>")


@mutation(targets.replies_without_calls, _CONTENT, related=("reasoning/before-content",))
def special_tokens_left_in_content(reply: Reply) -> None:
    """The content ends with special tokens that begin the next turn."""
    reply.put("content", "Rarely.<|im_end|>\n<|im_start|>user")


@mutation(targets.replies_without_calls, _CONTENT, related=("reasoning/before-content",))
def end_of_call_left_in_content(reply: Reply) -> None:
    """Of a call, only the end tags stand in the content."""
    reply.put("content", "</parameter>\n</function>\n</tool_call>")


@mutation(targets.replies_with_reasoning, "reasoning/no-markup")
def call_begun_in_reasoning(reply: Reply) -> None:
    """The reasoning ends where the markup of a call begins."""
    reply.put("reasoning_content", "I will check.<|tool_calls_section_begin|>")


@mutation(targets.reply_calls, "tool-calls/no-markup")
def name_with_channel(call: Call) -> None:
    """The name of a call ends with the channel of the model's markup."""
    call.first["function"]["name"] += "<|channel|>commentary"


@mutation(targets.reply_calls, "tool-calls/no-markup")
def value_with_end_tag(call: Call) -> None:
    """The last value of a call's arguments holds the tag that ends it."""
    call.set_arguments('{"city": "Paris</parameter>"}')
