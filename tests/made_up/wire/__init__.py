"""A made-up wire: `POST /v1/parrot`, whose messages are utterances and whose calls are errands."""

import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.wire.native import NativeEvent
from conformance.wires import Wire


def _path(_body: Mapping[str, Any]) -> str:
    return "/parrot"


def _is_request(body: dict[str, Any]) -> bool | None:
    return type(body.get("utterances")) is list or None


def _is_reply(body: dict[str, Any]) -> bool:
    return "utterance" in body


def _headers(key: str) -> Mapping[str, str]:
    return {"x-perch": key} if key else {}


def _failure(message: str) -> NativeEvent:
    return NativeEvent("squawk", {"error": {"message": message}})


WIRE: Final = Wire(
    "parrot",
    "Parrot",
    _path,
    re.compile("/parrot"),
    ("/parrot",),
    _is_request,
    _is_reply,
    ('"utterance":', '"utterance": '),
    _headers,
    _failure,
    ("utterances",),
    ("utterance",),
)
