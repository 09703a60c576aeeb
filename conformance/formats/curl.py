"""What curl prints with `-i` (the reply's head before its body) and with `-v` (`>` and `<` before the heads).

The output of `-v` goes to standard error and the body to standard output, so in one file the body may stand after
everything else; lines about the connection begin with `*`, and those about data look like `{ [588 bytes data]`.

Source: https://curl.se/docs/manpage.html#-i and #-v
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from conformance import wires
from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats.bodies import reply_body
from conformance.formats.inputs import Input
from conformance.formats.records import as_object, date_of, date_of_reply, located, status_of
from conformance.wire.exchange import Exchange, model_of

KIND: Final = "curl"
NOTE: Final = (
    "curl does not print the body of a request, so only the reply is checked; check the request's file as well"
)

_HEAD: Final = re.compile(rb"HTTP/[0-9.]+ [1-5][0-9]{2}[^\r\n]*\r?\n(?=[A-Za-z0-9-]+:|\r?\n)")
_VERBOSE: Final = re.compile(rb"^< HTTP/[0-9.]+ [1-5][0-9]{2}", re.MULTILINE)
_INTERIM: Final = re.compile(rb"HTTP/[0-9.]+ [13][0-9]{2}|.* [Cc]onnection established")
_BLANK: Final = re.compile(rb"\r?\n\r?\n")
_METER: Final = re.compile(
    rb"\r[ 0-9]{3} [ 0-9.kMGT]{1,80}(?:[-0-9]{1,9}:[-0-9]{1,9}:[-0-9]{1,9} {1,9}){3}[ 0-9.kMGT]{0,20}"
)
"""The progress meter, which curl draws over itself wherever the output happens to be."""
_NOT_BODY: Final = re.compile(rb"\* |[{}] \[[0-9]+ bytes data\]|  % Total |\s{9,99}Dload  Upload")
_LEFT: Final = re.compile(
    rb"\* (Connection #[0-9]+ to host \S{1,255} left intact|Closing connection[ #0-9]{0,20})\s{0,9}\Z"
)


class _PrintedReply(NamedTuple):
    """A reply as printed: its status line and headers, its body, and the URL of its request if that was printed."""

    head: bytes
    body: bytes
    url: str = ""


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the replies in the output of curl, each as a conversation of its own."""
    replies = [_verbose(data, path)] if _VERBOSE.search(data) else _included(data.lstrip())
    found = False
    for reply in replies:
        try:
            exchange = _exchange(reply, path)
        except InvalidDocument as error:
            found = True
            yield Input(path, None, KIND, problem=InvalidDocument(located(error), path))
            continue
        if exchange is not None:
            found = True
            yield Input(path, None, KIND, (exchange,), notes=(NOTE,))
    if not found:
        message = "expected a chat completion, its stream or an error, got output of curl with another body or none"
        raise Unrecognized(message, path, 1)


def _exchange(reply: _PrintedReply, path: str) -> Exchange | None:
    """Return the exchange of a reply, or None if it is on no wire that is known, and no error."""
    first, headers = _fields(reply.head)
    status = status_of(first.partition(" ")[2].strip())
    body, streamed = reply_body(reply.body, headers, path)
    known = as_object(body)
    day = date_of(headers.get("date")) or date_of_reply(body)
    found = Exchange.of_plain(None, body, status, streamed, headers, reply.url, model_of(body), day)
    is_chat = streamed or known.keys() & {"choices", "error"} or (reply.body and status and status >= 400)
    return found if is_chat or wires.is_native(found) else None


def _fields(head: bytes) -> tuple[str, dict[str, str]]:
    """Return the first line of a head, and its headers by lower-case name."""
    # Latin-1 never fails, and names and numbers are ASCII.
    first, *lines = head.decode("latin-1").splitlines()
    pairs = [line.partition(":") for line in lines if ":" in line]
    headers: dict[str, str] = {}
    for name, _, value in pairs:
        key = name.strip().lower()
        # Repeated headers are joined as RFC 9110 5.3 allows.
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    # curl removes the framing before it prints a body.
    headers.pop("transfer-encoding", None)
    return first, headers


def _included(data: bytes) -> Iterator[_PrintedReply]:
    """Yield the replies that `-i` printed, without interim replies and those of redirects and proxies."""
    heads = [found.start() for found in _HEAD.finditer(data)]
    for start, end in zip(heads, [*heads[1:], len(data)], strict=False):
        head, body = [*_BLANK.split(data[start:end], maxsplit=1), b""][:2]
        is_last = end == len(data)
        if is_last or body.strip():
            yield _PrintedReply(head, body)


def _verbose(data: bytes, path: str) -> _PrintedReply:
    """Return the reply that `-v` printed; raises InvalidDocument if there are several, whose bodies may be mixed."""
    sent: list[bytes] = []
    heads: list[list[bytes]] = []
    body: list[bytes] = []
    secure = False
    # Not splitlines, which also breaks at a lone CR, as in a body.
    for line in re.split(rb"(?<=\n)", _METER.sub(b"", data)):
        # What is pasted has often lost the blank at the end of an empty line.
        if line.startswith(b"> ") or line.strip() == b">":
            sent.append(line[2:])
        elif _VERBOSE.match(line):
            heads.append([line[2:]])
        elif (line.startswith(b"< ") or line.strip() == b"<") and heads:
            heads[-1].append(line[2:])
        elif _NOT_BODY.match(line):
            secure = secure or line.startswith((b"* SSL connection", b"* ALPN"))
        else:
            body.append(line)
    final = [lines for lines in heads if not _INTERIM.match(lines[0])]
    if len(final) != 1:
        message = f"expected the output of curl -v for one request, got {len(final)} replies; use curl -i"
        raise InvalidDocument(message, path, 1)
    text = _LEFT.sub(b"", b"".join(body)).lstrip()
    if _HEAD.match(text):
        # With -i as well as -v, the head is in the body, too.
        text = list(_included(text))[-1].body
    return _PrintedReply(b"".join(final[0]), text, _url(sent, secure=secure))


def _url(sent: list[bytes], *, secure: bool) -> str:
    lines = [line.decode("latin-1").strip() for line in sent]
    target = next((words[1] for line in lines if len(words := line.split(" ")) == 3), "")
    host = next((line[5:].strip() for line in lines if line.lower().startswith("host:")), "")
    return f"{'https' if secure else 'http'}://{host}{target}" if host else target
