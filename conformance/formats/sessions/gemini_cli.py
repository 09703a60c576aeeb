"""Sessions of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json`, since version 0.40 `.jsonl`.

The JSON form is one object with `sessionId`, `projectHash` and `messages`. The JSON Lines form begins with that object
without messages; a line is a message, `{"$set": …}`, or `{"$rewindTo": id}`, and a message whose id occurred before
replaces that one. A message has `type` (`user`, `gemini`, `info`, `error`, `warning`) and `content`; that of the model
has `toolCalls` with their results, which may stand in its `content` and in a message of the user as well. The file
`logs.json` beside holds what the user typed, and nothing else.

With `-p` no failure is stored. For each one, a report `gemini-client-error-*.json` in the folder for temporary files
has `error` and `context`, the contents of the request.

Seen in files of Gemini CLI 0.61.0, run on 2026-11-24 with `-p` and in a terminal: parallel calls, and turns that ended
with a 400.

Source: google-gemini/gemini-cli@5411f113cafae26161b4969b0237b8e1e024e2c2/packages/core/src/services/
chatRecordingTypes.ts and chatRecordingService.ts, packages/core/src/utils/errorReporting.ts and
packages/cli/src/ui/hooks/useHistoryManager.ts
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.failing import failure, text_of
from conformance.formats.sessions.steps import Added, AgentSession, Interrupted, Refused, Replied, Step

KIND: Final = "gemini_cli"
TITLE: Final = "Gemini CLI"
_UNSTORED: Final = "with -p a failure stands in gemini-client-error-*.json in the folder for temporary files"

Numbered = tuple[int | None, Mapping[str, Any]]


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a record is the first one of a session, or the whole of it, or the report of a failure."""
    return (isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)) or _is_report(
        record
    )


def _is_report(value: Mapping[str, Any]) -> bool:
    contents = as_objects(value.get("context"))
    return isinstance(value.get("error"), Mapping) and bool(contents) and all("parts" in each for each in contents)


def sessions(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[AgentSession]:
    """Yield the conversation of a file of lines."""
    name, messages = "", dict[str, Numbered]()
    for line, record in records:
        if "$rewindTo" in record:
            messages = _before(messages, record["$rewindTo"])
            continue
        changed = as_object(record.get("$set"))
        name = as_text(record.get("sessionId")) or as_text(changed.get("sessionId")) or name
        if isinstance(changed.get("messages"), list):
            messages = {}
        listed = [*_listed(record), *_listed(changed)]
        for message in listed or [record]:
            if isinstance(message.get("id"), str):
                at = messages.get(message["id"], (line, message))[0]
                messages[message["id"]] = at, message
    yield AgentSession("gemini", tuple(_steps([*messages.values()])), name, unstored=_UNSTORED)


def of_value(value: Mapping[str, Any], path: str) -> Iterator[AgentSession]:
    """Yield the conversation of a file that is one JSON object."""
    if _is_report(value):
        yield AgentSession("gemini", tuple(_reported(value)), Path(path).stem)
        return
    messages: list[Numbered] = [(None, message) for message in _listed(value)]
    yield AgentSession("gemini", tuple(_steps(messages)), as_text(value.get("sessionId")), unstored=_UNSTORED)


def _reported(value: Mapping[str, Any]) -> Iterator[Step]:
    contents = as_objects(value["context"])
    # The request is added to a history that may have it already.
    yield Added(contents[:-1] if len(contents) > 1 and contents[-1] == contents[-2] else contents)
    if found := failure(text_of(as_object(value["error"]).get("message", "")), is_call=True):
        yield Refused(*found)


def _listed(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return as_objects(value.get("messages"))


def _before(messages: Mapping[str, Numbered], name: Any) -> dict[str, Numbered]:
    """Return the messages before one; none if it is not known, as Gemini CLI does."""
    names = list(messages)
    return {each: messages[each] for each in names[: names.index(name) if name in names else 0]}


def _steps(messages: Sequence[Numbered]) -> Iterator[Step]:
    for number, (line, message) in enumerate(messages):
        kind, date = message.get("type"), date_of(message.get("timestamp"))
        parts = _parts(message.get("content"))
        if kind == "user" and parts:
            yield Added(({"role": "user", "parts": parts},), line)
        elif kind == "gemini":
            calls = as_objects(message.get("toolCalls"))
            said = {as_text(as_object(part.get("functionCall")).get("id")) for part in parts} - {""}
            made = [
                {"functionCall": {key: call.get(key) for key in ("id", "name", "args")}}
                for call in calls
                if as_text(call.get("id")) not in said
            ]
            content = {"role": "model", "parts": [*parts, *made]}
            if content["parts"]:
                body = {"candidates": [{"index": 0, "content": content}]}
                yield Replied((content,), body, line, as_text(message.get("model")), date)
            following = messages[number + 1][1] if number + 1 < len(messages) else {}
            yield from _results(calls, following)
        elif kind == "error" and (found := failure(text_of(message.get("content")))) is not None:
            yield Refused(*found, line, "", date)


def _parts(content: Any) -> list[Mapping[str, Any]]:
    """Return what Gemini CLI stores as a text, a part or a list of these as a list of parts."""
    items = content if isinstance(content, list) else [content]
    parts = [{"text": each} if isinstance(each, str) else each for each in items if each]
    return [each for each in parts if isinstance(each, Mapping)]


def _results(calls: Sequence[Mapping[str, Any]], following: Mapping[str, Any]) -> Iterator[Step]:
    """Yield the results that are stored with their calls; without one, Gemini CLI says that a call was cancelled."""
    results = [part for call in calls for part in _parts(call.get("result"))]
    if any("functionResponse" in part for part in _parts(following.get("content"))):
        return
    missing = [call for call in calls if not any("functionResponse" in part for part in _parts(call.get("result")))]
    if results:
        yield Added(({"role": "user", "parts": results},))
    if missing:
        yield Interrupted(({"role": "user", "parts": [_cancelled(call) for call in missing]},))


def _cancelled(call: Mapping[str, Any]) -> Mapping[str, Any]:
    error = {"error": "Operation cancelled"}
    return {"functionResponse": {"id": call.get("id"), "name": call.get("name"), "response": error}}
