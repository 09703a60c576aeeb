"""What a reply depends on beside the texts of a conversation, and how it is made again for other texts.

A reply is derived from the outline of its request, and checked against that. Of the texts themselves it depends on
three things: the ids and signatures in it, each of which matches the same pattern for every text; the number of tokens
of the prompt; and the texts of its turn. So replies to requests with the same outline and the same turn differ only in
these values: the first one is derived and checked, and the others are made of it.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from conformance.caches import ByteCache, digest
from conformance.profiles import Profile
from conformance.scenarios import ScriptTurn
from conformance.simulator.reply_context import ReplyContext
from conformance.transport.http import HttpReply
from conformance.wire.ids import is_of_place

MAX_BYTES: Final = 4 * 1024 * 1024
"""Bytes of the replies that are remembered."""

_NAMES: Final = frozenset({"user", "metadata", "safety_identifier", "prompt_cache_key"})
"""Members of a request that only name who asks; no reply depends on them."""

BROKEN: Final = "\ufffd".encode()
"""What a reply may hold only if the request has it, too."""

_ESCAPED: Final = re.compile(rb"\\u[fF]{3}[dD]")
_FORMS: Final = 16
"""So many forms of the values of one outline are remembered: ids may have a length between two."""

_MAX_OUTLINE_BYTES: Final = 64 * 1024
"""Larger replies are not remembered, since what makes them large may be of the request."""

_MARK: Final = "\x7f"
_FIRST_NUMBER: Final = 1_234_000_000
_MARKED: Final = re.compile(rb"([A-Za-z])\x7f+|(?<![\d.])1234(\d{6})(?![\d.])")
_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

Derive: TypeAlias = Callable[[ReplyContext], HttpReply]
"""What derives the reply from the claims and the request of a context."""

Asked: TypeAlias = tuple[Any, ...]
"""A value of a reply as it is asked for: the name of what returns it, and its arguments."""


class Beginning(NamedTuple):
    """The first characters of a value, by its number."""

    number: int
    length: int


Chunk: TypeAlias = bytes | tuple[bytes | int | Beginning, ...]
"""A body, or a chunk of a stream: bytes, with the numbers of the values between them, or what they begin with."""


def outline(body: Mapping[str, Any], *, is_clean: bool = False) -> dict[str, Any]:
    """Return a request without who asks and without the texts of its messages: of these, the role of the last one.

    `is_clean`: the request is known to hold no replacement character. Raises TypeError for one that cannot be rendered.
    """
    kept = {name: value for name, value in body.items() if name not in _NAMES}
    listed = body.get("messages")
    if isinstance(listed, list):
        last = listed[-1] if listed and isinstance(listed[-1], dict) else {}
        text = BROKEN.decode() if not is_clean and BROKEN in orjson.dumps(body) else ""
        kept["messages"] = [{"role": last.get("role"), "content": text}]
    return kept


def may_be_broken(raw: bytes) -> bool:
    """Return whether a text may hold a replacement character, as it is or escaped."""
    return BROKEN in raw or (b"\\u" in raw and _ESCAPED.search(raw) is not None)


class _DrawnValues:
    """The values of a reply that depend on the texts of its request; `marked`: marks of the same length instead."""

    def __init__(self, source: ReplyContext, *, marked: bool) -> None:
        self.asked: dict[Asked, str] = {}
        self._source, self._marked = source, marked

    def matching_text(self, pattern: str, salt: str) -> str:
        return self._take(("matching_text", pattern, salt))

    def call_id(self, name: str, position: int) -> str:
        return self._take(("call_id", name, position))

    def reply_id(self, pattern: str) -> str:
        return self._source.reply_id_parts(pattern)[0] + self._take(("reply_id_rest", pattern))

    def prompt_tokens(self) -> int:
        return _FIRST_NUMBER if self._marked else self._source.prompt_tokens()

    def _take(self, asked: Asked) -> str:
        if asked not in self.asked:
            self.asked[asked] = getattr(self._source, asked[0])(*asked[1:])
        text = self.asked[asked]
        if not self._marked or is_of_place(text):
            return text
        number = list(self.asked).index(asked)
        return chr(_LETTERS[number % len(_LETTERS)]) + _MARK * (len(_escaped(text)) - 1)


class _ValuesForm(NamedTuple):
    """What the values of a reply have in common with those of another one that differs in nothing else.

    `lengths`: those of the texts in JSON. `same`: for each, the first one that equals it. `places`: the ids that only
    say where a call stands, which some wires leave out.
    """

    lengths: tuple[int, ...]
    same: tuple[int, ...]
    places: tuple[str, ...]

    @classmethod
    def of(cls, texts: Sequence[str], shown: Sequence[bytes]) -> "_ValuesForm":
        """Return the form of some texts, given with what they are in JSON."""
        places = tuple([text for text in texts if text[0:1] == "t" and is_of_place(text)])
        return cls(tuple(map(len, shown)), tuple(map(texts.index, texts)), places)


class _CheckedReply(NamedTuple):
    """A reply that was checked. `chunks`: its body, or its chunks if it is a stream; None if they are not known yet.

    `beyond`: what its numbers of tokens have beyond that of the prompt; as values, they come after the texts.
    """

    reply: HttpReply
    chunks: tuple[Chunk, ...] | None = None
    beyond: tuple[int, ...] = ()


class _OutlineReplies(NamedTuple):
    """The replies to one outline: which values they ask for, and the last replies by the form of these.

    `profile` is held, so that no other object gets its identity.
    """

    profile: Profile
    asked: tuple[Asked, ...]
    replies: OrderedDict[_ValuesForm, _CheckedReply]


class ReplyMemory:
    """The last replies of a simulator, up to some bytes, without the values that depend on the texts of requests."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._known: ByteCache[_OutlineReplies] = ByteCache(MAX_BYTES)

    def reply(
        self,
        key: bytes,
        profile: Profile,
        context: ReplyContext,
        drawn: Mapping[str, Any],
        derive: Derive,
        check: Callable[[HttpReply], HttpReply],
    ) -> HttpReply:
        """Return the reply to a request, derived and checked unless one is known that differs in values alone.

        `context` is that of the whole request, `drawn` its outline, and `key` tells all but the values. `check` returns
        a reply, or an error in its place.
        """
        known, filled = self._find(key, profile, context)
        if filled is not None:
            return filled
        values = _DrawnValues(context, marked=False)
        reply = derive(replace(context, request=drawn, values=values))
        if known is None and (checked := check(reply)) is not reply:
            return checked
        fresh = _CheckedReply(reply)
        if known is not None:
            fresh = _divided(fresh, list(values.asked.values()), context, drawn, derive)
        self._keep(key, profile, values.asked, fresh)
        return reply

    def learn(
        self, key: bytes, profile: Profile, context: ReplyContext, drawn: Mapping[str, Any], derive: Derive
    ) -> HttpReply:
        """Return the reply to a request, derived as in `reply`, and remember it for others with the same key."""
        values = _DrawnValues(context, marked=False)
        reply = derive(replace(context, request=drawn, values=values))
        fresh = _divided(_CheckedReply(reply), list(values.asked.values()), context, drawn, derive)
        self._keep(key, profile, values.asked, fresh)
        return reply

    def known(self, key: bytes, profile: Profile, context: ReplyContext) -> HttpReply | None:
        """Return the reply to a request if it can be made of an earlier one; None if it has to be derived."""
        return self._find(key, profile, context)[1]

    def _find(
        self, key: bytes, profile: Profile, context: ReplyContext
    ) -> tuple[_CheckedReply | None, HttpReply | None]:
        """Return the reply with values of the same form, and what it is with those of this request, if both exist."""
        found = self._known.find(key)
        if found is None or found[0].profile is not profile:
            return None, None
        texts = [getattr(context, each[0])(*each[1:]) for each in found[0].asked]
        shown = list(map(_escaped, texts))
        known = found[0].replies.get(_ValuesForm.of(texts, shown))
        if known is None or known.chunks is None:
            return known, None
        return known, _filled(known, shown, context)

    def _keep(self, key: bytes, profile: Profile, asked: Mapping[Asked, str], known: _CheckedReply) -> None:
        """Remember a reply, given with the values that it asks for."""
        texts = list(asked.values())
        form = _ValuesForm.of(texts, list(map(_escaped, texts)))
        empty = _OutlineReplies(profile, (*asked,), OrderedDict())
        found = self._known.find(key)
        is_same = found is not None and (found[0].profile, found[0].asked) == (empty.profile, empty.asked)
        # A copy, because another thread may look into the one that is kept.
        replies = OrderedDict(found[0].replies if found is not None and is_same else {})
        replies[form] = known
        if len(replies) > _FORMS:
            replies.popitem(last=False)
        size = sum([_size(each.reply) for each in replies.values()])
        if size <= _MAX_OUTLINE_BYTES:
            self._known.keep(key, empty._replace(replies=replies), size)


def key_of(
    profile: Profile, turn: ScriptTurn, context: ReplyContext, drawn: Mapping[str, Any], broken: Set[str]
) -> bytes:
    """Return what tells the replies to the outline of a request from others; raises TypeError as `outline` does."""
    said = (turn.says, turn.thinks, turn.calls, turn.ids)
    return digest((orjson.dumps((id(profile), drawn, said, *context.parameters, context.thinks, sorted(broken))),))


def _filled(known: _CheckedReply, texts: Sequence[bytes], context: ReplyContext) -> HttpReply | None:
    """Return a known reply with the values of another request, which have the same form, as they are in JSON.

    None if it has the beginning of a value whose characters are not bytes of their own.
    """
    shown = [*texts]
    if known.beyond:
        prompt = context.prompt_tokens()
        shown += [b"%d" % (prompt + number) for number in known.beyond]
    try:
        made = [_joined(chunk, shown) for chunk in known.chunks or ()]
    except _Unshown:
        return None
    reply = known.reply
    return HttpReply(reply.status, made[0] if isinstance(reply.body, bytes) else tuple(made), reply.headers)


class _Unshown(Exception):
    """The beginning of a value is asked for, whose characters are not bytes of their own."""


def _joined(chunk: Chunk, shown: Sequence[bytes]) -> bytes:
    """Return a chunk with the values that are shown."""
    if isinstance(chunk, bytes):
        return chunk
    # `type(…) is` costs less than isinstance, and this runs for each part of each chunk.
    made: list[bytes] = []
    for each in chunk:
        if type(each) is bytes:
            made.append(each)
        elif type(each) is int:
            made.append(shown[each])
        elif isinstance(each, Beginning):
            text = shown[each.number]
            if b"\\" in text or not text.isascii():
                raise _Unshown
            made.append(text[: each.length])
    return b"".join(made)


def _divided(
    known: _CheckedReply, texts: Sequence[str], context: ReplyContext, drawn: Mapping[str, Any], derive: Derive
) -> _CheckedReply:
    """Return a reply with its parts between the values, if these can be separated from the rest of it."""
    values = _DrawnValues(context, marked=True)
    body = derive(replace(context, request=drawn, values=values)).body
    whole = (body,) if isinstance(body, bytes) else tuple(body)
    beyond = sorted({int(each[2]) for chunk in whole for each in _MARKED.finditer(chunk) if each[2]})
    count = len(texts)
    if count > len(_LETTERS) or list(values.asked.values()) != texts:
        return known
    numbers = {number: count + at for at, number in enumerate(beyond)}
    shown = list(map(_escaped, texts))
    chunks = tuple([_parts(chunk, numbers, list(map(len, shown))) for chunk in whole])
    found = known._replace(chunks=chunks, beyond=tuple(beyond))
    return found if _filled(found, shown, context) == known.reply else known


def _parts(chunk: bytes, numbers: Mapping[int, int], lengths: Sequence[int]) -> Chunk:
    """Return the bytes of a chunk between its marks, and the numbers of the values that these stand for.

    A mark that is shorter than its value, by the lengths of all, stands for the beginning of that.
    """
    made: list[bytes | int | Beginning] = []
    end = 0
    for each in _MARKED.finditer(chunk):
        made.append(chunk[end : each.start()])
        end = each.end()
        if each[2]:
            made.append(numbers[int(each[2])])
            continue
        number, length = _LETTERS.index(each[1]), end - each.start()
        is_whole = number >= len(lengths) or length >= lengths[number]
        made.append(number if is_whole else Beginning(number, length))
    return (*made, chunk[end:]) if made else chunk


def _escaped(text: str) -> bytes:
    return orjson.dumps(text)[1:-1]


def _size(reply: HttpReply) -> int:
    """Return about how many bytes a reply and its parts take."""
    chunks = (reply.body,) if isinstance(reply.body, bytes) else reply.body
    return sum([2 * len(each) + 256 for each in chunks])
