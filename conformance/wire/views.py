"""Views: where rules look.

A view yields parts with their places, and so gives a rule its subject, the pointer of its findings, its
applicability (no part: not applicable) and the count of what was judged. It also says whose doing its parts are.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple

from conformance.wire.index import Index


class Side(StrEnum):
    """Whose doing a part of the wire is, and so whose fault a finding on it."""

    CLIENT = "client"
    PROVIDER = "provider"


class View(NamedTuple):
    """A kind of part: its name in the singular, the side that made it, and how to find all of them.

    `tally` counts the parts of a body that the schemas found valid, where finding each would cost too much.
    `variant` is the kind of reply that has such parts, `plain` or `stream`, where only one has.
    """

    name: str
    side: Side
    select: Callable[[Index], Sequence[Any]]
    tally: Callable[[Index], int] | None = None
    variant: str = ""


requests = View("request", Side.CLIENT, attrgetter("requests"))
messages = View("message of a request", Side.CLIENT, attrgetter("messages"), Index.count_messages)
plain_turns = View("assistant message without tool calls", Side.CLIENT, attrgetter("plain_turns"))
tool_turns = View("assistant message with tool calls", Side.CLIENT, attrgetter("turns"))
tool_calls = View("tool call of a request", Side.CLIENT, attrgetter("calls"), Index.count_calls)
tool_results = View("tool message", Side.CLIENT, attrgetter("results"))
tool_definitions = View("tool definition", Side.CLIENT, attrgetter("tools"))
resent = View("reply sent back", Side.CLIENT, attrgetter("resent"))
sequels = View("request that goes on from another", Side.CLIENT, attrgetter("sequels"))
answers = View("answer of any status", Side.PROVIDER, attrgetter("answers"))
responses = View("reply body", Side.PROVIDER, attrgetter("responses"), variant="plain")
replies = View("reply", Side.PROVIDER, attrgetter("replies"))
reply_calls = View("tool call of a reply", Side.PROVIDER, attrgetter("reply_calls"))
streams = View("stream", Side.PROVIDER, attrgetter("streams"), variant="stream")
chunks = View("chunk", Side.PROVIDER, attrgetter("chunks"), Index.count_chunks, variant="stream")
errors = View("error reply", Side.PROVIDER, attrgetter("errors"))
usages = View("token count", Side.PROVIDER, attrgetter("usages"))
