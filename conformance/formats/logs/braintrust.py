"""Rows of Braintrust's logs, as its SDKs send them and its exports hold them: `span_attributes`, `input`, `output`.

The row of a call has `span_attributes` with `type` `llm`; the wrapper of the SDK of OpenAI logs `messages` as `input`,
the choices of the reply as `output`, the other arguments as `metadata`, and the exception as `error`.

Source: py/src/braintrust/integrations/openai/tracing.py and py/src/braintrust/logger.py of
github.com/braintrustdata/braintrust-sdk
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.formats import failures, rebuilt
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of

KIND: Final = "braintrust"
RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a row."""
    return isinstance(value.get("span_attributes"), Mapping) and ("input" in value or "span_id" in value)


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the call of a row, or say why there is none."""
    if as_object(value.get("span_attributes")).get("type") != "llm":
        yield "skipped, rows of something other than a model"
        return
    given, got = (rebuilt.embedded(value.get(name), name, path) for name in ("input", "output"))
    metadata = as_object(value.get("metadata"))
    model, provider = as_text(metadata.get("model")), as_text(metadata.get("provider"))
    failure, day = failures.of_value(value.get("error")), date_of(value.get("created"))
    native = rebuilt.native(given, got, model, date=day)
    if native is not None:
        yield rebuilt.failed(Rebuilt(native, provider), failure)
        return
    messages = rebuilt.logged(as_object(given).get("messages", given))
    if not messages:
        yield "skipped, a row without messages"
        return
    made = rebuilt.exchange(messages, rebuilt.logged(as_object(got).get("choices", got)), model, date=day)
    yield rebuilt.failed(Rebuilt(made, provider), failure)
