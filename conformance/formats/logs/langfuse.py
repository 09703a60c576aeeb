"""Observations of Langfuse, as its API and its export write them: one, a list under `data`, or those of a trace.

A generation has `type` `GENERATION`, `model`, `startTime`, and `input` and `output`, which hold what the integration
gave: messages, or an object with `messages` and `tools`, and a message or a reply; in exports they may be JSON text.
The integrations of SDKs give the arguments as they are, in such an object. A call that failed has `level` `ERROR` and
the text of the exception as `statusMessage`.

Source: https://api.reference.langfuse.com (ObservationsView) and https://langfuse.com/docs/observability/data-model
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from conformance.formats import failures, rebuilt
from conformance.formats.failures import LoggedFailure
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of

KIND: Final = "langfuse"
RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES
_TRACE: Final = ("traceId", "trace_id")


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an observation, or holds a list of them."""
    return _is_observation(value) or any(map(_is_observation, _listed(value)))


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the exchange of each generation, or say why there is none."""
    for item in [value] if _is_observation(value) else _listed(value):
        yield _exchange(item, path)


def _is_observation(value: Any) -> bool:
    return isinstance(value, Mapping) and "type" in value and "input" in value and any(key in value for key in _TRACE)


def _listed(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = value.get("observations", value.get("data"))
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _exchange(item: Mapping[str, Any], path: str) -> Rebuilt | str:
    if item.get("type") != "GENERATION":
        return "skipped, observations of something other than a model"
    given, got = (rebuilt.embedded(item.get(name), name, path) for name in ("input", "output"))
    model = as_text(item.get("model")) or as_text(item.get("providedModelName"))
    day = date_of(item.get("startTime", item.get("start_time")))
    failure = _failure(item)
    found = rebuilt.native(given, got, model, date=day)
    if found is not None:
        return rebuilt.failed(Rebuilt(found), failure)
    arguments = as_object(given)
    messages = rebuilt.logged(arguments.get("messages", given))
    if not messages:
        return "skipped, a generation without messages"
    replies = rebuilt.logged(as_object(got).get("choices", got))
    made = rebuilt.exchange(messages, replies, model, date=day)
    if sent := rebuilt.sent(arguments):
        return rebuilt.failed(Rebuilt(replace(made, request={"model": model, **sent}), verbatim=True), failure)
    return rebuilt.failed(Rebuilt(made), failure)


def _failure(item: Mapping[str, Any]) -> LoggedFailure | None:
    said = as_text(item.get("statusMessage")) or as_text(item.get("status_message"))
    return failures.of_text(said) if item.get("level") == "ERROR" and said else None
