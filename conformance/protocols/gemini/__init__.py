"""Gemini: `POST …/models/<model>:generateContent`, and `:streamGenerateContent` for streams.

Source: https://ai.google.dev/api/generate-content
"""

from collections.abc import Sequence
from typing import Any, Final

from conformance.protocols import Protocol
from conformance.wire.exchange import Exchange

NAME: Final = "gemini"


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
    ":generateContent",
    (":generateContent", ":streamGenerateContent"),
    _is_request,
    _is_reply,
    ('"candidates":', '"usageMetadata":'),
    _translate,
)
