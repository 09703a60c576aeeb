"""Faults of replies as a whole: status, headers, errors and token counts."""

from typing import Any

import orjson

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import mutation
from tests.mutation.targets import Slot

_ERROR = {"message": "The upstream is gone.", "type": "server_error", "param": None, "code": "502"}


@mutation(targets.exchanges, "http/status-known")
def status_of_redirection(record: Record) -> None:
    """A reply has the status of a redirect."""
    record["status"] = 302


@mutation(targets.errors, "error/no-error-in-success")
def error_under_status_200(record: Record) -> None:
    """An error comes with status 200."""
    record["status"] = 200


@mutation(targets.plain, "error/no-completion-in-error", related=("error/body-shape",))
def completion_under_status_500(record: Record) -> None:
    """A completion comes with status 500."""
    record["status"] = 500


@mutation(targets.plain, "http/request-body-is-object")
def request_as_list(record: Record) -> None:
    """The body of a request is the list of its messages."""
    record["request"] = record["request"]["messages"]


@mutation(targets.plain, "error/no-error-in-success")
def error_beside_choices(record: Record) -> None:
    """A reply with status 200 has an error beside its choices."""
    record["response"]["error"] = _ERROR


@mutation(targets.plain, "error/no-error-in-success")
def error_in_choice(record: Record) -> None:
    """A choice of a reply with status 200 has an error."""
    record["response"]["choices"][0]["error"] = _ERROR


@mutation(targets.plain, "error/no-error-in-success")
def error_instead_of_completion(record: Record) -> None:
    """A reply with status 200 is only an error."""
    record["response"] = {"error": _ERROR}


@mutation(targets.errors, "error/body-shape")
def error_in_detail(record: Record) -> None:
    """The body of an error has the shape of a web framework."""
    record["response"] = {"detail": "Unauthorized"}


@mutation(targets.errors, "error/body-shape")
def error_flat(record: Record) -> None:
    """The message of an error is at the top of the body."""
    record["response"] = record["response"]["error"]


@mutation(targets.errors, "error/body-shape")
def error_as_string(record: Record) -> None:
    """The error in a body is a string."""
    record["response"]["error"] = "Unauthorized"


@mutation(targets.errors, "error/body-shape")
def error_in_list(record: Record) -> None:
    """The body of an error is a list that holds the error."""
    record["response"] = orjson.dumps([record["response"]]).decode()


@mutation(targets.errors, "error/body-shape", related=("http/content-type-matches-body",))
def error_as_page(record: Record) -> None:
    """The body of an error is an HTML page of a proxy."""
    record["response"] = "<html><body>Bad gateway</body></html>"


@mutation(targets.errors, "error/body-shape")
def error_message_dropped(record: Record) -> None:
    """An error has no message."""
    del record["response"]["error"]["message"]


@mutation(targets.errors, "error/message-not-empty")
def error_message_emptied(record: Record) -> None:
    """The message of an error is empty."""
    record["response"]["error"]["message"] = ""


@mutation(targets.errors, "error/body-shape", claims={"error.shape": "openai"})
def error_type_dropped(record: Record) -> None:
    """An error has no type, from a provider whose errors have one."""
    del record["response"]["error"]["type"]


@mutation(
    targets.errors,
    "error/code-and-param-types",
    claims={"error.shape": "openai", "error.code-type": ["string"]},
)
def error_code_as_number(record: Record) -> None:
    """The code of an error is a number, from a provider whose codes are strings."""
    record["response"]["error"]["code"] = 401


def _limited(records: Any) -> Any:
    return (record for record in targets.errors(records) if record["status"] == 429)


@mutation(_limited, "http/retry-after-valid")
def retry_after_with_unit(record: Record) -> None:
    """The value of Retry-After has a unit."""
    record["headers"]["retry-after"] = "2s"


@mutation(_limited, "http/retry-after-as-claimed", claims={"http.retry-after": "present"})
def retry_after_dropped(record: Record) -> None:
    """A rate limit has no Retry-After, from a provider that sends it."""
    del record["headers"]["retry-after"]


@mutation(targets.exchanges, "http/content-type-matches-body")
def content_type_swapped(record: Record) -> None:
    """The content type of a JSON body is that of an event stream, and the other way round."""
    is_stream = isinstance(record["response"], list)
    record["headers"]["content-type"] = "application/json" if is_stream else "text/event-stream"


@mutation(targets.exchanges, "http/content-type-matches-body")
def content_type_of_text(record: Record) -> None:
    """The content type of a reply is plain text."""
    record["headers"]["content-type"] = "text/plain; charset=utf-8"


@mutation(targets.streams, "http/streams-when-asked")
def answered_plainly(record: Record) -> None:
    """A request for a stream gets a JSON body."""
    message = {"role": "assistant", "content": "Rarely."}
    record["response"] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "example-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    record["headers"]["content-type"] = "application/json"
    del record["stream"]


@mutation(targets.streams, "http/streams-when-asked")
def streamed_unasked(record: Record) -> None:
    """A request for a JSON body gets a stream."""
    record["request"]["stream"] = False


@mutation(targets.usages, "usage/adds-up")
def total_wrong(usage: dict[str, Any]) -> None:
    """The total of a token count is one too many."""
    usage["total_tokens"] += 1


@mutation(
    targets.usages,
    "usage/adds-up",
    related=(
        "usage/not-zero-beside-text",
        "usage/reasoning-within-completion",
    ),
)
def completion_not_counted(usage: dict[str, Any]) -> None:
    """A token count has no completion tokens, but the total includes them."""
    usage["completion_tokens"] = 0


@mutation(targets.usages, "usage/cached-within-prompt")
def cached_beside_prompt(usage: dict[str, Any]) -> None:
    """Cached tokens are counted beside the prompt tokens, so there are more of them."""
    usage["prompt_tokens_details"] = {"cached_tokens": usage["prompt_tokens"] + 1}


@mutation(targets.usages, "usage/reasoning-within-completion")
def reasoning_beside_completion(usage: dict[str, Any]) -> None:
    """A token count has more reasoning tokens than completion tokens."""
    usage["completion_tokens_details"] = {"reasoning_tokens": usage["completion_tokens"] + 1}


@mutation(targets.usages, "shape/response", "shape/chunk")
def usage_negative(usage: dict[str, Any]) -> None:
    """A token count is negative, though it adds up."""
    usage["prompt_tokens"], usage["total_tokens"] = -1, usage["completion_tokens"] - 1


def _counting(records: Any) -> Any:
    return (chunk for chunk in targets.chunks(records) if chunk.value.get("usage"))


@mutation(_counting, "usage/present-when-asked")
def usage_dropped(chunk: Slot) -> None:
    """A stream lacks the token count that was requested."""
    chunk.drop()


@mutation(_counting, "usage/reported-once")
def usage_twice(chunk: Slot) -> None:
    """A stream sends its token count twice."""
    chunk.holder.insert(chunk.key, chunk.value)


@mutation(targets.inner_chunks, "usage/reported-once")
def usage_running(chunk: Slot) -> None:
    """A chunk in the middle holds the token count so far."""
    chunk.value["usage"] = {"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21}


@mutation(targets.plain, "http/body-is-object-or-stream", "http/content-type-matches-body")
def page_as_json(record: Record) -> None:
    """A reply with status 200 is an HTML page with the content type of JSON."""
    record["response"] = "<html><body>Maintenance</body></html>"


@mutation(targets.plain, "http/body-is-object-or-stream")
def body_emptied(record: Record) -> None:
    """A reply with status 200 is empty, with the content type of JSON."""
    record["response"] = ""


@mutation(targets.errors, "error/no-error-in-success")
def error_text_under_status_200(record: Record) -> None:
    """A reply with status 200 is an error as a string."""
    record |= {"response": {"error": "The upstream is gone."}, "status": 200}


@mutation(targets.errors, "shape/response")
def error_detail_under_status_200(record: Record) -> None:
    """A reply with status 200 is an error in the shape of a web framework."""
    record |= {"response": {"detail": "Unauthorized"}, "status": 200}


@mutation(targets.errors, "error/body-shape")
def error_body_without_keys(record: Record) -> None:
    """The body of an error is an empty object."""
    record["response"] = {}
