from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.schemas import validator
from conformance.wire.elements import Body
from conformance.wire.views import errors

_ERROR: dict[str, Any] = {"message": "No.", "type": "bad", "code": "x"}
_FLAT: dict[str, Any] = {"message": "No.", "type": "bad", "param": None, "code": 7}
_BODIES: dict[str, Any] = {
    "openai": {"error": {**_ERROR, "param": None}},
    "openai-no-param": {"error": _ERROR},
    "openai-minimal": {"error": {"message": "No.", "type": "bad"}},
    "openai-object": {"error": {"object": "error", **_ERROR}},
    "openai-request-id": {"error": {**_ERROR, "param": None}, "id": "a", "request_id": "b"},
    "code-message": {"error": {"code": "1210", "message": "No."}},
    "code-message-type": {"error": {"code": 400, "message": "No.", "type": "bad"}},
    "message-only": {"error": {"message": "No."}},
    "metadata": {"error": {"code": 429, "message": "No.", "metadata": {"raw": "{}"}}, "user_id": "u"},
    "google": {"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}},
    "typed": {"type": "error", "error": {"type": "bad", "message": "No."}, "request_id": "r"},
    "flat": {"object": "error", **_FLAT},
    "flat-bare": _FLAT,
    "flat-typed": {"message": "No.", "type": "bad"},
    "message": {"message": "No.", "request_id": "r"},
    "string": {"error": "No."},
    "code-string": {"code": "bad", "error": "No."},
    "code-data": {"code": 20015, "message": "No.", "data": None},
    "error-code": {"error_code": 401, "message": "No."},
    "detail": {"detail": "No."},
    "problem": {"status": 404, "title": "Not Found", "detail": "No."},
    "gateway": {"status": "failure", "message": "No."},
    "errors": {"success": False, "errors": [{"code": 7003, "message": "No."}], "messages": [], "result": None},
}


@rule(
    Level.MUST,
    on=errors,
    source=Source(
        "https://github.com/kserve/kserve/pull/3589",
        "we need to return the openai defined ErrorResponse type, otherwise it will not be compatible with openai "
        "client",
    ),
    bad=[
        example("error", {"/0/response": {"detail": "Unauthorized"}}),
        example("error", {"/0/response/error/message": 7}),
        example("error", {"/0/response/error/param": REMOVE}, {"error.shape": "openai"}),
        example("error", claims={"error.shape": ["flat", "detail"]}),
    ],
    good=[
        example("error"),
        example("error", claims={"error.shape": ["detail", "openai"]}),
        *(example("error", {"/0/response": body}, {"error.shape": shape}) for shape, body in _BODIES.items()),
        example(
            "error",
            {"/0/response": "<html>Bad gateway</html>", "/0/headers/content-type": "text/html"},
            {"error.shape": "text"},
        ),
    ],
    reads=("error.shape",),
)
def judge(answer: Body, context: Context) -> list[Fault]:
    """The body of an error has the documented shape, or OpenAI's if none is documented.

    Clients read the cause of the error from it and decide whether to retry. Without a claim, `error` must be an object
    with a message. To fix it, wrap the error as `schemas/canonical/error.json` shows, including errors that a proxy or
    a framework returns.
    """
    claimed = context.claim("error.shape")
    if claimed is None:
        schemas = ["canonical/error"]
    else:
        schemas = [f"canonical/error-shapes#/$defs/{shape}" for shape in as_words(claimed)]
    if any(validator(schema).is_valid(answer.value) for schema in schemas):
        return []
    if len(schemas) == 1:
        return [Fault(error.message, at=error.place) for error in validator(schemas[0]).errors(answer.value)]
    return [Fault(f"expected an error of the shape {' or '.join(as_words(claimed))}, got {answer.value!r:.80}")]
