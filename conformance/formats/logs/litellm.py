"""Standard logs of LiteLLM, one object a call, as its callbacks, storage buckets and JSON files hold them.

The fields read here are `call_type`, `model`, `messages`, `model_parameters`, `response`, `api_base`, `startTime`,
`status`, `error_str` and `error_information`. A callback's `kwargs` hold the same object under
`standard_logging_object`. Of a call on Messages, `messages` begin with the system prompt, and `response` is a chat
completion; of one on Responses, `messages` are the input, and `response` is that of the wire.

Source: https://docs.litellm.ai/docs/proxy/logging_spec
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.formats import failures, rebuilt
from conformance.formats.bodies import reply_body, request_body
from conformance.formats.failures import LoggedFailure
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of, date_of_reply, status_of
from conformance.wire.exchange import Exchange, model_of

KIND: Final = "litellm"
RULES: Final = ()
NOTES: Final = (
    "LiteLLM logs no raw bodies: `messages` and `model_parameters` are the caller's, and the reply is LiteLLM's own",
    "findings may be undone or caused by LiteLLM; streams, statuses and headers are not logged and not checked",
)
_WRAPPER: Final = "standard_logging_object"
_CHAT: Final = ("completion", "acompletion")
_MESSAGES: Final = "anthropic_messages"
_RESPONSES: Final = ("responses", "aresponses")
_NOT_SENT: Final = ("stream", "stream_options", "max_retries", "extra_body", "extra_headers", "timeout")
"""Parameters that are LiteLLM's own, are not the body's, or belong to a stream that the log no longer holds."""


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a standard log, or the arguments of a callback with one."""
    if isinstance(value.get(_WRAPPER), Mapping):
        return True
    return "call_type" in value and "messages" in value and "response" in value


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the exchange of a call, or say why there is none."""
    log = value[_WRAPPER] if isinstance(value.get(_WRAPPER), Mapping) else value
    call = as_text(log.get("call_type"))
    messages = log.get("messages")
    if call not in (*_CHAT, _MESSAGES, *_RESPONSES):
        yield f"skipped, neither chat completions, Messages nor Responses: call_type {call!r}"
        return
    if isinstance(messages, str) and messages.startswith(("[", "{")):
        messages = request_body(messages, path)
    if isinstance(messages, Mapping):
        messages = messages.get("messages")
    if not isinstance(messages, list):
        yield "skipped, a call whose messages were not logged; LiteLLM's turn_off_message_logging leaves them out"
        return
    request = {"model": as_text(log.get("model")), **_sent(call, messages), **_parameters(log)}
    response, streamed = reply_body(log.get("response"), {}, path)
    failure = _failure(log)
    if failure is not None:
        response, streamed = None, False
    elif call == _MESSAGES:
        response = None
        yield "a call on Messages, whose reply LiteLLM logs as a chat completion: only its request is checked"
    elif not isinstance(response, Mapping) or not response.keys() & {"choices", "error", "output"}:
        response = None
        yield "a call without a reply: only its request is checked"
    elif call in _RESPONSES:
        # The counts are LiteLLM's own, under the names of chat completions.
        response = {name: item for name, item in response.items() if name != "usage"}
    day = date_of(log.get("startTime")) or date_of_reply(response)
    url, model = as_text(log.get("api_base")), model_of(request)
    made = Exchange.of_plain(request, response, streamed=streamed, url=url, model=model, date=day)
    yield rebuilt.failed(Rebuilt(made, as_text(log.get("custom_llm_provider"))), failure)


def _failure(log: Mapping[str, Any]) -> LoggedFailure | None:
    """Return what a log says of a call that failed: LiteLLM puts the reply's body into the text of its exception."""
    if log.get("status") != "failure":
        return None
    # The rows of its database have it among the metadata, as text.
    metadata = rebuilt.embedded(log.get("metadata"), "metadata", "")
    known = as_object(log.get("error_information", as_object(metadata).get("error_information")))
    found = failures.of_value(log.get("error_str") or known.get("error_message"))
    status = status_of(as_text(known.get("error_code")))
    return found and found._replace(status=status or found.status)


def _sent(call: str, messages: list[Any]) -> dict[str, Any]:
    """Return what was sent of a call besides its parameters, under the keys of its wire."""
    if call in _RESPONSES:
        return {"input": messages}
    first = as_object(messages[0]) if messages else {}
    if call == _MESSAGES and first.get("role") == "system":
        return {"system": first.get("content"), "messages": messages[1:]}
    return {"messages": messages}


def _parameters(log: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the body; those under `extra_body` are sent at the top of it."""
    given = as_object(log.get("model_parameters"))
    merged = {**given, **as_object(given.get("extra_body"))}
    return {name: value for name, value in merged.items() if name not in _NOT_SENT and value is not None}
