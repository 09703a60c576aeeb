"""Vices of answers as a whole: status, headers, errors and token counts."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any

import orjson

from conformance.mutation import targets
from conformance.mutation.bases import Record
from conformance.mutation.definition import vice
from conformance.mutation.targets import Slot

_ERROR = {"message": "The upstream is gone.", "type": "server_error", "param": None, "code": "502"}


@vice(targets.answers, "http/status-known")
def status_of_redirection(record: Record) -> None:
    """A reply comes with the status of a redirection."""
    record["status"] = 302


@vice(targets.errors, "error/no-error-in-success")
def error_under_status_200(record: Record) -> None:
    """A refusal comes with the status of success."""
    record["status"] = 200


@vice(targets.plain, "error/no-completion-in-error", kin=("error/body-shape",))
def completion_under_status_500(record: Record) -> None:
    """A completion comes with the status of failure."""
    record["status"] = 500


@vice(targets.plain, "error/no-error-in-success")
def error_beside_choices(record: Record) -> None:
    """A reply of status 200 holds an error beside its choices."""
    record["response"]["error"] = _ERROR


@vice(targets.plain, "error/no-error-in-success")
def error_in_choice(record: Record) -> None:
    """A choice of a reply of status 200 holds an error."""
    record["response"]["choices"][0]["error"] = _ERROR


@vice(targets.plain, "error/no-error-in-success")
def error_instead_of_completion(record: Record) -> None:
    """A reply of status 200 is nothing but an error."""
    record["response"] = {"error": _ERROR}


@vice(targets.errors, "error/body-shape")
def error_in_detail(record: Record) -> None:
    """A refusal has the shape of a web framework."""
    record["response"] = {"detail": "Unauthorized"}


@vice(targets.errors, "error/body-shape")
def error_flat(record: Record) -> None:
    """A refusal has its message at the top."""
    record["response"] = record["response"]["error"]


@vice(targets.errors, "error/body-shape")
def error_as_string(record: Record) -> None:
    """The error of a refusal is a string."""
    record["response"]["error"] = "Unauthorized"


@vice(targets.errors, "error/body-shape")
def error_in_list(record: Record) -> None:
    """A refusal is a list that holds the error."""
    record["response"] = orjson.dumps([record["response"]]).decode()


@vice(targets.errors, "error/body-shape", kin=("http/content-type-matches-body",))
def error_as_page(record: Record) -> None:
    """A refusal is a proxy's page."""
    record["response"] = "<html><body>Bad gateway</body></html>"


@vice(targets.errors, "error/body-shape")
def error_message_dropped(record: Record) -> None:
    """An error has no message."""
    del record["response"]["error"]["message"]


@vice(targets.errors, "error/message-not-empty")
def error_message_emptied(record: Record) -> None:
    """The message of an error is empty."""
    record["response"]["error"]["message"] = ""


@vice(targets.errors, "error/body-shape", claims={"error.shape": "openai"})
def error_type_dropped(record: Record) -> None:
    """An error has no type, at a provider whose errors have one."""
    del record["response"]["error"]["type"]


@vice(
    targets.errors,
    "error/code-and-param-types",
    claims={"error.shape": "openai", "error.code-type": ["string"]},
)
def error_code_as_number(record: Record) -> None:
    """The code of an error is a number, at a provider whose codes are words."""
    record["response"]["error"]["code"] = 401


def _limited(records: Any) -> Any:
    return (record for record in targets.errors(records) if record["status"] == 429)


@vice(_limited, "http/retry-after-valid")
def retry_after_with_unit(record: Record) -> None:
    """Retry-After has a unit."""
    record["headers"]["retry-after"] = "2s"


@vice(_limited, "http/retry-after-as-claimed", claims={"http.retry-after": "present"})
def retry_after_dropped(record: Record) -> None:
    """A rate limit does not say when to try again, at a provider that does."""
    del record["headers"]["retry-after"]


@vice(targets.answers, "http/content-type-matches-body")
def content_type_swapped(record: Record) -> None:
    """A body is called an event stream, an event stream a body."""
    is_stream = isinstance(record["response"], list)
    record["headers"]["content-type"] = "application/json" if is_stream else "text/event-stream"


@vice(targets.answers, "http/content-type-matches-body")
def content_type_of_text(record: Record) -> None:
    """A reply is called plain text."""
    record["headers"]["content-type"] = "text/plain; charset=utf-8"


@vice(targets.streams, "http/streams-when-asked")
def answered_plainly(record: Record) -> None:
    """A request for a stream is answered with one body."""
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


@vice(targets.streams, "http/streams-when-asked")
def streamed_unasked(record: Record) -> None:
    """A request for one body is answered with a stream."""
    record["request"]["stream"] = False


@vice(targets.usages, "usage/adds-up")
def total_wrong(usage: dict[str, Any]) -> None:
    """The total of a token count is one too many."""
    usage["total_tokens"] += 1


@vice(targets.usages, "usage/adds-up", kin=("usage/reasoning-within-completion",))
def completion_not_counted(usage: dict[str, Any]) -> None:
    """A token count has no tokens of the completion, and the total has."""
    usage["completion_tokens"] = 0


@vice(targets.usages, "usage/reasoning-within-completion")
def reasoning_beside_completion(usage: dict[str, Any]) -> None:
    """More tokens are counted for reasoning than for the completion it is a part of."""
    usage["completion_tokens_details"] = {"reasoning_tokens": usage["completion_tokens"] + 1}


@vice(targets.usages, "shape/response", "shape/chunk")
def usage_negative(usage: dict[str, Any]) -> None:
    """A token count is negative, though it adds up."""
    usage["prompt_tokens"], usage["total_tokens"] = -1, usage["completion_tokens"] - 1


def _counting(records: Any) -> Any:
    return (chunk for chunk in targets.chunks(records) if chunk.value.get("usage"))


@vice(_counting, "usage/present-when-asked")
def usage_dropped(chunk: Slot) -> None:
    """A stream lacks the token count that it was asked for."""
    chunk.drop()


@vice(_counting, "usage/reported-once")
def usage_twice(chunk: Slot) -> None:
    """A stream counts its tokens twice."""
    chunk.holder.insert(chunk.key, chunk.value)


@vice(targets.inner_chunks, "usage/reported-once")
def usage_running(chunk: Slot) -> None:
    """A chunk in the middle counts the tokens so far."""
    chunk.value["usage"] = {"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21}


@vice(targets.plain, "http/content-type-matches-body")
def page_as_json(record: Record) -> None:
    """A reply of status 200 is a proxy's page that is called JSON."""
    record["response"] = "<html><body>Maintenance</body></html>"


@vice(targets.plain, "http/content-type-matches-body")
def body_emptied(record: Record) -> None:
    """A reply of status 200 is empty and called JSON."""
    record["response"] = ""


@vice(targets.errors, "error/no-error-in-success")
def error_text_under_status_200(record: Record) -> None:
    """A reply of status 200 is an error whose error is a string."""
    record |= {"response": {"error": "The upstream is gone."}, "status": 200}


@vice(targets.errors, "shape/response")
def error_detail_under_status_200(record: Record) -> None:
    """A reply of status 200 is an error in the shape of a web framework."""
    record |= {"response": {"detail": "Unauthorized"}, "status": 200}


@vice(targets.errors, "error/body-shape")
def error_body_without_keys(record: Record) -> None:
    """A refusal is an object without keys."""
    record["response"] = {}
