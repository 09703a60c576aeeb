"""A provider that is none: the simulator behind a server on loopback that has moods, request by request."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from conformance import profiles
from conformance.simulator import Simulator
from conformance.transport.server import HttpReply, HttpRequest, serving

OPENAI: Final = profiles.load("openai")
"""Loaded with this module, since pytester forgets afterwards what is imported during a test, and PyYAML minds."""


@contextmanager
def moody(mood: Callable[[int, Any, HttpReply], HttpReply]) -> Iterator[str]:
    """Serve OpenAI's profile and yield its base URL; `mood` gets each request's number and body, and the reply to it.

    The replies do not say that a simulator made them, so that they count as a real endpoint's.
    """
    simulator = Simulator(OPENAI)
    asked = 0

    def answer(request: HttpRequest) -> HttpReply:
        nonlocal asked
        asked += 1
        found = simulator.answer(request)
        plain = HttpReply(found.status, found.body, {"content-type": found.headers["content-type"]})
        return mood(asked, json.loads(request.body), plain)

    with serving(answer) as url:
        yield f"{url}/v1"
