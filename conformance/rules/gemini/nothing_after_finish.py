from collections.abc import Iterator
from typing import Any

from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams
from conformance.wire.values import as_object, objects

_FINISH = "/0/response/0/candidates/0/finishReason"


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.CONTENT,
    source=Source(
        "https://github.com/Chevey339/kelivo/issues/1003",
        "流式输出提前遇到 finishReason 块时，后续 Gemini 回复输出会被丢弃",
    ),
    bad=[example("gemini-stream", {_FINISH: "STOP"})],
    good=[example("gemini-stream")],
    wires=("gemini",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """After the finish reason of a streamed candidate, no part with text or a call follows.

    The finish reason is the only sign that a stream is whole, so clients stop there (kelivo does) and lose what
    follows. Google's own code tools run between two of them. To fix it, write the finish reason to the last chunk.
    """
    number = stream.place[0]
    is_finished, uses_tools = False, False
    for at, candidate in _candidates(stream):
        parts = [part for _, part in objects(as_object(candidate.get("content")).get("parts"))]
        uses_tools = uses_tools or any(["executableCode" in part for part in parts])
        if is_finished and not uses_tools and any([part.get("text") or "functionCall" in part for part in parts]):
            return [
                Fault("expected nothing after the finish reason, got a part of content", place=(number, "response", at))
            ]
        is_finished = is_finished or bool(candidate.get("finishReason"))
    return []


def _candidates(stream: NativeBody) -> Iterator[tuple[int, Any]]:
    """Yield the first candidate of each event, with the event's number."""
    for at, event in enumerate(stream.value):
        for position, candidate in objects(as_object(event.value).get("candidates")):
            if candidate.get("index", position) == 0:
                yield at, candidate
