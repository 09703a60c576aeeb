"""Chat completions are canonical: writing them changes nothing."""

from collections.abc import Mapping
from typing import Any


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request."""
    return dict(body)


def reply(body: Mapping[str, Any], _asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply."""
    return dict(body)
