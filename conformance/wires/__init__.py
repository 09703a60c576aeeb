"""Other wires, translated into chat completions, so that one rule set judges them all.

One package per wire; the folder is the registry. A translated exchange is what the rules look at; `native` holds
what it was, what has no counterpart, and where each part comes from, so that findings point into the native body. A
translation loses nothing that a rule looks at and repairs nothing: a call that is not answered stays unanswered, an id
that is missing stays missing.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, cast

from conformance.errors import UnknownName
from conformance.wire.exchange import Conversation, Exchange, model_of
from conformance.wire.native import CHAT, OWN, Native, NativeEvent

if TYPE_CHECKING:
    # Only conversions need them, and most runs convert nothing.
    from conformance.wire.drafts import Transcript
    from conformance.wire.losses import Losses

NAMES: Final = (
    CHAT,
    *sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg and module.name != CHAT),
)
"""The names of all wires: the canonical one first, then the others in alphabetical order."""

NATIVE: Final = NAMES[1:]
"""The names of the wires that are translated."""

_HEAD: Final = 4096

_CHAT_PATH: Final = re.compile(r"/chat/completions(?:/[^/]+)?/?\Z")
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
_REPLY: Final = frozenset({"candidates", "error"})
_STREAMS: Final = ("{", "data:", "event:", "id:")
"""How the text of a reply begins that is one of an API at all."""
_REQUEST: Final = frozenset({"messages", "contents", "previous_response_id", "tools"})
_ANSWER: Final = frozenset({"choices", "candidates", "content", "error", "errors", "detail", "message", "role"})
"""What bodies on the wires have. `input` and `output` are in bodies of many APIs."""
_PARAMETERS: Final = frozenset(
    {"conversation", "frequency_penalty", "generationConfig", "include", "input", "instructions", "logprobs"}
    | {"max_completion_tokens", "max_output_tokens", "max_tokens", "metadata", "model", "n", "parallel_tool_calls"}
    | {"presence_penalty", "reasoning", "reasoning_effort", "response_format", "safetySettings", "seed", "service_tier"}
    | {"stop", "stop_sequences", "store", "stream", "stream_options", "system", "systemInstruction", "temperature"}
    | {"text", "thinking", "toolConfig", "tool_choice", "top_k", "top_p", "truncation", "user"}
)
"""What requests on the wires have besides: one that has nothing else is broken."""
NOTHING_KNOWN: Final = "its bodies have no key of a wire"
"""What stands for the name of an API that is not known."""
_TEXTS: Final = "text_completion"
_FOREIGN: Final = frozenset(
    {"bot_id", "chat_history", "inferenceConfig", "inputText", "inputs", "instances", "jsonrpc", "modelId", "modelUri"}
    | {"model_id", "payload", "preamble", "query", "toolConfig"}
)
"""What requests of other APIs have, and those on the wires have not."""

Translate: TypeAlias = Callable[[Exchange], Exchange]
"""What translates the exchanges of one conversation, one after the other."""


class WireReader(Protocol):
    """What `reading.py` of a wire does: its bodies as chat completions.

    The canonical wire has only `translator`, which returns what translates the exchanges of one conversation, one after
    the other, in order; or exchanges `apart` from each other, of any. `transcript` reads a request or a reply into a
    transcript, with its losses. `assembled` returns the reply that a stream adds up to, or the error that ends it; it
    raises InvalidDocument if a text is not a stream.
    """

    def translator(self, /, *, apart: bool = False) -> "Translate": ...  # noqa: D102 — above
    def transcript(self, native: dict[str, Any], draft: "Transcript", /) -> None: ...  # noqa: D102
    def assembled(self, stream: Any, /) -> dict[str, Any]: ...  # noqa: D102


class WireWriter(Protocol):
    """What `writing.py` of a wire does: chat completions as its bodies; it sends deviations as they are.

    `request`: as the suites send it. `reply`: as the simulator sends it; it takes the native request, too, since
    replies of some wires repeat it. `events`: those of the stream that adds up to a native reply. `conversation`: the
    messages alone, as a request has them. `hold`: what the wire can hold of canonical messages; the rest is noted.
    `own`: what a reply says, in the form in which a request sends it back; a message that has it under `OWN` is written
    so. `named`: the id of a reply whose id in chat completions is given, in two parts: what all begin with, and the
    rest; it takes the native request. The canonical wire has only `request` and `reply`.
    """

    def request(self, body: Mapping[str, Any], /) -> dict[str, Any]: ...  # noqa: D102 — above
    def reply(self, body: Mapping[str, Any], asked: Mapping[str, Any], /) -> dict[str, Any]: ...  # noqa: D102
    def events(self, reply: Mapping[str, Any], /) -> Iterable[NativeEvent]: ...  # noqa: D102
    def conversation(self, canonical: Sequence[Mapping[str, Any]], /) -> dict[str, Any]: ...  # noqa: D102
    def own(self, native: Native, /) -> Any: ...  # noqa: D102
    def named(self, identity: str, asked: Mapping[str, Any], /) -> tuple[str, str]: ...  # noqa: D102
    def hold(self, canonical: Sequence[Mapping[str, Any]], losses: "Losses", /) -> list[dict[str, Any]]: ...  # noqa: D102


class Wire(NamedTuple):
    """One wire: how its exchanges are recognised, and where they are read and written.

    `path`: what its clients append to the base URL to send a request of chat completions. `served`: the paths, after
    the version, at which the simulator plays it. `paths`: what the URL of one of its requests may contain. `is_request`
    and `is_reply` tell its bodies from those of other wires; None for a request that may be one of its own, or not.
    `is_usual` tells whether such a request is likely one of its own, by its model and what it lacks.
    `beginnings`: texts, one of which is in the first event of a stream. `headers` are those of a request with a key.
    `failure` is the event that reports an error inside a stream. `asked` and `said`: the members of a request and of a
    reply that hold messages. `is_array`: whether a stream at a URL comes as one JSON array of its events, instead of as
    server-sent events. `keeps_replies`: whether a request may refer to an earlier reply instead of sending it back.
    `holds_objects`: whether the arguments of a call are an object, not text. `streams_lists`: whether a stream may be
    the list of its events. `ended`: the member of a native reply that says why it ended, and its value.
    `settings`: returns where a request has a setting for which each wire has a name of its own, such as the token
    limit: its places, the usual one first (of an effort, the one that has it in words); none if the wire has no place
    for it. `event`: returns the name of an event of a stream, by its payload; empty if a value is no event.
    `schema_keywords`: the only keywords that the parameters of a tool may have, if the wire takes a part of JSON Schema
    there, and `schema_member` the other member of a tool that takes all of it.

    What its hosts serve beside replies: `counting` is the path, after the version, of a request to count tokens, and
    `counted` the answer for a number of them; `listed` is the list of models by their names, and `described` one of
    them. `asks` tells, by the path and the headers with names in lower case, whether a request without a body comes
    from a client of this wire.
    """

    name: str
    title: str
    path: Callable[[Mapping[str, Any]], str]
    served: re.Pattern[str]
    paths: tuple[str, ...]
    is_request: Callable[[dict[str, Any]], bool | None]
    is_reply: Callable[[dict[str, Any]], bool]
    beginnings: tuple[str, ...]
    headers: Callable[[str], Mapping[str, str]]
    failure: Callable[[str], NativeEvent]
    asked: tuple[str, ...]
    said: tuple[str, ...]
    is_array: Callable[[str], bool] = lambda _url: False
    keeps_replies: bool = False
    holds_objects: bool = False
    streams_lists: bool = False
    ended: Callable[[Mapping[str, Any]], tuple[str, Any]] = lambda _reply: ("", None)
    settings: Callable[[str], tuple[tuple[str, ...], ...]] = lambda _name: ()
    event: Callable[[Mapping[str, Any]], str] = lambda _value: ""
    schema_keywords: frozenset[str] = frozenset()
    schema_member: str = ""
    is_usual: Callable[[dict[str, Any]], bool] = lambda _body: False
    counting: re.Pattern[str] | None = None
    counted: Callable[[int], dict[str, Any]] = lambda number: {"tokens": number}
    listed: Callable[[Sequence[str], str], dict[str, Any]] | None = None
    described: Callable[[str, str], dict[str, Any]] | None = None
    asks: Callable[[str, Mapping[str, str]], bool] = lambda _path, _headers: False

    # Imported when they are needed, because most runs meet exchanges of one wire, or of none but chat completions.
    @property
    def reading(self) -> WireReader:
        """Return the module that reads the wire's bodies."""
        return cast("WireReader", _module(f"{self.name}.reading"))

    @property
    def writing(self) -> WireWriter:
        """Return the module that writes the wire's bodies."""
        return cast("WireWriter", _module(f"{self.name}.writing"))

    def write(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request of chat completions as one of this wire; one that holds its native form is that."""
        return body[OWN] if OWN in body else self.writing.request(body)

    def translate(self, exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
        """Return the exchanges of one conversation as those of chat completions, in order, with their native forms."""
        return list(map(self.reading.translator(), exchanges))

    def translate_one(self, exchange: Exchange) -> Exchange:
        """Return an exchange that stands alone, translated."""
        return self.reading.translator()(exchange)

    def fits(self, exchange: Exchange) -> bool:
        """Return whether an exchange is one of this wire, by its bodies."""
        request, response = exchange.request, exchange.response
        is_own = self.is_request(request) if type(request) is dict and request else None
        if is_own is not None:
            return is_own
        # A request may have nothing of its own; then the reply says it, but no error, which looks alike on other wires.
        if type(response) is dict:
            has_messages = type(request) is dict and "messages" in request
            return self.is_reply(response) and not (has_messages and "error" in response)
        return type(response) is str and any([each in response[:_HEAD] for each in self.beginnings])


@cache
def _module(name: str) -> ModuleType:
    """Return a module below this one; remembered, because every exchange asks for one."""
    return importlib.import_module(f"{__name__}.{name}")


@cache
def load() -> tuple[Wire, ...]:
    """Return every wire, in the order of NAMES."""
    return tuple([_module(name).WIRE for name in NAMES])


def by_name(name: str) -> Wire:
    """Return the wire of that name; raises UnknownName."""
    found = {wire.name: wire for wire in load()}
    if name not in found:
        raise UnknownName("wire", name, found)
    return found[name]


def of(exchange: Exchange, presumed: str = "") -> Wire:
    """Return the wire of an exchange, by its URL or else its bodies; the presumed one if nothing says otherwise.

    Without a presumed one, it is that for which the request is usual, and else chat completions.
    """
    chat, *others = load()
    if exchange.native is not None:
        return chat
    for wire in load() if exchange.url else ():
        if any([path in exchange.url for path in wire.paths]):
            return wire
    found = next((wire for wire in others if wire.fits(exchange)), chat)
    if found is not chat or presumed == CHAT or _is_of_chat(exchange.response):
        return found
    return by_name(presumed) if presumed else next((wire for wire in others if is_likely(exchange, wire)), chat)


def is_likely(exchange: Exchange, wire: Wire) -> bool:
    """Return whether nothing but what is usual says that an exchange is on a wire, so that it may be on another one."""
    request = exchange.request
    if exchange.url or exchange.native is not None or type(request) is not dict or not wire.is_usual(request):
        return False
    return wire.is_request(request) is None and exchange.response is None


def _is_of_chat(response: Any) -> bool:
    """Return whether a reply is one of chat completions: a body, the text of a stream, or its chunks."""
    if type(response) is str:
        return '"choices"' in response[:_HEAD]
    first = response[0] if type(response) is list and response else response
    return type(first) is dict and "choices" in first


def is_native(exchange: Exchange) -> bool:
    """Return whether an exchange is on another wire than chat completions, and not translated yet."""
    return of(exchange).name != CHAT


def event_name(value: Mapping[str, Any]) -> str:
    """Return the name of the event that has this payload on another wire than chat completions; empty if none has."""
    return next(filter(None, [wire.event(value) for wire in load()]), "")


def as_sent(body: Mapping[str, Any], wire: str) -> Exchange:
    """Return the exchange of a request of chat completions that is sent on a wire; it has no reply yet."""
    asked = by_name(wire)
    native, model = asked.write(body), model_of(dict(body))
    return asked.translate_one(Exchange.of_plain(request=native, url=asked.path(body), model=model))


def translate(conversation: Conversation, presumed: str = "") -> Conversation:
    """Return a conversation whose exchanges are all those of chat completions; those that are already stay the same.

    `presumed` is the wire of exchanges that do not show it.
    """
    translate_next = Translator(presumed)
    translated = tuple([translate_next(exchange) for exchange in conversation])
    # Most conversations are on the canonical wire, and stay what they are.
    same = all([one is other for one, other in zip(translated, conversation, strict=True)])
    return conversation if same else translated


class Translator:
    """Translates the exchanges of one conversation, one after the other, in order; or exchanges of any, each apart."""

    def __init__(self, presumed: str = "", *, apart: bool = False) -> None:
        """Begin without an exchange; `presumed` is the wire of those that do not show it.

        `apart`: what one exchange says is not known for another, but what both repeat is read once.
        """
        self._presumed, self._apart = presumed, apart
        self._by_wire: dict[str, Translate] = {}

    def __call__(self, exchange: Exchange) -> Exchange:
        """Return the exchange as one of chat completions; one that is already stays the same."""
        wire = of(exchange, self._presumed)
        if wire.name == CHAT:
            # No module that reads is imported.
            return exchange
        if wire.name not in self._by_wire:
            self._by_wire[wire.name] = wire.reading.translator(apart=self._apart)
        return self._by_wire[wire.name](exchange)


def other_api(exchange: Exchange) -> str:
    """Return the path or the name of the other API that an exchange is of; empty if it may be on a wire that is known.

    The URL decides, if it is that of an API that is known. A path that is not known says nothing: some hosts serve chat
    completions under one of their own. Then the bodies decide.
    """
    if exchange.native is not None:
        return ""
    path = _path(exchange.url) if exchange.url else ""
    if path and (_CHAT_PATH.search(path) or _OTHER.search(path)):
        return "" if _CHAT_PATH.search(path) else path
    others = [wire for wire in load() if wire.name != CHAT]
    if path and any([each in path for wire in others for each in wire.paths]):
        return ""
    if path and _asks_otherwise(exchange) and not any([wire.fits(exchange) for wire in others]):
        return path
    if not _is_unusual(exchange):
        return ""
    return _foreign_api(exchange) or (NOTHING_KNOWN if _has_nothing_of_a_wire(exchange) else "")


def _is_unusual(exchange: Exchange) -> bool:
    """Return whether nothing in the reply of an exchange, or else in its request, says which wire it is on."""
    request, response = exchange.request, exchange.response
    if type(response) is dict:
        if (choices := response.get("choices")) is not None:
            first = choices[0] if type(choices) is list and choices else None
            return response.get("object") == _TEXTS or (type(first) is dict and "messages" in first)
        # An error may be any API's.
        is_known = not _REPLY.isdisjoint(response) or response.get("object") == "response"
        return not is_known and response.get("type") not in ("message", "error")
    if type(response) is str:
        head = response[:_HEAD]
        beginnings = [each for wire in load() for each in wire.beginnings]
        if not head.lstrip().startswith(_STREAMS):
            return False
        if '"choices"' in head:
            return _TEXTS in head or '"output"' in head
        return not any([each in head for each in beginnings])
    return response is not None or (type(request) is dict and not _FOREIGN.isdisjoint(request))


def _has_nothing_of_a_wire(exchange: Exchange) -> bool:
    """Return whether the request of an exchange has keys of another API, and neither it nor the reply any of a wire.

    An error may be any API's, and bodies that merely lack what a wire has are broken.
    """
    request, response = exchange.request, exchange.response
    if type(request) is not dict or type(response) is not dict or not response:
        return False
    if type(response.get("output")) is list or not _ANSWER.isdisjoint(response) or not _REQUEST.isdisjoint(request):
        return False
    asks = not request.keys() <= _PARAMETERS or type(request.get("input")) is dict or type(request.get("text")) is str
    return asks and not any([wire.fits(exchange) for wire in load()])


def _foreign_api(exchange: Exchange) -> str:
    # Imported here because few exchanges are of another API.
    from conformance.wire.foreign import api_of

    return api_of(exchange.request, exchange.response)


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
