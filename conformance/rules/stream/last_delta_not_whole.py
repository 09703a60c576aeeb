from typing import Final

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.repeats import StreamedText, find_repeat
from conformance.wire.text import quoted
from conformance.wire.views import streamed_texts

_DELTA: Final = "choices/0/delta"


@rule(
    Level.MUST,
    on=streamed_texts,
    source=Source(
        "https://github.com/go-kratos/blades/issues/189", "the full content will output again in the last chunk"
    ),
    bad=[
        example("stream-plain", {f"/0/response/3/{_DELTA}/content": "Rarely."}),
        example(
            "stream-tool-calls",
            {
                f"/0/response/4/{_DELTA}/tool_calls/0/function/arguments": '{"city": "Paris"}',
                f"/0/response/5/{_DELTA}/tool_calls/0/function/arguments": '{"city": "Paris"}',
            },
        ),
        example(
            "gemini-stream",
            {f"/0/response/{number}/candidates/0/content/parts/0/text": "I look it up." for number in (0, 1)},
        ),
    ],
    good=[example("stream-plain"), example("stream-tool-calls"), example("gemini-stream"), example("messages-stream")],
    wires=EVERY,
)
def judge(text: StreamedText, _context: Context) -> list[Fault]:
    """The last delta of a text does not repeat the whole text.

    Clients append deltas: they show the answer twice, and run calls with arguments that nobody can parse.
    To fix it, send the rest only, or nothing; where a wire has an event for the whole text, send it there.
    """
    found = find_repeat(text.name, text.fragments)
    if found is None or not found.is_whole:
        return []
    got = quoted(text.fragments[found.position])
    return [
        Fault(
            f"expected the rest of the text in the last delta, got the whole again: {got}",
            place=text.place_of(found.position),
        )
    ]
