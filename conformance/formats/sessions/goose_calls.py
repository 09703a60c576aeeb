"""Logs of calls by Goose: `~/.local/state/goose/logs/llm_request.<n>.jsonl`, a file for each of the last calls.

The first line has `model_config` and `input`, the body of the request as it was sent; each line after it has `data`, a
message in the form of a session with what was new in the reply, and `usage`, or else `error`. Since Goose ends a run
without storing why a call failed, only these files hold that.

Seen in files of Goose 1.34.0, run on 2026-11-24: parallel calls, and a turn that ended with a 400.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance import wires
from conformance.documents import JSON
from conformance.formats import rebuilt
from conformance.formats.inputs import Input
from conformance.formats.records import as_object, as_text, date_of
from conformance.formats.sessions.failing import failure
from conformance.formats.sessions.goose import steps_of
from conformance.formats.sessions.steps import Replied
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT

KIND: Final = "goose_calls"
TITLE: Final = "Goose"
_RULES: Final = (*rebuilt.RULES, *rebuilt.SENT_RULES, *rebuilt.FAILURE_RULES)


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a record is the first one of a log."""
    return isinstance(record.get("model_config"), Mapping) and isinstance(record.get("input"), Mapping)


def sessions(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[Input]:
    """Yield the call of a file."""
    first, *rest = records
    line, body = first[0], dict(as_object(first[1].get("input")))
    model = as_text(body.get("model")) or as_text(as_object(first[1].get("model_config")).get("model_name"))
    replies = [(at, as_object(record["data"])) for at, record in rest if isinstance(record.get("data"), Mapping)]
    day = next(filter(None, (date_of(message.get("created")) for _, message in replies)), "")
    sent = Exchange.of_plain(body, model=model, date=day)
    error = next((as_text(record["error"]) for _, record in rest if record.get("error")), "")
    status, got = failure(error, is_call=True) or (None, None)
    if got is None and wires.of(sent).name == CHAT:
        got = _reply(replies)
    made = Exchange.of_plain(body, dict(got) if got else None, status, model=model, date=day)
    yield Input("", line, KIND, (made,), lines=(line,), notes=rebuilt.SENT_NOTES, rules=_RULES)


def _reply(replies: Iterable[tuple[int, Mapping[str, Any]]]) -> Mapping[str, JSON] | None:
    """Return the body of a reply, made from the messages of its parts."""
    return next((step.body for step in steps_of(replies) if isinstance(step, Replied)), None)
