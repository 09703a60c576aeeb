"""Tasks of Cline, Roo Code and Kilo Code: `<globalStorage>/tasks/<task>/api_conversation_history.json` and others.

The file is a list of messages of Anthropic Messages, whatever wire was spoken, with `ts`, `modelInfo` and more beside
`role` and `content`. Roo Code hides messages by `condenseParent` and `truncationParent`, and stores `reasoning` as
items. Failures are in `ui_messages.json` beside it: `api_req_failed`, `api_req_retry_delayed` (the status, a line
break and the message), or `streamingFailedMessage` in what `api_req_started` says. In the older protocol a model calls
tools by XML in its text, which no wire knows. Kilo Code since version 7 is read by `opencode`.

The CLI keeps `~/.cline/data/sessions/<session>/<session>.messages.json` instead: an object with `messages`. Seen in
files of Cline CLI 3.0.65, run on 2026-11-24: parallel calls, and a turn that ended with a 400, of which only the text
is stored.

Source: cline/cline@21cb8d2525bcedf1f4b6890b27a74a14fe7451e4/apps/vscode/src/shared/messages/content.ts and
ExtensionMessage.ts; RooCodeInc/Roo-Code@cb836567180a3ff1da6d082f3178b90c3bd22a70/src/core/task-persistence/
apiMessages.ts and src/core/task/Task.ts
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from conformance.documents import BOUNDS, parse_json
from conformance.errors import InvalidDocument
from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.chat import only
from conformance.formats.sessions.failing import failure, text_of
from conformance.formats.sessions.steps import RULES, Added, AgentSession, Refused, Replied, Step

KIND: Final = "cline"
TITLE: Final = "Cline, Roo Code, Kilo Code"
HISTORY: Final = "api_conversation_history.json"
SHOWN: Final = "ui_messages.json"
_MARKS: Final = ("ts", "modelInfo", "metrics", "condenseId", "isSummary")
_HIDDEN: Final = ("condenseParent", "truncationParent")
_MISSING: Final = "holds what was shown; its failures have no request, since api_conversation_history.json is missing"
_SEEN: Final = f"skipped, what was shown; its failures are checked with {HISTORY} beside it"


def holds_list(value: Sequence[Any], path: str) -> bool:
    """Return whether a list is a history or what was shown; a history without marks is known by its name."""
    items = [each for each in value if isinstance(each, Mapping)]
    if len(items) != len(value) or not items:
        return False
    if all("ts" in each and each.get("type") in ("say", "ask") for each in items):
        return True
    named = Path(path).name.endswith(HISTORY)
    spoken = all("content" in each or each.get("type") == "reasoning" for each in items)
    return spoken and (named or any(mark in each for each in items for mark in _MARKS))


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is the messages of a session of the CLI, `<session>.messages.json`."""
    return isinstance(value.get("messages"), list) and {"agent", "sessionId", "updated_at"} <= value.keys()


def of_value(value: Mapping[str, Any], path: str) -> Iterator[AgentSession]:
    """Yield the conversation of a session of the CLI, whose failures are messages that are only shown."""
    messages = as_objects(value["messages"])
    steps = [step for message in messages for step in (_shown_failure(message) or _steps(message))]
    providers = [as_object(message.get("modelInfo")).get("provider") for message in messages]
    yield AgentSession("messages", steps, as_text(value["sessionId"]) or Path(path).stem, only(providers))


def _shown_failure(message: Mapping[str, Any]) -> list[Step]:
    if as_object(message.get("metadata")).get("displayRole") != "error":
        return []
    found = failure(text_of(message.get("content")), is_call=True)
    model = as_text(as_object(message.get("modelInfo")).get("id"))
    return [Refused(*found, None, model, date_of(message.get("ts")))] if found is not None else []


def of_list(value: Sequence[Mapping[str, Any]], path: str) -> Iterator[AgentSession]:
    """Yield the conversation of a task; the failures come from the file beside it."""
    if value[0].get("type") in ("say", "ask"):
        if Path(path).with_name(HISTORY).is_file():
            yield AgentSession("messages", (), "", "", (_SEEN,))
            return
        yield AgentSession("messages", [step for _, step in _failures(value)], "", "", (_MISSING,))
        return
    placed = [(_time(message, number), step) for number, message in enumerate(value) for step in _steps(message)]
    last = max((time for time, _ in placed), default=0)
    # A history without times comes before all failures.
    has_times = any("ts" in message for message in value)
    failed = [(time if has_times else max(time, last), step) for time, step in _failures(_shown(path))]
    steps = [step for _, step in sorted([*placed, *failed], key=itemgetter(0))]
    providers = [as_object(message.get("modelInfo")).get("providerId") for message in value]
    is_native = any(_has_calls(message) for message in value)
    rules = RULES if is_native else tuple([rule for rule in RULES if "markup" not in rule])
    yield AgentSession("messages", steps, Path(path).parent.name, only(providers), rules=rules)


def _time(message: Mapping[str, Any], number: int) -> float:
    time = message.get("ts")
    return time if isinstance(time, (int, float)) else number


def _steps(message: Mapping[str, Any]) -> Iterator[Step]:
    is_shown_only = as_object(message.get("metadata")).get("displayOnly")
    if is_shown_only or any(message.get(key) for key in _HIDDEN) or "role" not in message:
        return
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    listed = [_plain(each) for each in as_objects(blocks)]
    if not listed:
        return
    sent = {"role": message["role"], "content": listed}
    if message["role"] == "assistant":
        info = as_object(message.get("modelInfo"))
        model = as_text(info.get("modelId", info.get("id")))
        yield Replied((sent,), {"type": "message", **sent}, None, model, date_of(message.get("ts")))
    else:
        yield Added((sent,))


def _plain(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a block without what is never sent."""
    return {key: value for key, value in block.items() if key not in ("call_id", "reasoning_details")}


def _has_calls(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(as_object(each).get("type") == "tool_use" for each in content)


def _failures(shown: Sequence[Any]) -> Iterator[tuple[float, Step]]:
    before: Any = None
    for number, event in enumerate(shown):
        given = as_object(event)
        text: Any = given.get("text")
        if given.get("say") == "api_req_started":
            text = as_object(_value(text)).get("streamingFailedMessage")
        elif given.get("ask") != "api_req_failed" and given.get("say") != "api_req_retry_delayed":
            continue
        details = as_object(_value(text))
        found = failure(details.get("message", text), details.get("status"), is_call=True)
        # What is shown of one failure may be two events, and again with each retry.
        if found is not None and found != before:
            before, date = found, date_of(given.get("ts"))
            yield _time(given, number), Refused(*found, None, as_text(details.get("modelId")), date)


def _value(text: Any) -> Any:
    try:
        return parse_json(text, "") if isinstance(text, str) else None
    except InvalidDocument:
        return None


def _shown(path: str) -> Sequence[Any]:
    """Return what was shown in a task, from the file beside its history; nothing if that cannot be read."""
    beside = Path(path).with_name(SHOWN)
    try:
        if not beside.is_file() or beside.stat().st_size > BOUNDS.bytes:
            return ()
        value = _value(beside.read_text("utf-8", "replace"))
    except OSError:
        return ()
    return value if isinstance(value, list) else ()
