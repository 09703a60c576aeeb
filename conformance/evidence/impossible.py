"""What in a recorded exchange no server draws or counts so: sums, ids, signatures and servers that cannot be real."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.values import as_object, objects

_LETTERS_A_TOKEN: Final = 16
"""No tokenizer needs so few tokens for a text."""

_MIN_LETTERS: Final = 1000
"""A shorter prompt may be counted in another way."""

_ROW: Final = re.compile(r"(.)\1{3,}", re.DOTALL)
"""A row of the same sign, which is few tokens."""

_DRAWN: Final = 16
"""Letters and digits of an id that no server gives twice."""

_IDS: Final[Mapping[str, re.Pattern[str]]] = {
    "anthropic": re.compile(r"chatcmpl-|resp_|gen-"),
    "openai": re.compile(r"msg_0|gen-|cmpl-[0-9a-f]{32}"),
    "gemini": re.compile(r"chatcmpl-|msg_|resp_|gen-"),
}
"""How ids of replies begin that these vendors never give."""

_SIGNED: Final = ("anthropic", "bedrock", "vertex")
"""The hosts whose signatures are of Anthropic: base64 of more than a hundred bytes."""

_SIGNATURE: Final = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}")
_ITEM: Final = re.compile(r"[a-z]+_[0-9a-f]{20,}|[a-z]+_[A-Za-z0-9]{20,}")
_FINGERPRINT: Final = re.compile(r"fp_(?:\w*(?:test|mock|fake|dummy|example)\w*|123\w*|abc\w*|x+)", re.IGNORECASE)
_MOCK: Final = re.compile(
    r"\b(?:mock(?:ed)?|dummy|fake|stub(?:bed)?|canned) (?:response|reply|answer|completion)\b",
    re.IGNORECASE,
)
_SERVERS: Final = re.compile(r"Tornado|Werkzeug|WireMock|SimpleHTTP|BaseHTTP|WEBrick|Express|gunicorn", re.IGNORECASE)
_PUBLIC: Final = ("anthropic", "deepseek", "gemini", "groq", "mistral", "openai", "openrouter", "perplexity", "xai")
"""Vendors that stand behind a proxy of their own, so that no reply shows the server of an application."""

_LOCAL: Final = ("ollama", "llamacpp", "lmstudio")
"""Servers that cut a prompt, or count it without what they have cached."""

_WHOLE: Final = ("openai", "anthropic")
"""Hosts that count reasoning among the completion tokens, and cached tokens among those of the prompt."""


def signs(service: str, exchange: Exchange, index: Index) -> Iterator[str]:
    """Yield what cannot be so in an exchange with a host."""
    yield from _of_counts(service, index)
    asked = exchange.native.request if exchange.native is not None else exchange.request
    if service not in _LOCAL and "context_management" not in as_object(asked):
        yield from _of_prompt(index)
    yield from _of_stream(index)
    for body in _bodies(exchange):
        yield from _of_ids(service, body)
    said = [reply.message.get("content") for reply in index.replies]
    words = str(asked).lower()
    for text in [each for each in said if isinstance(each, str)]:
        if (found := _MOCK.search(text)) is not None and found[0].lower() not in words:
            yield f"its text says that it is a {found[0].lower()}"
    for name in ("server", "x-powered-by"):
        value = exchange.headers.get(name, "")
        if service in _PUBLIC and _SERVERS.search(value):
            yield f"{name} is {value:.60}"


def without_rows(text: str) -> str:
    """Return a text in which a row of the same sign is that sign, as tokenizers have few tokens for it."""
    return _ROW.sub(r"\1", text)


def is_drawn(name: str) -> bool:
    """Return whether an id is long enough that no two replies have it by chance."""
    return sum(map(str.isalnum, name.rpartition("-")[2].rpartition("_")[2])) >= _DRAWN or len(name) >= 2 * _DRAWN


def _of_counts(service: str, index: Index) -> Iterator[str]:
    for usage in index.usages:
        prompt, done, total = (
            _count(usage.value, each) for each in ("prompt_tokens", "completion_tokens", "total_tokens")
        )
        cached = _count(as_object(usage.value.get("prompt_tokens_details")), "cached_tokens")
        hidden = _count(as_object(usage.value.get("completion_tokens_details")), "reasoning_tokens")
        if service in _WHOLE and prompt and done and total not in (0, prompt + done):
            yield f"the total of {total:,} tokens is not the sum of {prompt:,} and {done:,}"
        if service in _WHOLE and cached > prompt > 0:
            yield f"{cached:,} of {prompt:,} prompt tokens are cached"
        if service in _WHOLE and hidden > done > 0:
            yield f"{hidden:,} of {done:,} completion tokens are reasoning"


def _count(held: Mapping[str, Any], name: str) -> int:
    value = held.get(name)
    return value if type(value) is int else 0


def _of_prompt(index: Index) -> Iterator[str]:
    """Yield that the tokens of a prompt are too few for its texts."""
    for usage in index.usages:
        counted = _count(usage.value, "prompt_tokens")
        text = without_rows("".join(_texts((usage.request or {}).get("messages"))))
        if counted and len(text) >= _MIN_LETTERS and counted * _LETTERS_A_TOKEN < len(text):
            yield f"{counted:,} prompt tokens do not fit {len(text):,} letters"


def _texts(messages: Any) -> Iterator[str]:
    for message in messages if isinstance(messages, list) else ():
        # A template may drop what the model thought and said before.
        content = None if as_object(message).get("role") == "assistant" else as_object(message).get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        yield from [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _of_stream(index: Index) -> Iterator[str]:
    """Yield that the chunks of a stream are of two replies: each id has several chunks, one reply after the other."""
    for stream in index.streams:
        names = [each.get("id") for each in stream.value.chunks if isinstance(each, dict) and each.get("id")]
        runs = [name for number, name in enumerate(names) if number == 0 or name != names[number - 1]]
        # A gateway may begin or end a stream with chunks of its own, whose ids have another form.
        if 1 < len(runs) == len(set(runs)) and len(runs) * 2 <= len(names) and len(set(map(_form, runs))) == 1:
            yield f"the chunks of one stream have the ids {runs[0]:.40} and {runs[1]:.40}"


def _form(name: Any) -> tuple[int, str]:
    text = str(name)
    return len(text), text.partition("-")[0] if "-" in text[:10] else ""


def _bodies(exchange: Exchange) -> Iterator[Mapping[str, Any]]:
    native = exchange.native
    body = native.reply if native is not None else exchange.response
    if isinstance(body, dict):
        yield body


def _of_ids(service: str, body: Mapping[str, Any]) -> Iterator[str]:
    name, fingerprint = body.get("id", body.get("responseId")), body.get("system_fingerprint")
    if service in _IDS and isinstance(name, str) and _IDS[service].match(name):
        yield f"the id {name:.60} is of another host"
    if isinstance(fingerprint, str) and _FINGERPRINT.fullmatch(fingerprint):
        yield f"system_fingerprint is {fingerprint:.60}"
    for _, block in objects(body.get("content")) if service in _SIGNED else ():
        signature = block.get("signature")
        if isinstance(signature, str) and signature and not _SIGNATURE.fullmatch(signature):
            yield f"a signature is {signature:.40}"
    for _, item in objects(body.get("output")) if service == "openai" else ():
        if isinstance(held := item.get("id"), str) and not _ITEM.fullmatch(held):
            yield f"the id of an item is {held:.60}"
