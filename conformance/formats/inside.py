"""Bodies inside what no format claims: JSON of other tools, and values in any text, as JSON or as Python prints them.

Exports of Postman and Insomnia, events of Sentry, rows of OpenPipe, lines of a cloud's logs, bug reports, `fetch` as a
browser copies it: they hold requests and replies whole, each under names of their own. A reply belongs to the request
before it. What holds records of a tool that has a format is read as those records.
"""

import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance import wires
from conformance.documents import JSON
from conformance.formats import failures, histories, logs, rebuilt, sse
from conformance.formats.inputs import Input
from conformance.formats.json import is_chunk
from conformance.formats.message_lists import ROLES
from conformance.formats.printed_values import UnreadableValue, value_at
from conformance.formats.records import as_object, as_text, is_validation, status_of
from conformance.wire.exchange import Exchange, model_of

KIND: Final = "inside"
NOTES: Final = (
    "found inside a file of another form: a reply belongs to the request before it, and headers are not read",
)
_STATUSES: Final = ("status", "status_code", "statusCode", "code", "http_status", "httpStatus")
_URLS: Final = ("url", "raw", "request_url", "uri", "endpoint", "api_base", "request_path")
_URL: Final = re.compile(
    r"https?://[^\s\"'<>)\\]{1,300}(?:completions|/messages|/responses|[gG]enerateContent)[^\s\"'<>)\\]{0,200}"
)
_START: Final = re.compile(r"[{\[]|\b[A-Z]\w{2,60}\(")
BODY_START: Final = (
    r"\{\s*[\"':]?(?:model|messages|contents|input|system|max_tokens|temperature|stream|tools)[\"']?\s*(?:=>|:)"
)
"""How the body of a request begins in a text, as JSON or as Python, JavaScript or Ruby print it."""
_BODY: Final = re.compile(BODY_START)
_MIN_PACKED: Final = 40
_FAILURE: Final = re.compile(
    r"(?:Error code|[Ee]rror|HTTP|[Ss]tatus): [45][0-9]{2}\b|\b[45][0-9]{2}:? \{[\"']"
    r"|\b(?:BadRequest|RateLimit|NotFound|Authentication|API|APIStatus|UnprocessableEntity)"
    r"Error\W+\w|\bValidationException\W+\w|\bstatus(?:[ _]?code)?\W{1,3}[45][0-9]{2}\b"
)
_ASKED: Final = frozenset({"input", "contents"})
_LISTED: Final = ("messages", "input", "output")
_OF_CHAT: Final = frozenset({"tool_calls", "tool_call_id"})
"""What only messages of chat completions have."""
_OF_RECORDS: Final = frozenset({"response", "output", "outputs", "completion", "kwargs"})
"""What records of calls have beside messages, and no body of a request."""
_PARAMETERS: Final = frozenset({"tools", "temperature", "max_tokens", "max_completion_tokens", "stream", "system"})
"""What a body has beside its messages where a URL names the model."""
_REPLIED: Final = frozenset({"content", "output", "candidates", "error", "promptFeedback"})
"""What bodies of requests and replies have on the other wires: to look at each object of a file closely takes long."""

_MAX_DEPTH: Final = 14
_MAX_VALUES: Final = 20_000
_MAX_FOUND: Final = 2_000
_MAX_TEXT: Final = 4 * 1024 * 1024
_MAX_TRIES: Final = 400
"""How many values that cannot be read are tried: each may take as long as the deepest one."""

_MAX_NAME: Final = 100
_ERROR: Final = 400


class _Body(NamedTuple):
    """A body that was found: of a request or of a reply, with the status and the URL that stand beside it."""

    value: Any
    status: int | None = None
    url: str = ""
    is_request: bool = False


def of_value(value: JSON, path: str, line: int | None = None) -> Iterator[Input]:
    """Yield what a JSON value holds; nothing if it holds no body."""
    log = _records(value)
    if log is not None:
        yield from logs.read(log[0], log[1], path, line)
        return
    found = list(_inputs(_BodySearch().bodies(value), path, line))
    # A line that holds one exchange is a record, and may name its session as records do.
    session = _session_of(value) if line is not None and len(found) == 1 else ""
    yield from [each._replace(session=session) for each in found]


def of_text(data: bytes, path: str) -> Iterator[Input]:
    """Yield what the values in a text hold; nothing if it holds none."""
    text = data[:_MAX_TEXT].decode("utf-8", "replace")
    yield from _inputs(_in_text(text), path, None)


def is_request(value: JSON) -> bool:
    """Return whether a value is the body of a request."""
    return isinstance(value, Mapping) and _kind(value) is True


def is_whole_request(value: JSON) -> bool:
    """Return whether a value is the body of a request, and not messages alone or of a framework."""
    return isinstance(value, Mapping) and is_request(value) and _asked(value, "") == value


def holds_request(value: JSON) -> bool:
    """Return whether a value holds the body of a request."""
    return any(each.is_request for each in _BodySearch().bodies(value))


def _records(value: JSON, depth: int = 3) -> Any:
    """Return the format and the records of a list inside a value, if all are of one tool; None if there is no such."""
    if isinstance(value, list):
        objects = [each for each in value if isinstance(each, Mapping)]
        tool = logs.reader_of(objects[0]) if objects and len(objects) == len(value) else None
        if tool is not None and all(map(tool.holds, objects)):
            return tool, objects
    elif isinstance(value, Mapping) and depth:
        return next(filter(None, (_records(each, depth - 1) for each in list(value.values())[:_MAX_FOUND])), None)
    return None


def _session_of(record: JSON) -> str:
    """Return the session that a record names; empty if it names none."""
    # Imported here because few files hold such records.
    from conformance.formats.mapped import SESSIONS

    for key, each in record.items() if isinstance(record, Mapping) else ():
        if (
            any(word in key.lower() for word in SESSIONS)
            and isinstance(each, str | int)
            and str(each)[_MAX_NAME:] == ""
        ):
            return str(each)
    return ""


def _in_text(text: str) -> Iterator[_Body]:
    """Yield the bodies of the values that stand in a text, in their order."""
    search, at, tries = _BodySearch(), 0, 0
    url = ""
    chunks: list[JSON] = []
    while tries < _MAX_TRIES and (found := _START.search(text, at)):
        if nearest := list(_URL.finditer(text, at, found.start())):
            url = nearest[-1][0]
        try:
            value, end = value_at(text, found.start())
        except (UnreadableValue, RecursionError):
            at, tries = found.end(), tries + 1
            continue
        if is_chunk(value):
            # Programs print the chunks of a stream one by one.
            chunks.append(value)
            at = end
            continue
        bodies = list(search.bodies(value, url=url)) if isinstance(value, dict | list) else []
        yield from _of_chunks(chunks, url) if bodies else ()
        yield from bodies
        # What is no body may be an object of a program around one.
        at = end if bodies or isinstance(value, dict) else found.end()
    yield from _of_chunks(chunks, url)


def _of_chunks(chunks: list[JSON], url: str) -> Iterator[_Body]:
    """Yield the streamed replies that chunks make, and leave none."""
    for text in sse.streams(chunks):
        yield _Body(text, None, url)
    chunks.clear()


class _BodySearch:
    """Looks for bodies in values, within a bound that holds for all of them."""

    def __init__(self) -> None:
        self.left = _MAX_VALUES

    def bodies(self, value: Any, depth: int = 0, status: int | None = None, url: str = "") -> Iterator[_Body]:
        """Yield the bodies in a value, in the order of the file."""
        self.left -= 1
        if self.left < 0 or depth > _MAX_DEPTH:
            return
        if isinstance(value, str):
            yield from self._of_text(value, depth, status, url)
        elif isinstance(value, list):
            if messages := _messages_in(value):
                yield _Body({"messages": messages}, is_request=True, url=url)
                return
            for each in value:
                yield from self.bodies(each, depth + 1, status, url)
        elif isinstance(value, Mapping):
            yield from self._of_object(value, depth, status, url)

    def _of_object(self, value: Mapping[str, Any], depth: int, status: int | None, url: str) -> Iterator[_Body]:
        kind = _kind(value)
        if kind is not None:
            body = _asked(value, url) if kind else dict(value)
            if not kind and "error" in value:
                # What failed may stand beside its error.
                yield from self.bodies({key: each for key, each in value.items() if key != "error"}, depth + 1)
            yield _Body(body, status, url, is_request=kind)
            if not kind or body == value:
                return
            yield from _said(value) if body.keys() == {"messages"} else ()
            value = {key: each for key, each in value.items() if key not in _LISTED}
        status = next(filter(None, (status_of(value.get(key)) for key in _STATUSES)), status)
        url = _url_of(value) or url
        for each in map(_unpacked, value.values()) if _is_packed(value) else value.values():
            yield from self.bodies(each, depth + 1, status, url)

    def _of_text(self, text: str, depth: int, status: int | None, url: str) -> Iterator[_Body]:
        start = text.lstrip()[:1]
        if start in ("{", "["):
            try:
                inner, _ = value_at(text, text.index(start))
            except (UnreadableValue, RecursionError):
                return
            yield from self.bodies(inner, depth + 1, status, url)
            return
        for found in _BODY.finditer(text[:_MAX_TEXT]):
            try:
                inner, _ = value_at(text, found.start())
            except (UnreadableValue, RecursionError):
                continue
            if is_request(inner):
                link = _URL.search(text, 0, found.start())
                yield _Body(inner, None, link[0] if link else url, is_request=True)
                break
        if _FAILURE.search(text[:_MAX_TEXT]):
            failure = failures.of_text(text)
            if failure.body is not None:
                yield _Body(failure.body, failure.status or status, failure.url or url)


def _is_packed(value: Mapping[str, Any]) -> bool:
    """Return whether an object says that its texts are base64, as SageMaker, Lambda and HAR files do."""
    said = [(key.lower(), each) for key, each in value.items() if isinstance(each, (str, bool))]
    return any(
        ("encoding" in key and str(each).lower() == "base64") or ("base64" in key and each is True)
        for key, each in said
    )


def _unpacked(value: Any) -> Any:
    if not isinstance(value, str) or len(value) < _MIN_PACKED:
        return value
    try:
        return binascii.a2b_base64(value).decode()
    except ValueError:
        return value


def _messages_in(value: list[Any]) -> list[JSON]:
    """Return the messages of a list of messages, of a wire or of a framework; none if it is another list."""
    return histories.canonical(value) or (value if _are_messages(value) else [])


def _asked(value: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Return the body of a request, or its messages alone where what holds them is no body."""
    listed = value.get("messages", value.get("input"))
    messages = _messages_in(listed) if isinstance(listed, list) else []
    is_own = listed is not messages
    is_chat = "messages" in value or any(not _OF_CHAT.isdisjoint(as_object(each)) for each in messages)
    is_body = isinstance(value.get("model"), str) or bool(url) or not _PARAMETERS.isdisjoint(value)
    if is_chat and not _OF_RECORDS.isdisjoint(value):
        # A record of a call has more than a body beside the messages.
        kept = ("model", "tools") if "messages" in value and not is_own else ()
        return {**{key: value[key] for key in kept if value.get(key)}, "messages": messages}
    if messages and (is_own or (is_chat and not (is_body and "messages" in value))):
        return {"messages": messages}
    return dict(value)


def _said(value: Mapping[str, Any]) -> Iterator[_Body]:
    """Yield the reply that a record has beside the messages of a request, as traces have it."""
    output = value.get("output")
    if isinstance(value.get("input"), list) and isinstance(output, list) and _are_messages(output):
        yield _Body({"choices": [{"index": at, "message": each} for at, each in enumerate(output)]})


def _kind(value: Mapping[str, Any]) -> bool | None:
    """Return whether an object is the body of a request or of a reply; None if it is neither."""
    if "jsonrpc" in value:
        return None
    is_asked = _are_messages(value.get("messages"))
    if is_asked or (value.keys() & _ASKED and wires.is_native(Exchange.of_plain(request=dict(value)))):
        return True
    error = value.get("error")
    is_said = isinstance(error, Mapping) and isinstance(error.get("message"), str)
    is_error = is_said or is_validation(value.get("detail"))
    choices = value.get("choices")
    is_chat = isinstance(choices, list) and bool(choices) and all("message" in as_object(each) for each in choices)
    is_native = bool(value.keys() & _REPLIED) and wires.is_native(Exchange.of_plain(response=dict(value)))
    if is_error or is_chat or is_native:
        return False
    return None


def _are_messages(value: Any) -> bool:
    """Return whether a value is a list of messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(as_object(each).get("role") in ROLES for each in value)
        and all(as_object(each).keys() & {"content", "tool_calls", "parts", "reasoning_content"} for each in value)
    )


def _url_of(value: Mapping[str, Any]) -> str:
    for key in _URLS:
        inner = value.get(key)
        text = as_text(inner) or as_text(as_object(inner).get("raw"))
        if text.startswith("http"):
            return text
    host, at = as_text(value.get("host")), as_text(value.get("path"))
    return f"https://{host}{at}" if "." in host and at.startswith("/") else ""


def _inputs(found: Iterator[_Body], path: str, line: int | None) -> Iterator[Input]:
    """Yield the exchanges that bodies make, each alone: nothing shows which are of one session."""
    bodies = [each for each, _ in zip(found, range(_MAX_FOUND), strict=False)]
    replies = [each for each in bodies if not each.is_request]
    if len(replies) == 1 and len(bodies) == 2 and not bodies[0].is_request:
        # An event of an error holds the error first, and then what the program was at.
        bodies.reverse()
    open_request: _Body | None = None
    replied: Any = None
    for body in bodies:
        if not body.is_request and open_request is None and body.value == replied:
            # A record often holds the same failure twice.
            continue
        replied = None if body.is_request else body.value
        if body.is_request:
            is_repeated = open_request is not None and open_request.value == body.value
            if open_request is not None and not is_repeated:
                yield _input(open_request, None, path, line)
            open_request = open_request if is_repeated and not body.url else body
        else:
            yield _input(open_request, body, path, line)
            open_request = None
    if open_request is not None:
        yield _input(open_request, None, path, line)


def _input(asked: _Body | None, got: _Body | None, path: str, line: int | None) -> Input:
    url = next(filter(None, (each.url for each in (asked, got) if each is not None)), "")
    request, reply = (None if each is None else each.value for each in (asked, got))
    status = None if got is None else got.status
    if isinstance(reply, str):
        made = Exchange.of_plain(request, reply, streamed=True, url=url, model=model_of(request) or model_of(reply))
        return Input(path, line, KIND, (made,), notes=NOTES)
    if got is not None and status is None and "error" in got.value:
        status = status_of(as_object(got.value.get("error")).get("code"))
    elif got is not None and status is not None and status >= _ERROR and not _has_error(got.value):
        # A code of something else stands beside it.
        status = None
    made = Exchange.of_plain(request, reply, status, url=url, model=model_of(request) or model_of(reply))
    # Messages alone are no whole request.
    rules = (*rebuilt.RULES, *rebuilt.FAILURE_RULES) if request is not None and request.keys() == {"messages"} else ()
    return Input(path, line, KIND, (made,), notes=NOTES, rules=rules)


def _has_error(reply: Mapping[str, Any]) -> bool:
    return bool(reply.get("error")) or reply.get("type") == "error" or "message" in reply


def is_value_of_python(data: bytes) -> bool:
    """Return whether a file begins with a value as Python or JavaScript print it, or a bracket that opens no JSON."""
    return re.match(rb"\s*[\[{]\s*'|\s*\[(?!true|false|null)[A-Za-z]|\s*\{\s*[A-Za-z_$][\w$]*\s*:", data) is not None
