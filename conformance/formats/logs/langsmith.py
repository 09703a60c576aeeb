"""Runs of LangSmith, as its SDKs and its export write them: `run_type`, `inputs`, `outputs`, `start_time`.

`wrap_openai` logs the arguments of the SDK and its reply; LangChain logs messages as serialized objects, in which `id`
ends with the class and `kwargs` hold the content, or as messages with `type`. A run that failed has the exception in
`error`.

Source: https://docs.langchain.com/langsmith/run-data-format and the fixture written by langsmith 0.15.0
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from conformance.formats import failures, rebuilt
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of

KIND: Final = "langsmith"
RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a run."""
    return isinstance(value.get("run_type"), str) and "inputs" in value


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the exchange of a run of a model, or say why there is none."""
    if value["run_type"] != "llm":
        yield "skipped, runs of something other than a model"
        return
    inputs, outputs = (as_object(rebuilt.embedded(value.get(name), name, path)) for name in ("inputs", "outputs"))
    messages = rebuilt.logged(inputs.get("messages"))
    if not messages:
        yield "skipped, a run without messages"
        return
    replies = outputs.get("choices") or outputs.get("generations") or outputs.get("message")
    metadata = as_object(as_object(value.get("extra")).get("metadata"))
    model = as_text(inputs.get("model")) or as_text(metadata.get("ls_model_name"))
    made = rebuilt.exchange(messages, rebuilt.logged(replies), model, date=date_of(value.get("start_time")))
    arguments = rebuilt.sent(inputs) if "model" in inputs else {}
    found = Rebuilt(replace(made, request=arguments), verbatim=True) if arguments else Rebuilt(made)
    provider = as_text(metadata.get("ls_provider"))
    yield rebuilt.failed(found._replace(provider=provider), failures.of_value(value.get("error")))
