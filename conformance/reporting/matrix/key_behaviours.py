"""The seams on which agent loops break: the claims that say how a provider is at each, in groups."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Seam(NamedTuple):
    """One question that every agent loop meets, and the claim that answers it."""

    title: str
    claim: str


SEAMS: Final[Mapping[str, tuple[Seam, ...]]] = {
    "Reasoning": (
        Seam("in a reply", "reasoning.response-field"),
        Seam("read back from", "reasoning.request-field"),
        Seam("left out on a tool turn", "reasoning.omitted-on-tool-turn"),
        Seam("left out on a plain turn", "reasoning.omitted-on-plain-turn"),
        Seam("sent on a plain turn", "reasoning.on-plain-turn"),
    ),
    "Ids of calls": (
        Seam("look like", "ids.format"),
        Seam("unique in a reply", "ids.unique-in-reply"),
        Seam("unique in a conversation", "ids.unique-in-conversation"),
        Seam("must look like", "ids.input-pattern"),
        Seam("must not be longer than", "ids.input-max-length"),
    ),
    "Calls and results": (
        Seam("several calls a reply", "tools.parallel"),
        Seam("`index` in a stream", "stream.index"),
        Seam("results in another order", "results.reversed"),
        Seam("a result missing", "results.missing"),
    ),
    "Turns and streams": (
        Seam("content null beside calls", "content.null-on-tool-turn"),
        Seam("content empty beside calls", "content.empty-on-tool-turn"),
        Seam("finish reason with calls", "finish.with-calls"),
        Seam("`[DONE]`", "stream.done"),
    ),
}
"""By what they are about."""
