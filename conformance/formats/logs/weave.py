"""Calls of W&B Weave, as its client and its API return them: one object a line, or a list.

A call has `op_name`, a reference that ends with the name of the op and its digest, `inputs`, `output`, `started_at`,
and `exception` if it failed. The ops that Weave patches log the arguments of an SDK, beside the client in `self`, and
its reply.

Source: CallSchema in
wandb/weave@00439504b81eb3a9ee4f37768f059c1c00ed2782/weave/trace_server/trace_server_interface.py and
wandb/weave@0038e79d1d1a43bdfc5966340d575b0a3846c106/weave/integrations/openai/openai_sdk.py
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance import wires
from conformance.formats import failures, rebuilt
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of
from conformance.wire.exchange import Exchange

KIND: Final = "weave"
RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES
_OWN: Final = ("self", "timeout", "extra_headers", "extra_query", "extra_body")
"""Arguments that are not members of the body; those of `extra_body` are."""
_PROVIDERS: Final = {"anthropic": "anthropic", "google": "gemini", "mistralai": "mistral", "groq": "groq"}
"""By the first part of an op's name: the provider, where that is no SDK for many hosts."""


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a call."""
    return isinstance(value.get("op_name"), str) and isinstance(value.get("inputs"), Mapping)


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the exchange of a call of a model, or say why there is none."""
    del path
    inputs = as_object(value.get("inputs"))
    sent = {key: each for key, each in inputs.items() if key not in _OWN and each is not None}
    sent |= as_object(inputs.get("extra_body"))
    if not {"messages", "input", "contents"} & sent.keys():
        yield "skipped, calls of something other than a model"
        return
    got, day = value.get("output"), date_of(value.get("started_at"))
    model = as_text(sent.get("model"))
    failure = failures.of_value(value.get("exception"))
    provider = _PROVIDERS.get(_op(value["op_name"]).partition(".")[0], "")
    # The reply shows the wire of a request that fits several.
    whole = Exchange.of_plain(sent, got if isinstance(got, Mapping) else None, model=model, date=day)
    native = whole if wires.is_native(whole) else rebuilt.native(sent, got, model, date=day)
    if native is not None:
        yield rebuilt.failed(Rebuilt(native, provider, verbatim=True), failure)
        return
    arguments = rebuilt.sent(sent)
    messages = rebuilt.logged(sent.get("messages"))
    made = rebuilt.exchange(messages, rebuilt.logged(as_object(got).get("choices", got)), model, date=day)
    if arguments:
        found = Rebuilt(rebuilt.with_request(made, arguments), provider, verbatim=True)
        yield rebuilt.failed(found, failure)
    elif messages:
        yield rebuilt.failed(Rebuilt(made, provider), failure)
    else:
        yield "skipped, a call without messages"


def _op(reference: str) -> str:
    """Return the name of an op by its reference, such as `weave:///entity/project/op/openai.chat.completions.create:x`."""
    return reference.rpartition("/op/")[2].partition(":")[0]
