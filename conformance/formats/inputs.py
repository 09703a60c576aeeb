"""One input: where it was found, what it was read as, the conversation in it, and the lines of its values."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.errors import InvalidDocument
from conformance.formats.compression import unpack_file
from conformance.formats.encodings import as_utf8
from conformance.wire.exchange import Conversation

if TYPE_CHECKING:
    from conformance.formats.printed_calls import Mark

KINDS: Final = {
    "request": "a request body",
    "messages": "a list of messages",
    "history": "a history of an agent framework",
    "response": "a reply body",
    "chunks": "the chunks of a stream",
    "stream": "the text of an event stream",
    "exchange": "an exchange",
    "exchanges": "a session of exchanges",
    "cassette": "a recording of HTTP interactions",
    "har": "an HTTP archive",
    "mitmproxy": "flows of mitmproxy",
    "nock": "a recording by nock",
    "batch": "a line of an OpenAI batch",
    "litellm": "a log of LiteLLM",
    "spans": "OpenTelemetry spans",
    "events": "OpenTelemetry log records",
    "wiremock": "a file of WireMock",
    "langfuse": "observations of Langfuse",
    "langsmith": "a run of LangSmith",
    "helicone": "a log of Helicone",
    "portkey": "a log of Portkey",
    "datadog": "spans of Datadog",
    "braintrust": "a row of Braintrust",
    "weave": "calls of W&B Weave",
    "claude_code": "a session of Claude Code",
    "codex": "a session of Codex",
    "opencode": "a session of opencode",
    "gemini_cli": "a session of Gemini CLI",
    "qwen_code": "a session of Qwen Code",
    "cline": "a task of Cline, Roo Code or Kilo Code",
    "goose": "a session of Goose",
    "goose_calls": "a log of a call by Goose",
    "pi": "a session of pi",
    "zed": "a thread of Zed",
    "curl": "the output of curl",
    "printed": "a text log",
    "inside": "bodies inside another form",
    "jsonl": "an unreadable line of JSON Lines",
    "parquet": "an unreadable row of a Parquet file",
    "native": "an exchange of another API",
    "unrecognized": "not a recognized format",
}
"""The kinds of inputs, each with a description."""

ACCEPTED: Final = (
    "expected a request body, a list of messages, a reply body, an exchange (an object with `request` and"
    " `response`), a list of exchanges, the SSE text of a stream, a list of its chunks, a cassette, a HAR file, a log"
    " or export of another tool, a session of an agent, the output of curl, JSON Lines of these, or a Parquet file of"
    " exchanges"
)

MAX_LOCATED_BYTES: Final = 4 * 1024 * 1024
"""The largest file in which lines are looked up; findings in a larger one have no line."""

_SHOWN: Final = 80

_VALUE_POINTERS: Final = {
    "request": "/0/request",
    "messages": "/0/request/messages",
    "response": "/0/response",
    "exchange": "/0",
    "exchanges": "",
}
"""By kind: the pointer into the conversation that leads to the file's own value."""


class Input(NamedTuple):
    """One conversation, as it was found in a file.

    `line` (1-based): where it begins in a file of lines or a cassette; None if it is the whole file. `lines`: where
    each exchange begins, or empty. `numbers`: the number (0-based) of each exchange among the interactions of a
    recording, or empty. `kind`: what it was read as, one of `KINDS`. `provider`, `session`: as the file
    names them, else empty. `notes`: what was skipped or assumed. `rules`: globs of the rules for which the input
    holds enough, empty for all: a log may leave out what a rule needs. `pair`: what identifies the other half of the
    exchange, which is in another file. `marks`: what a line of a program's log says of calls, which other lines
    complete. `problem`: why nothing here can be checked;
    then the conversation is empty, and the inputs after it still follow.
    """

    path: str
    line: int | None
    kind: str
    conversation: Conversation = ()
    provider: str = ""
    session: str = ""
    lines: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    pair: str = ""
    marks: "tuple[Mark, ...]" = ()
    problem: InvalidDocument | None = None


def pointer_lines(given: Input, pointers: Iterable[str]) -> Mapping[str, int]:
    """Return the line of each pointer into the conversation of an input; empty if the lines are unknown.

    They are unknown for JSON Lines and cassettes (their exchanges have lines of their own), for streams, for standard
    input and everything else that is not a regular file, and for files of more than `MAX_LOCATED_BYTES`.
    """
    path = Path(given.path)
    if given.line is not None or given.lines or not path.is_file():
        return {}
    prefix = _VALUE_POINTERS.get(given.kind)
    if prefix is None or path.stat().st_size > MAX_LOCATED_BYTES:
        return {}
    data, _ = as_utf8(unpack_file(path.read_bytes(), given.path), given.path)
    text = data.decode()
    if len(text) > MAX_LOCATED_BYTES:
        return {}
    # Imported here because only reports that point to lines need the scanner.
    from conformance.documents.json_scan import lines_of

    holder = "/exchanges" if given.kind == "exchanges" and text.lstrip().startswith("{") else ""
    in_file = {at: holder + at.removeprefix(prefix) for at in pointers if at.startswith(prefix)}
    found = lines_of(text, in_file.values())
    return {at: found[there] for at, there in in_file.items()}


def outside(what: str) -> str:
    """Return the note on an exchange of another API, given its path or name."""
    return f"skipped, neither chat completions nor another wire that is known: {what[:_SHOWN]}"
