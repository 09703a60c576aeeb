"""Exchanges of other APIs, such as embeddings: no wire here is theirs, so nothing may judge them as one of its own."""

import re
from collections.abc import Mapping
from typing import Final

from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from conformance.wires import load

_CHAT: Final = re.compile(r"/chat/completions(?:/[^/]+)?/?\Z")
_OTHER: Final = re.compile(
    r"/(?:assistants|audio|batches|embed|embeddings|evals|files|fine_tuning|images|moderations|realtime|rerank|threads"
    r"|tokenize|uploads|vector_stores|videos)(?:/|\Z)"
    r"|/messages/(?:batches|count_tokens)\b"
    r"|/responses/(?:input_tokens|[^/]+/input_items)\b"
    r"|/chat/completions/[^/]+/messages\b"
    r"|:(?:batchEmbedContents|batchGenerateContent|countTokens|embedContent|predict)\b"
)
"""What the path of a URL has if it is one of OpenAI, Anthropic or Google for something else than a reply of a model."""
_KEYS: Final = frozenset({"assistant_id", "batch", "input", "inputs", "prompt", "query", "requests", "texts"})
"""What a request for something else has instead of `messages`."""


def other_api(exchange: Exchange) -> str:
    """Return the path of an exchange whose URL is that of another API; empty if it may be on a wire that is known.

    A path that is not known says nothing: some hosts serve chat completions under one of their own. Then the request
    decides, if there is one.
    """
    if not exchange.url or exchange.native is not None:
        return ""
    path = _path(exchange.url)
    if _CHAT.search(path):
        return ""
    if _OTHER.search(path):
        return path
    others = [wire for wire in load() if wire.name != CHAT]
    if any([each in path for wire in others for each in wire.paths]) or not _asks_otherwise(exchange):
        return ""
    return "" if any([wire.fits(exchange) for wire in others]) else path


def _asks_otherwise(exchange: Exchange) -> bool:
    request, response = exchange.request, exchange.response
    if isinstance(response, Mapping) and response.get("object") == "text_completion":
        return True
    return isinstance(request, Mapping) and "messages" not in request and not _KEYS.isdisjoint(request)


def _path(url: str) -> str:
    """Return the path of a URL, which may lack its scheme, and its host, too."""
    whole = url.partition("?")[0].partition("#")[0]
    rest = whole.partition("://")[2] or whole
    return "/" + rest.partition("/")[2]
