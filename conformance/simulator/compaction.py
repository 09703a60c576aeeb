"""Compaction of Responses: a shorter input that stands for a conversation.

Source: https://platform.openai.com/docs/api-reference/responses/compact
"""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.simulator import members
from conformance.simulator.http import as_json
from conformance.simulator.reply_context import tokens
from conformance.transport.http import HttpReply
from conformance.wire.values import objects

WIRE: Final = "responses"
PATH: Final = "/responses/compact"
CLAIM: Final = "responses.compaction"
_ID_BYTES: Final = 24


def compacted(body: Mapping[str, Any]) -> HttpReply:
    """Return the compacted input of a request: the user's messages as they were, and one item for all the rest.

    Ids and the encrypted content are made from the request, so that they are reproducible.
    """
    digest = hashlib.blake2b(orjson.dumps(body), digest_size=_ID_BYTES)
    given = body.get("input")
    listed = [{"role": "user", "content": given}] if type(given) is str else [item for _, item in objects(given)]
    kept = [_message(item, position, digest.hexdigest()) for position, item in enumerate(listed) if _is_user(item)]
    item = {"type": "compaction", "id": f"cmp_{digest.hexdigest()}", "encrypted_content": _blob(digest.digest())}
    asked, said = tokens(body), len(item["encrypted_content"]) // 4
    usage = {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": asked + said,
    }
    made = {
        "id": f"resp_{digest.hexdigest()}",
        "object": "response.compaction",
        "created_at": members.CREATED,
        "output": [*kept, item],
        "usage": usage,
    }
    return as_json(200, made)


def _is_user(item: Mapping[str, Any]) -> bool:
    return item.get("role") == "user" and item.get("type", "message") == "message"


def _message(item: Mapping[str, Any], position: int, seed: str) -> dict[str, Any]:
    content = item.get("content")
    parts = [{"type": "input_text", "text": content}] if type(content) is str else content
    return {"type": "message", "id": f"msg_{seed}{position}", "status": "completed", "role": "user", "content": parts}


def _blob(digest: bytes) -> str:
    return base64.b64encode(digest * 3).decode()
