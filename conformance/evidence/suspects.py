"""Recordings whose reply can hardly be the host's own: somebody edited them, or wrote them.

What is found is a suspicion, to be looked at: only then a recording is marked in the index, with the reason.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.evidence.impossible import is_drawn, signs, without_rows
from conformance.wire.elements import Reply
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.text import content_text
from conformance.wire.values import as_object
from conformance.wires import translate

_MARKS: Final = {
    "x_groq": ("groq",),
    "time_info": ("cerebras",),
    "native_finish_reason": ("openrouter",),
    "prompt_filter_results": ("azure_openai", "azure_foundry", "github_copilot"),
    "nvext": ("nvidia",),
    "num_sources_used": ("xai", "azure_foundry", "azure_openai"),
    "cost_in_usd_ticks": ("xai", "azure_foundry", "azure_openai"),
    "prompt_cache_hit_tokens": ("deepseek", "siliconflow"),
    "queue_time": ("groq", "cerebras"),
}
"""Members of replies or of their usage that one host has, and the profiles of that host."""

_VALUES: Final = {
    ("system_fingerprint", re.compile(r"fp_ollama")): ("ollama", "ollama_cloud"),
    ("id", re.compile(r"gen-\d{10}-\w+")): ("openrouter",),
}
"""Members whose values one host has, likewise."""

_MADE_UP: Final = re.compile(r"[a-z]*[-_]?(?:123\d{0,7}|abc(?:123)?|x{3,}|test|fake|mock|example|foo)", re.IGNORECASE)
"""An id that nobody draws."""

_TYPED: Final = re.compile(r"12345|67890|abcdef|xyz\b")
"""What ids of calls have that somebody typed."""

_SEQUENCE: Final = re.compile(
    r"0f1a2b|1a2b3c|2b3c4d|3c4d5e|4d5e6f|a1b2c3|b2c3d4|c3d4e5|d4e5f6|aabbcc|bbccdd|ccddee|ddeeff|112233|223344|334455",
    re.IGNORECASE,
)
"""What somebody types who makes up an id that looks drawn, one letter and one digit after the other."""

_DRAWN: Final = 12
"""Letters and digits of an id that is long enough for that."""

_VERSION: Final = re.compile(r"(?<![\d.])\d")
_VENDORS: Final = ("openai", "anthropic")
"""Vendors whose alias of a model has the number of its generation."""

_FIRST: Final = 1_650_000_000
"""No host served chat completions before, in 2022."""

_GATEWAYS: Final = (
    "litellm",
    "portkey",
    "vercel_gateway",
    "cline_gateway",
    "opencode_zen",
    "openrouter",
    "huggingface",
)
"""Profiles that pass on the members of other hosts."""

_LETTERS_A_TOKEN: Final = 16
"""No tokenizer needs so few tokens for a text."""

_MIN_LETTERS: Final = 160
"""A shorter text may be the same by chance, and its tokens may be counted in another way."""

_MARK: Final = re.compile(r"<[|\uff5c][^<>|\uff5c]{1,40}[|\uff5c]>")
_ROUND: Final = 100_000
_COUNTED: Final = ("1234567", "0123456")


class Suspect(NamedTuple):
    """A recording, by its name, and why its reply can hardly be the host's own."""

    name: str
    reason: str


class SuspectFinder:
    """Looks at recordings one after the other, and remembers what each said."""

    def __init__(self) -> None:
        """Begin with no recording."""
        self._said: dict[bytes, tuple[str, str, str]] = {}
        self._named: dict[tuple[str, str], tuple[str, str]] = {}

    def add(self, name: str, provider: str, exchange: Exchange) -> Iterator[Suspect]:
        """Yield why a recording is suspect; `provider` is a profile, with its wire."""
        service = provider.partition(".")[0]
        conversation = translate((exchange,))
        index = Index(conversation)
        text = "".join([_text(reply) for reply in index.replies])
        yield from (Suspect(name, reason) for reason in _reasons(service, index, text))
        yield from (Suspect(name, reason) for reason in _of_model(service, exchange.model, index))
        yield from (Suspect(name, reason) for reason in signs(service, conversation[0], index))
        for body in _bodies(index) if text else ():
            reply = body.get("id", body.get("responseId"))
            if isinstance(reply, str) and is_drawn(reply):
                other, said = self._named.setdefault((service, reply), (name, text))
                if said != text:
                    yield Suspect(name, f"its id is that of {other}, which says something else")
        # JSON that a schema asks for may be the same by the data of a tool.
        if len(text) >= _MIN_LETTERS and text[:1] not in "{[":
            key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
            other, owner, model = self._said.setdefault(key, (name, service, exchange.model))
            if owner != service and not _is_same(model, exchange.model) and not {owner, service} & set(_GATEWAYS):
                yield Suspect(name, f"its text is that of {other}, a recording of {owner}")


def _reasons(service: str, index: Index, text: str) -> Iterator[str]:
    for usage in index.usages:
        tokens = usage.value.get("completion_tokens")
        details = as_object(usage.value.get("completion_tokens_details"))
        # Some hosts count reasoning apart.
        apart = details.get("reasoning_tokens") or usage.value.get("reasoning_tokens")
        tokens = tokens + apart if type(tokens) is int and type(apart) is int else tokens
        length = len(without_rows(text))
        if type(tokens) is int and length >= _MIN_LETTERS and 0 < tokens * _LETTERS_A_TOKEN < length:
            yield f"{tokens:,} completion tokens do not fit {len(text):,} letters"
    for call in [call for reply in index.replies for call in reply.calls]:
        if isinstance(call.id, str) and (_TYPED.search(call.id) or _is_typed(call.id)):
            yield f"the id of a call is {call.id:.60}"
    for body in _bodies(index):
        yield from _foreign(service, body)
        yield from _of_time(body.get("created", body.get("created_at")), index)
        name = body.get("id", body.get("responseId"))
        if isinstance(name, str) and (_MADE_UP.fullmatch(name) or _is_typed(name)):
            yield f"the id is {name}"
    if _are_round(index, 100) and not any(reply.finish_reason == "length" for reply in index.replies):
        yield "the tokens are hundreds"


def _of_time(created: Any, index: Index) -> Iterator[str]:
    if type(created) is not int or not created:
        return
    if not created % _ROUND or str(created).startswith(_COUNTED) or created < _FIRST:
        yield f"created is {created}"
    elif not created % 1000 and _are_round(index):
        yield f"created is {created}, and the tokens are round"


def _is_typed(name: str) -> bool:
    return len(name) >= _DRAWN and _SEQUENCE.search(name) is not None


def _are_round(index: Index, step: int = 10) -> bool:
    """Return whether the tokens of a reply are all multiples of a number."""
    names = ("prompt_tokens", "completion_tokens")
    counts = [usage.value.get(name) for usage in index.usages for name in names]
    return bool(counts) and all(type(each) is int and each > 0 and not each % step for each in counts)


def _of_model(service: str, asked: str, index: Index) -> Iterator[str]:
    """Yield that a vendor's reply is of another generation than the model that was asked for."""
    wanted = _VERSION.findall(asked)[:1] if service in _VENDORS else []
    for body in _bodies(index) if wanted else ():
        got = body.get("model")
        if isinstance(got, str) and (found := _VERSION.findall(got)[:1]) and found != wanted:
            yield f"the reply is of {got}, and {asked} was asked for"


def _foreign(service: str, body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the members and values of a reply that another host has."""
    if service in _GATEWAYS:
        return
    held = [body, as_object(body.get("usage")), *_choices(body)]
    for mark, owners in _MARKS.items():
        if service not in owners and any(mark in each for each in held):
            yield f"{mark} is a member of {owners[0]}"
    for (member, pattern), owners in _VALUES.items():
        value = body.get(member)
        if service not in owners and isinstance(value, str) and pattern.fullmatch(value):
            yield f"{member} {value} is of {owners[0]}"


def _choices(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    held = body.get("choices")
    return [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []


def _bodies(index: Index) -> Iterator[dict[str, Any]]:
    """Yield the bodies of replies, of a stream the first chunk."""
    for exchange in index.conversation:
        native = exchange.native
        body = native.reply if native is not None else exchange.response
        if isinstance(body, dict):
            yield body
    for stream in index.streams:
        chunks = [each for each in stream.value.chunks if isinstance(each, dict)]
        yield from chunks[:1]


def _text(reply: Reply) -> str:
    """Return what a reply says, each run of spaces as one; summaries of reasoning are not counted as tokens."""
    arguments = [call.arguments for call in reply.calls if isinstance(call.arguments, str)]
    text = " ".join(" ".join([content_text(reply.message.get("content")) or "", *arguments]).split())
    # A model that fails repeats its own marks, each of which is one token.
    return _MARK.sub("|", text)


def _is_same(left: str, right: str) -> bool:
    """Return whether two names may be those of one model, which may answer in the same words at two hosts."""
    one, other = _letters(left), _letters(right)
    return one in other or other in one


def _letters(model: str) -> str:
    return "".join(filter(str.isalnum, model.rpartition("/")[2].lower()))
