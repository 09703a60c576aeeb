"""The text of a request body, as it is sent and compared."""

import json
from collections.abc import Mapping
from typing import Any


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return the text of a request as it is sent."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return escaped(body)


def escaped(body: Mapping[str, Any]) -> bytes:
    """Return the text of a request in ASCII: half a surrogate pair has no other form."""
    return json.dumps(body, separators=(",", ":")).encode()
