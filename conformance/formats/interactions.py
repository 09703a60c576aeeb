"""HTTP interactions as recorders keep them: those with chat completions become one conversation."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.documents import JSON
from conformance.errors import InvalidDocument
from conformance.formats.bodies import reply_body, request_body
from conformance.formats.inputs import Input
from conformance.formats.records import day, day_of_reply, flat_headers, status_of
from conformance.wire.exchange import Exchange, model_of

_PATH: Final = "/chat/completions"
_NAMED: Final = 10


class Interaction(NamedTuple):
    """One request and its reply, with the bodies, headers and status as they were kept.

    `line` and `pointer`: where it stands in the file, if known.
    """

    method: str
    url: str
    request: Any
    status: Any
    headers: Any
    reply: Any
    moment: Any = None
    line: int | None = None
    pointer: str = ""


def conversation(interactions: Iterable[Interaction], path: str, kind: str) -> Iterator[Input]:
    """Yield the conversation of a recording, and then one input for each interaction that cannot be read.

    What is not chat completions is left out, and noted by method and URL.
    """
    exchanges: list[Exchange] = []
    lines: list[int] = []
    left_out: dict[str, int] = {}
    problems: list[Input] = []
    for item in interactions:
        try:
            found = _exchange(item, path)
        except InvalidDocument as error:
            at = f" (at {error.pointer})" if error.pointer else ""
            problem = InvalidDocument(error.message + at, path, item.line, item.pointer)
            problems.append(Input(path, item.line, kind, problem=problem))
            continue
        if found is None:
            what = f"{item.method.upper()} {item.url.partition('?')[0]}"
            left_out[what] = left_out.get(what, 0) + 1
        else:
            exchanges.append(found)
            lines += [] if item.line is None else [item.line]
    line = lines[0] if lines else None
    yield Input(path, line, kind, tuple(exchanges), lines=tuple(lines), notes=_notes(left_out))
    yield from problems


def _exchange(item: Interaction, path: str) -> Exchange | None:
    by_path = item.url.partition("?")[0].rstrip("/").lower().endswith(_PATH)
    headers = flat_headers(item.headers)
    try:
        request = request_body(item.request or None, path)
        response, streamed = reply_body(item.reply, headers, path)
    except InvalidDocument:
        if by_path:
            raise
        return None
    if not by_path and not _is_chat(request, response):
        return None
    return Exchange.of_plain(
        request=request,
        response=response,
        status=status_of(item.status),
        streamed=streamed,
        headers=headers,
        url=item.url,
        model=model_of(request) or model_of(response),
        date=day(headers.get("date")) or day(item.moment) or day_of_reply(response),
    )


def _is_chat(request: JSON, response: JSON) -> bool:
    """Tell whether bodies are chat completions, whatever the path: some hosts serve them elsewhere."""
    if not isinstance(request, Mapping) or "messages" not in request:
        return False
    if isinstance(response, str):
        return '"choices"' in response
    return isinstance(response, Mapping) and "choices" in response


def _notes(left_out: Mapping[str, int]) -> tuple[str, ...]:
    notes = [
        f"left out, as it is not chat completions: {what}" + (f" ({count} times)" if count > 1 else "")
        for what, count in left_out.items()
    ]
    more = len(notes) - _NAMED
    return tuple(notes[:_NAMED]) + ((f"left out as well: {more} other addresses",) if more > 0 else ())
