"""Input and output files of the OpenAI Batch API: one request, or one reply, a line.

Input lines have `custom_id`, `method`, `url` and `body`; output lines have `custom_id`, `response` (`status_code`,
`request_id`, `body`) and `error`.

Source: https://platform.openai.com/docs/api-reference/batch/request-input and …/request-output
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.formats.bodies import reply_body, request_body
from conformance.formats.records import as_object, as_text, date_of_reply, status_of
from conformance.wire.exchange import Exchange, model_of

KIND: Final = "batch"
RULES: Final = ()
NOTES: Final = ()
_PATH: Final = "/chat/completions"


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a line of a batch."""
    return "custom_id" in value and ("body" in value or "response" in value or "error" in value)


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Exchange | str]:
    """Yield the request or the reply of a line; the two are in different files, so each is checked alone."""
    if "body" in value:
        yield _request(value, path)
    elif isinstance(value.get("response"), Mapping):
        yield _reply(value["response"], path)
    else:
        code = as_object(value.get("error")).get("code")
        yield f"skipped, a request without a reply: the batch reports the error {code!r}"


def _request(value: Mapping[str, Any], path: str) -> Exchange | str:
    url = as_text(value.get("url"))
    if not url.partition("?")[0].rstrip("/").endswith(_PATH):
        return f"skipped, not chat completions: {value.get('method')} {url[:80]}"
    body = request_body(value["body"], path)
    return Exchange.of_plain(request=body, url=url, model=model_of(body))


def _reply(response: Mapping[str, Any], path: str) -> Exchange | str:
    body, streamed = reply_body(response.get("body"), {}, path)
    known = as_object(body)
    if not ("choices" in known or "error" in known) or known.get("object") == "text_completion":
        return f"skipped, not a chat completion: a reply with the object {known.get('object')!r}"
    status, day = status_of(response.get("status_code")), date_of_reply(body)
    return Exchange.of_plain(response=body, status=status, streamed=streamed, model=model_of(body), date=day)
