from typing import Any

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import errors


@rule(
    Level.SHOULD,
    on=errors,
    where=lambda answer, _context: type(answer.value) is str or _message(answer.value) is not None,
    source=Source("https://github.com/openai/openai-node/issues/162", "getting 400 without error message"),
    bad=[
        example("error", {"/0/response/error/message": ""}),
        example("error-rate-limit", {"/0/response/error/message": " "}),
        example("error", {"/0/response": {"error": ""}}, {"error.shape": "string"}),
    ],
    good=[example("error"), example("error-rate-limit")],
    wires=EVERY,
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """The message of an error is not empty.

    It is all that a person has to act on. To fix it, say which part of the request is wrong and what is expected.
    """
    text = answer.value if type(answer.value) is str else _message(answer.value)
    if text is not None and text.strip():
        return []
    return [Fault(f"expected an error message, got {text!r}")]


def _message(body: Any) -> str | None:
    """Return the message of an error body, wherever its shape has it."""
    if type(body) is not dict:
        return None
    error = body.get("error")
    places = [error.get("message") if type(error) is dict else error, body.get("message"), body.get("detail")]
    return next((text for text in places if type(text) is str), None)
