from typing import Final

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.repeats import StreamedText, find_repeat
from conformance.wire.text import quoted
from conformance.wire.views import streamed_texts

_CLAIM: Final = "reasoning.details.stream"
_DELTA: Final = "choices/0/delta"


def _is_incremental(text: StreamedText, context: Context) -> bool:
    return text.name != "reasoning_details" or context.claim(_CLAIM) != "cumulative"


@rule(
    Level.MUST,
    on=streamed_texts,
    where=_is_incremental,
    source=Source(
        "https://github.com/QwenLM/qwen-code/pull/3896",
        "ship `delta.content` as **accumulated full text** rather than incremental suffixes",
    ),
    bad=[
        example(
            "stream-plain",
            {f"/0/response/{at}/{_DELTA}/content": "Rarely, if ever."[: 5 * at + 4] for at in range(3)},
        ),
        example("stream-tool-calls", {f"/0/response/2/{_DELTA}/reasoning_content": "Two cities, two calls."}),
        example("stream-tool-calls", {f"/0/response/5/{_DELTA}/tool_calls/0/function/arguments": '{"city": "Paris"}'}),
        example("messages-stream", {"/0/response/7/delta/partial_json": '{"city": "Paris"}'}),
        example("gemini-stream", {"/0/response/1/candidates/0/content/parts/0/text": "I look it up."}),
    ],
    good=[example("stream-plain"), example("stream-tool-calls"), example("gemini-stream"), example("messages-stream")],
    reads=(_CLAIM,),
    wires=EVERY,
)
def judge(text: StreamedText, _context: Context) -> list[Fault]:
    """A delta holds only what is new, not all text so far.

    Clients append deltas: they show each word again and again, and run calls with arguments that nobody can parse.
    To fix it, send the difference to what was sent before.
    """
    found = find_repeat(text.name, text.fragments)
    if found is None or found.is_whole:
        return []
    got = quoted(text.fragments[found.position])
    return [
        Fault(
            f"expected only the new text in a delta, got all so far again: {got}", place=text.place_of(found.position)
        )
    ]
