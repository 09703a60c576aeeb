"""Gemini: `POST …/models/<model>:generateContent`, and `:streamGenerateContent` for streams.

Source: https://ai.google.dev/api/generate-content
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from conformance.protocols import Protocol
from conformance.wire.exchange import Exchange

NAME: Final = "gemini"


def _path(body: Mapping[str, Any]) -> str:
    """Return the path of a request: on this wire, it names the model and whether the reply is a stream."""
    method = "streamGenerateContent?alt=sse" if body.get("stream") is True else "generateContent"
    return f"/models/{quote(str(body.get('model', '')), safe='')}:{method}"


def _is_request(body: dict[str, Any]) -> bool:
    return type(body.get("contents")) is list and "messages" not in body


def _is_reply(body: dict[str, Any]) -> bool:
    return type(body.get("candidates")) is list or "usageMetadata" in body or "promptFeedback" in body


def _translate(exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
    # Imported here because most runs meet no exchange of this wire.
    from conformance.protocols.gemini.translating import translated

    return [translated(exchange) for exchange in exchanges]


PROTOCOL: Final = Protocol(
    NAME,
    "Gemini",
    _path,
    re.compile(r"(?:/.+)?/models/[^/]+:(?:generateContent|streamGenerateContent)"),
    (":generateContent", ":streamGenerateContent"),
    _is_request,
    _is_reply,
    ('"candidates":', '"usageMetadata":'),
    _translate,
)
