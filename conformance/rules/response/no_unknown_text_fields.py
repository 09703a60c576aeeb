import re

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.rules.reasoning_claims import reply_fields
from conformance.wire.elements import Reply
from conformance.wire.reasoning import ALL_KEYS, TEXT_KEYS, carried_fields, foreign_keys, reasoning_text
from conformance.wire.text import content_text, quoted
from conformance.wire.views import replies

_MESSAGE = "/0/response/choices/0/message"
_DELTA = "/0/response/1/choices/0/delta"
_KNOWN = frozenset(
    {"role", "content", "refusal", "tool_calls", "function_call", "audio", "annotations", *ALL_KEYS}
    - {"reasoning_text"}
)
_OF_REASONING = re.compile("reason|think|thought|chain_of|cot$", re.IGNORECASE)
_OPAQUE = re.compile("signature|opaque|encrypted|(^|_)id$", re.IGNORECASE)


@rule(
    Level.SHOULD,
    on=replies,
    source=Source(
        "https://github.com/vllm-project/vllm/issues/27755",
        "That PR makes the change from `reasoning_content` to `reasoning`, maintaining backwards compatibility.",
    ),
    bad=[
        example("plain", {f"{_MESSAGE}/thinking_text": "May is mild, so snow is rare."}),
        example("plain", {f"{_MESSAGE}/reasoning_text": "Mild."}),
        example("plain", {f"{_MESSAGE}/notes": "It is mild."}),
        example("stream-plain", {f"{_DELTA}/reasoning_text": "May"}),
    ],
    good=[
        example("plain"),
        example("plain", {f"{_MESSAGE}/phase": "final_answer"}),
        example("plain", {f"{_MESSAGE}/reasoning_opaque": "b3BhcXVl"}),
        example("plain", {f"{_MESSAGE}/provider_metadata": {"note": "It is mild."}}),
        example("plain", {f"{_MESSAGE}/summary": "It is mild."}, {"reply.message-fields": ["summary"]}),
        example("plain", {f"{_MESSAGE}/reasoning_text": "Mild."}, {"reasoning.response-field": "reasoning_text"}),
    ],
    reads=("reasoning.response-field", "reasoning.response-field-switches", "reply.message-fields"),
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A reply has no text in a field that the canonical wire does not have.

    Providers may add fields, but text in one of them is mostly reasoning or an answer under another name (GitHub
    Copilot sends `reasoning_text`). Clients do not show it, do not store it and do not send it back. To fix it, send
    the text in the field that clients read; keep the other name beside it as long as clients need it.
    """
    faults: list[Fault] = []
    if reply.message.keys() <= _KNOWN:
        return faults
    documented = [name for name in as_words(context.claim("reply.message-fields")) if not _OF_REASONING.search(name)]
    documented += foreign_keys(reply_fields(context))
    # If the field of the reasoning is claimed, `reasoning/in-claimed-field` reports the others.
    elsewhere = TEXT_KEYS if reply_fields(context) else ()
    for key in sorted(reply.message.keys() - _KNOWN.union(documented, elsewhere)):
        text = _text(reply, key)
        if _is_prose(key, text):
            at, field = ("message", key), _replaced_field(key, text, reply, context)
            faults.append(Fault(f"expected the text in {field}, got it in {key!r:.60}: {quoted(text)}", at=at))
    return faults


def _text(reply: Reply, key: str) -> str:
    """Return the text under a key; fragments of a stream are joined, since the assembled message has only the last."""
    value = reply.message[key]
    return reply.texts.get(key, value) if type(value) is str else ""


def _is_prose(key: str, text: str) -> bool:
    """Return whether a text is written for readers: it has several words, or the field has the name of reasoning."""
    text = text.strip()
    if not text or (_OPAQUE.search(key) and " " not in text):
        return False
    # Prose in Chinese or Japanese has no spaces.
    has_words = any([sign.isspace() or (sign.isalpha() and not sign.isascii()) for sign in text])
    return has_words or bool(_OF_REASONING.search(key))


def _replaced_field(key: str, text: str, reply: Reply, context: Context) -> str:
    """Return the field that probably should have the text."""
    message = reply.message
    for field in carried_fields(message):
        if field != key and reasoning_text(message, field) == text:
            return f"{field} only"
    if not _OF_REASONING.search(key) and not content_text(message.get("content")) and not reply.calls:
        return "content"
    claimed = [field for field in reply_fields(context) if field != "none"]
    return " or ".join(claimed) or "reasoning_content"
