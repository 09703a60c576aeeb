import re
from typing import Final

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_reasoning
from conformance.wire.elements import Reply
from conformance.wire.reasoning import carried_fields, is_telling, reasoning_text
from conformance.wire.text import quoted, said_text
from conformance.wire.views import replies

_CONTENT = "/0/response/choices/0/message/content"
_THOUGHT = "/0/response/choices/0/message/reasoning_content"
_THINKING = "May is mild in Bern, so snow is rare. I will say that it is seldom."

_LEAKED: Final = 40
"""Answers repeat up to 31 characters of their reasoning by themselves, in all recordings that were looked at."""
_SENTENCE: Final = re.compile(r"[.!?:](?=\s)|[。！？\n]")


@rule(
    Level.MUST,
    on=replies,
    among=reply_has_reasoning,
    source=Source("https://github.com/adolfousier/opencrabs/issues/760", "spilled it into the visible answer"),
    bad=[
        example("plain", {_THOUGHT: _THINKING, _CONTENT: f"{_THINKING}\n\nSeldom."}),
        example("plain", {_THOUGHT: _THINKING, _CONTENT: _THINKING}),
        example(
            "plain",
            {
                _THOUGHT: f"The user asks whether there is snow in Bern in May. {_THINKING}",
                _CONTENT: "The user asks whether there is snow in Bern in May. Seldom.",
            },
        ),
        example("stream-tool-calls", {"/0/response/3/choices/0/delta/content": "Two cities, two calls."}),
    ],
    good=[example("plain", {_THOUGHT: _THINKING}), example("plain", {_THOUGHT: "Seldom."})],
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """The content of a reply does not begin with its reasoning.

    Users see what was not meant for them, and the next request sends the reasoning back as if it were an answer. A few
    words in common are no fault: answers often begin as the reasoning does. To fix it, end the reasoning where the
    model ends it, and send each text in one field only.
    """
    content = said_text(reply.message.get("content")).lstrip()
    if not content:
        return []
    for field in carried_fields(reply.message):
        shared = _leaked(reasoning_text(reply.message, field).strip(), content)
        if shared:
            message = f"expected content without the reasoning, got {quoted(shared)} in both"
            return [Fault(message, at=("message", "content"))]
    return []


def _leaked(reasoning: str, content: str) -> str:
    """Return the reasoning, or its first sentences, if the content begins with them; empty if it does not."""
    if content.startswith(reasoning):
        return reasoning if is_telling(reasoning) else ""
    pairs = enumerate(zip(reasoning, content, strict=False))
    end = next((at for at, (left, right) in pairs if left != right), min(len(reasoning), len(content)))
    shared = reasoning[:end]
    if len(shared) < _LEAKED:
        return ""
    ends = [found.end() for found in _SENTENCE.finditer(reasoning[: len(shared) + 1])]
    # An answer that is wholly drafted in the reasoning is no leak.
    whole = shared[: ends[-1]].rstrip() if ends else ""
    return whole if len(whole) >= _LEAKED and len(content) > len(whole) else ""
