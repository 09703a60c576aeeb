"""Sessions kept: the exchanges of each case as JSON Lines, which `conformance check` reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.wire.exchange import Conversation, Exchange

_SHOWN: Final = ("content-type",)
"""The headers of a reply that are kept; what else there is says nothing of the wire."""


def keep(folder: Path, name: str, conversation: Conversation, about: Mapping[str, Any]) -> Path:
    """Write a session to `<folder>/<name>.jsonl` and return the path; one line an exchange, under one session.

    `about` is said of each: the provider that was played, and the day whose claims were, which no reply tells.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('/', '-')}.jsonl"
    lines = [orjson.dumps({"session": name, **about, **_record(each)}) for each in conversation]
    path.write_bytes(b"".join([line + b"\n" for line in lines]))
    return path


def _record(exchange: Exchange) -> dict[str, Any]:
    return {
        "request": exchange.request,
        "response": exchange.response,
        "status": exchange.status,
        "stream": exchange.streamed,
        "headers": {name: value for name, value in exchange.headers.items() if name in _SHOWN},
        "url": "/chat/completions",
    }
