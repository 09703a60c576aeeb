"""A fake provider: the simulator behind a loopback server that alters single replies."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from conformance import profiles
from conformance.simulator import Simulator
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving


@contextmanager
def altered(alter: Callable[[int, Any, HttpReply], HttpReply]) -> Iterator[str]:
    """Serve OpenAI's profile and yield its base URL; `alter` gets the number and body of a request and its reply.

    The replies have no header that names the simulator, so they count as those of a real endpoint.
    """
    simulator = Simulator(profiles.load("openai"))
    number = 0

    def answer(request: HttpRequest) -> HttpReply:
        nonlocal number
        number += 1
        reply = simulator.answer(request)
        unlabelled = HttpReply(reply.status, reply.body, {"content-type": reply.headers["content-type"]})
        return alter(number, json.loads(request.body), unlabelled)

    with serving(answer) as url:
        yield f"{url}/v1"
