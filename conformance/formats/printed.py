"""Text logs that programs print: the debug logs of SDKs and of HTTP clients, LiteLLM's, and tracebacks in any log.

A log is read for its marks: a request, the status of its reply, a failure. They are joined to calls in their order.
What is recognised:

- openai-python, anthropic-sdk-python: `Request options: {…}`, `Sending HTTP Request: POST URL`, `HTTP Response: POST
  URL "400 Bad Request" Headers({…})`; openai 3 prints neither options nor URLs
- their Node SDKs: `[log_1a2b3c] sending request {…}` and `response error {…}`
- httpx: `HTTP Request: POST URL "HTTP/1.1 400 Bad Request"`; urllib3: `https://host:443 "POST /path HTTP/1.1" 400 12`
- servers of Python: `"POST /v1/chat/completions HTTP/1.1" 400 Bad Request`, and the exception before it
- LiteLLM: `POST Request Sent from LiteLLM:` and a command of curl
- exceptions of these SDKs, of google-genai, the AI SDK and botocore, in tracebacks and messages

Source: src/openai/_base_client.py of github.com/openai/openai-python, src/client.ts and src/internal/utils/log.ts of
github.com/openai/openai-node, httpx/_client.py of github.com/encode/httpx, src/urllib3/connectionpool.py of
github.com/urllib3/urllib3, litellm/litellm_core_utils/litellm_logging.py of github.com/BerriAI/litellm
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from conformance.errors import Unrecognized
from conformance.formats import failures
from conformance.formats.failures import message_of
from conformance.formats.inputs import Input
from conformance.formats.inside import BODY_START, is_whole_request
from conformance.formats.printed_calls import KIND, PROGRAM, Mark, joined
from conformance.formats.printed_values import UnreadableValue, value_at
from conformance.formats.records import as_object, as_text, flat_headers, status_of

__all__ = ["KIND", "holds", "marks", "read"]

_RAISED: Final = (
    r"(?:openai|anthropic|groq|mistralai|cohere|together|cerebras|google\.genai)(?:\.\w{1,60}){0,3}\.\w{0,60}Error: "
    r"|litellm\.(?:exceptions\.)?\w{1,60}Error: |botocore\S{1,80}Exception: "
    r"|An error occurred \(\w{1,60}\) when calling the (?:Converse|InvokeModel)"
    r"|Error code: [45][0-9]{2} - |AI_APICallError: |\b(?:APIError|BadRequestError|RateLimitError|AuthenticationError"
    r"|PermissionDeniedError|NotFoundError|UnprocessableEntityError|InternalServerError|ClientError|ServerError)"
    r": (?:HTTP code )?[45][0-9]{2} |API Error:? \(?[45][0-9]{2} |unexpected status [45][0-9]{2} "
    r"|\b\w{1,60}(?:Exception|Error): (?:HTTP |[Ss]tatus(?: code)?:? )?\(?[45][0-9]{2}(?=:| [-({A-Z]|\W{0,2}$)"
    r"|got exception: (?=\{)"
    r"|POST \"https?://[^\"\s]{1,300}\": [45][0-9]{2} |\bApiError \{ message: \"|\\Exceptions\\\w{1,40}Exception: "
    r"|\b[45][0-9]{2} [A-Z][A-Za-z ]{2,40} from POST https?://|error, status code: [45][0-9]{2}, "
    r"|\b[45][0-9]{2}:? \{[\"'](?:error|object|type|message|detail)[\"']"
)
_LOGGED: Final = (
    r"Request options: (?P<options>\{)"
    r"|Sending HTTP Request: POST (?P<sending>http\S+)"
    r'|HTTP Response: POST (?:(?P<answered>\S{1,2000}) )?"?(?P<status>[1-5][0-9]{2})\b[^"\n]{0,200}"?'
    r"(?: Headers\((?P<headers>\{))?"
    r'|HTTP Request: POST (?P<url>\S{1,2000}) "HTTP/[0-9.]{1,9} (?P<code>[1-5][0-9]{2})\b[^"\n]{0,200}"'
    r'|(?P<host>https?://[^\s"/]{1,255}) "POST (?P<path>/\S{0,2000}) HTTP/[0-9.]+" (?P<number>[1-5][0-9]{2})\b'
    r'|"POST (?P<served>/\S{0,300}(?:completions|messages|responses|enerateContent)\S{0,300}) HTTP/[0-9.]+" '
    r"(?P<answer>[1-5][0-9]{2})\b"
    r'|\| (?P<coded>[1-5][0-9]{2}) \|[^|\n]{0,40}\|[^|\n]{0,80}\| POST\s{1,9}"(?P<logged>/[^"\s]{1,300})"'
    r"|\[(?P<sender>log_\w{1,40})[^\]\n]{0,200}\] sending request (?P<sent>\{)"
    r"|\[(?P<replier>log_\w{1,40})[^\]\n]{0,200}\] response (?:start|parsed|error[^{\n]{0,200}) (?P<replied>\{)"
    r"|(?:OpenAI|Anthropic):DEBUG:request (?P<asked>\S{1,2000}) (?P<debug>\{)"
    r"|(?:OpenAI|Anthropic):DEBUG:response (?P<got>[1-5][0-9]{2}) (?P<from>\S+)"
    r"|POST Request Sent from LiteLLM:\s{1,9}curl -X POST \\\s{1,9}(?P<gateway>\S{1,2000}) \\\n(?:-H [^\n]*\n){0,50}"
    r"-d '(?P<curl>\{)"
    r"|(?P<lost>Retrying request to |Raising (?:connection|timeout) error|Encountered httpx\.TimeoutException)"
    rf"|(?P<raised>{_RAISED})"
)
_LOG: Final = re.compile(_LOGGED, re.MULTILINE)
_MARKS: Final = re.compile(
    rf"{_LOGGED}|(?P<body>{BODY_START})|(?P<error>\{{\s*[\"']error[\"']\s*:\s*\{{)", re.MULTILINE
)
"""The marks of a log, and bodies that a program prints by itself, which alone make no log."""
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_BODY: Final = re.compile(r"'json_data': (?=\{)")
_MORE: Final = re.compile(r"'extra_json': (?=\{)")
_FIELDS: Final = re.compile(r"\s++(?:at [^\n]*+\n\s*+)*+[^\n]*+(?<=\{)\n")
_RESPONSE_BODY: Final = re.compile(r"\b(?:responseBody: |error: (?=\{\n))")
_STATUS_FIELD: Final = re.compile(r"\b(?:statusCode|status): ([45][0-9]{2})\b")
_ANY_STATUS: Final = re.compile(r"\bstatus: ([1-5][0-9]{2})\b")
_URL_FIELD: Final = re.compile(r"\burl: '(https?://[^']+)'")
_EXCEPTION: Final = re.compile(r"\b(?:\w{1,60}\.){0,6}\w{1,60}(?:Error|Exception|Failure): ([^\n]{1,2000})")
_DUMP: Final = 4_000
_LINE: Final = 200
_ERROR: Final = 400
_HEAD: Final = 1 << 13
_CUT: Final = (
    "a body that the log cuts, such as `[Array]`, is not read; in Node, set util.inspect.defaultOptions.depth = null"
)


def holds(data: bytes) -> bool:
    """Return whether a file is a text log with marks, by all of it: programs print much before their first call."""
    return b"\0" not in data[:_HEAD] and _LOG.search(_text(data)) is not None


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the calls in a text log as one conversation."""
    text = _text(data)
    breaks = [found.start() for found in re.finditer("\n", text)]
    found = [each._replace(line=bisect_right(breaks, each.at) + 1) for each in marks(text)]
    if not found:
        raise Unrecognized("expected a log with requests or failures of an API, got a text without any", path, 1)
    yield joined(found, path)


def marks(text: str) -> Iterator[Mark]:
    """Yield the marks in a text, in their order."""
    at = 0
    text = _COLOUR.sub("", text)
    while found := _MARKS.search(text, at):
        mark, at = _mark(found, text)
        if mark is not None:
            yield mark


def _text(data: bytes) -> str:
    return _COLOUR.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n"))


def _mark(found: re.Match[str], text: str) -> tuple[Mark | None, int]:
    """Return what one place in a log says, and where to read on."""
    read_on = next((reader for group, reader in _WITH_VALUES.items() if found[group]), None)
    if read_on is not None:
        return read_on(found, text)
    if found["sending"]:
        return Mark("url", found.start(), url=found["sending"]), found.end()
    return Mark("lost", found.start()) if found["lost"] else _reply(found, text), found.end()


def _reply(found: re.Match[str], text: str) -> Mark:
    status = status_of(found["status"] or found["code"] or found["number"] or found["got"] or found["coded"])
    url = (
        found["answered"]
        or found["url"]
        or found["from"]
        or found["logged"]
        or (found["host"] or "") + (found["path"] or "")
    )
    headers, _ = _read_value(text, found.start("headers")) if found["headers"] else ({}, 0)
    by = "client" if found["url"] or found["host"] else "sdk"
    return Mark("reply", found.start(), url=url, status=status, headers=flat_headers(headers), by=by)


def _served(found: re.Match[str], text: str) -> tuple[Mark, int]:
    """Return what a server logs of a request, with the exception that it logged before, if it refused it."""
    status = status_of(found["answer"])
    before = text.rfind('"POST /', 0, found.start())
    raised = list(_EXCEPTION.finditer(text, max(before, found.start() - _DUMP), found.start()))
    body = {"error": {"message": raised[-1][1]}} if raised and status is not None and status >= _ERROR else None
    return Mark("reply", found.start(), body=body, url=found["served"], status=status, by="server"), found.end()


def _body(found: re.Match[str], text: str) -> tuple[Mark | None, int]:
    """Return the request that a program printed by itself; None if the value is something else."""
    value, after = _read_value(text, found.start())
    if value is None or not is_whole_request(value):
        return None, found.end()
    return Mark("request", found.start(), body=value, by=PROGRAM), after


def _error(found: re.Match[str], text: str) -> tuple[Mark | None, int]:
    """Return the body of an error that a program printed by itself, with the status before it on its line."""
    value, after = _read_value(text, found.start())
    if not message_of(value):
        return None, found.end()
    line = text[max(text.rfind("\n", 0, found.start()), found.start() - _LINE, 0) : found.start()]
    codes = re.findall(r"\b[45][0-9]{2}\b", line)
    return Mark("failure", found.start(), body=value, status=int(codes[-1]) if codes else None, is_body=True), after


def _options(found: re.Match[str], text: str) -> tuple[Mark, int]:
    """Return the request of openai-python or anthropic-sdk-python: its body as it is sent is `json_data`."""
    start, end = found.span()
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    body = _BODY.search(text, end, stop)
    if body is None:
        return Mark("request", start), stop
    value, after = _read_value(text, body.end())
    more = _MORE.search(text, end, body.start())
    extra, _ = _read_value(text, more.end()) if more else ({}, 0)
    sent = {**value, **as_object(extra)} if isinstance(value, dict) else None
    return Mark("request", start, body=sent, note="" if value else _CUT), max(after, stop if value is None else end)


def _node_request(found: re.Match[str], text: str) -> tuple[Mark, int]:
    at = found.start("sent") if found["sent"] else found.start("debug")
    value, after = _read_value(text, at)
    given = as_object(value)
    options = as_object(given.get("options", given))
    body, url = options.get("body"), as_text(given.get("url")) or as_text(found["asked"])
    note = "" if isinstance(body, dict) else _CUT
    sent = body if isinstance(body, dict) else None
    if value is None:
        link = _URL_FIELD.search(text, at, at + _DUMP)
        url = url or (link[1] if link else "")
    return Mark("request", found.start(), body=sent, url=url, id=found["sender"] or "", note=note), max(
        after, found.end()
    )


def _node_reply(found: re.Match[str], text: str) -> tuple[Mark, int]:
    value, after = _read_value(text, found.start("replied"))
    given = as_object(value)
    status = status_of(given.get("status"))
    if value is None:
        written = _ANY_STATUS.search(text, found.end(), found.end() + _DUMP)
        status = int(written[1]) if written else None
    body = given.get("body")
    return Mark(
        "reply",
        found.start(),
        body=body if isinstance(body, (dict, list)) else None,
        url=as_text(given.get("url")),
        status=status,
        headers=flat_headers(given.get("headers")),
        id=found["replier"],
        by="sdk",
    ), max(after, found.end())


def _litellm(found: re.Match[str], text: str) -> tuple[Mark, int]:
    value, after = _read_value(text, found.start("curl"))
    note = "" if value else _CUT
    mark = Mark("request", found.start(), body=_with_extra(value), url=found["gateway"], note=note)
    return mark, max(after, found.end())


def _raised(found: re.Match[str], text: str) -> tuple[Mark, int]:
    """Return an exception: its line, or what Node prints of its fields below the stack."""
    start = found.start()
    stop = text.find("\n", found.end())
    stop = len(text) if stop < 0 else stop
    if ".ClientModel." in text[max(0, start - _LINE) : stop]:
        # .NET's SDK of OpenAI writes the message some lines below the status.
        end = text.find("\n   at ", stop)
        stop = min(len(text) if end < 0 else end, stop + _DUMP)
    failure = failures.of_text(text[start:stop])
    fields = _FIELDS.match(text, stop)
    if fields and not failure.is_body:
        dump = text[stop : stop + _DUMP]
        said, code, link = (each.search(dump) for each in (_RESPONSE_BODY, _STATUS_FIELD, _URL_FIELD))
        value, _ = _read_value(dump, said.end()) if said else (None, 0)
        given = failures.of_value({"error": value, "status": int(code[1]) if code else failure.status})
        failure = given or failure._replace(status=int(code[1]) if code else failure.status)
        failure = failure._replace(url=failure.url or (link[1] if link else ""))
    codes = re.findall(r"\b[45][0-9]{2}\b", found[0])
    body = as_object(failure.body)
    if body and "error" not in body and isinstance(body.get("message"), str):
        # Some SDKs print what is in `error` alone.
        failure = failure._replace(body={"error": dict(body)})
    elif found[0].startswith("\\Exceptions"):
        # PHP's SDK of OpenAI says where it was raised, and not the status.
        message = text[found.end() : stop].partition(" in /")[0]
        failure = failure._replace(body={"error": {"message": message}}, is_body=True)
    status = failure.status or (int(codes[-1]) if codes else None)
    return Mark("failure", start, body=failure.body, url=failure.url, status=status, is_body=failure.is_body), stop


def _with_extra(value: Any) -> dict[str, Any] | None:
    """Return a body of LiteLLM as it is sent: what is under `extra_body` is at the top of it."""
    if not isinstance(value, dict):
        return None
    given = {name: item for name, item in value.items() if name not in ("extra_body", "extra_headers", "timeout")}
    return {**given, **as_object(value.get("extra_body"))}


def _read_value(text: str, start: int) -> tuple[Any, int]:
    """Return the value at a place and where it ends; None if it cannot be read."""
    try:
        return value_at(text, start)
    except UnreadableValue:
        return None, start


_WITH_VALUES: Final[Mapping[str, Callable[[re.Match[str], str], tuple[Mark | None, int]]]] = {
    "body": _body,
    "served": _served,
    "error": _error,
    "raised": _raised,
    "options": _options,
    "debug": _node_request,
    "sent": _node_request,
    "replied": _node_reply,
    "curl": _litellm,
}
"""By the group of a mark after which a value stands: what reads it."""
