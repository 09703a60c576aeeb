"""HTTP interactions as recorders store them: those on a wire that is known become one conversation."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance import wires
from conformance.documents import JSON
from conformance.errors import InvalidDocument
from conformance.formats.bodies import reply_body, request_body
from conformance.formats.inputs import Input
from conformance.formats.records import date_of, date_of_reply, flat_headers, located, status_of
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import other_api

_PATH: Final = "/chat/completions"
_MAX_NOTES: Final = 10


class Interaction(NamedTuple):
    """One request and its reply, with the bodies, headers and status as recorded.

    `line` and `pointer`: where it is in the file, if known. `is_parsed`: whether the request is a parsed value.
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
    is_parsed: bool = False


def conversation(interactions: Iterable[Interaction], path: str, kind: str) -> Iterator[Input]:
    """Yield the conversation of a recording, then one input for each interaction that cannot be read.

    Interactions that are neither chat completions nor another wire that is known are skipped; a note names their method
    and URL.
    """
    exchanges: list[Exchange] = []
    lines: list[int] = []
    numbers: list[int] = []
    skipped: dict[str, int] = {}
    problems: list[Input] = []
    for number, item in enumerate(interactions):
        try:
            found = _exchange(item, path)
        except InvalidDocument as error:
            problem = InvalidDocument(located(error), path, item.line, item.pointer)
            problems.append(Input(path, item.line, kind, problem=problem))
            continue
        if found is None:
            name = _name(item) or "an interaction without a URL"
            skipped[name] = skipped.get(name, 0) + 1
        else:
            exchanges.append(found)
            numbers.append(number)
            lines += [] if item.line is None else [item.line]
    line = lines[0] if lines else None
    notes = _notes(skipped)
    yield Input(path, line, kind, tuple(exchanges), lines=tuple(lines), numbers=tuple(numbers), notes=notes)
    yield from problems


def _exchange(item: Interaction, path: str) -> Exchange | None:
    if item.method.upper() not in ("", "POST"):
        # The preflight of a browser, or a question about a reply that is stored.
        return None
    by_path = item.url.partition("?")[0].rstrip("/").lower().endswith(_PATH)
    headers = flat_headers(item.headers)
    try:
        request = item.request if item.is_parsed else request_body(item.request or None, path)
        response, streamed = reply_body(item.reply, headers, path)
    except InvalidDocument:
        if by_path:
            raise
        return None
    found = Exchange.of_plain(
        request=request,
        response=response,
        status=status_of(item.status),
        streamed=streamed,
        headers=headers,
        url=item.url,
        model=model_of(request) or model_of(response),
        date=date_of(headers.get("date")) or date_of(item.moment) or date_of_reply(response),
    )
    if other_api(found):
        return None
    is_known = by_path or _is_chat(request, response) or (request is not None and wires.is_native(found))
    return found if is_known else None


def _name(item: Interaction) -> str:
    # Imported here because few recordings hold anything else.
    from conformance.secrets.urls import shown_url

    return f"{item.method.upper()} {shown_url(item.url)}".strip()


def _is_chat(request: JSON, response: JSON) -> bool:
    """Return whether bodies are chat completions, whatever the path: some hosts use another one."""
    if not isinstance(request, Mapping) or "messages" not in request:
        return False
    if isinstance(response, str):
        return '"choices"' in response
    return isinstance(response, Mapping) and "choices" in response


def _notes(skipped: Mapping[str, int]) -> tuple[str, ...]:
    notes = [
        f"skipped, not chat completions: {name}" + (f" ({count} times)" if count > 1 else "")
        for name, count in skipped.items()
    ]
    more = len(notes) - _MAX_NOTES
    return tuple(notes[:_MAX_NOTES]) + ((f"also skipped: {more} other URLs",) if more > 0 else ())
