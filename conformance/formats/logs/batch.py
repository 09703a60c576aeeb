"""Input and output files of the OpenAI Batch API: one request, or one reply, a line.

Input lines have `custom_id`, `method`, `url` and `body`; output lines have `custom_id`, `response` (`status_code`,
`request_id`, `body`) and `error`.

Source: https://platform.openai.com/docs/api-reference/batch/request-input and …/request-output
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance import wires
from conformance.formats.bodies import reply_body, request_body
from conformance.formats.records import as_object, as_text, date_of_reply, status_of
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import other_api

KIND: Final = "batch"
RULES: Final = ()
NOTES: Final = ()


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a line of a batch."""
    return "custom_id" in value and ("body" in value or "response" in value or "error" in value)


def pair(value: Mapping[str, Any]) -> str:
    """Return what a request and its reply have in common."""
    return as_text(value.get("custom_id"))


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Exchange | str]:
    """Yield the request or the reply of a line; the two are in different files, which `pairs` joins."""
    if "body" in value:
        yield _request(value, path)
    elif isinstance(value.get("response"), Mapping):
        yield _reply(value["response"], path)
    else:
        code = as_object(value.get("error")).get("code")
        yield f"skipped, a request without a reply: the batch reports the error {code!r}"


def _request(value: Mapping[str, Any], path: str) -> Exchange | str:
    url = as_text(value.get("url"))
    body = request_body(value["body"], path)
    found = Exchange.of_plain(request=body, url=url, model=model_of(body))
    # Some providers leave the URL out.
    is_known = not other_api(found) and (url or "messages" in as_object(body) or wires.is_native(found))
    return found if is_known else f"skipped, not chat completions: {value.get('method')} {url[:80]}"


def _reply(response: Mapping[str, Any], path: str) -> Exchange | str:
    body, streamed = reply_body(response.get("body"), {}, path)
    known = as_object(body)
    status, day = status_of(response.get("status_code")), date_of_reply(body)
    found = Exchange.of_plain(response=body, status=status, streamed=streamed, model=model_of(body), date=day)
    is_chat = ("choices" in known or "error" in known) and known.get("object") != "text_completion"
    if not is_chat and not wires.is_native(found):
        return f"skipped, not a chat completion: a reply with the object {known.get('object')!r}"
    return found
