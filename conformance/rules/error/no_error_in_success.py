from typing import Any

from conformance.documents.pointer import Place
from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import answers, is_flat_error

_FAILED = {"error": {"message": "The upstream is gone.", "code": 502}}
_GONE = {"code": "server_error", "message": "The upstream is gone."}


def _is_stream(answer: Body) -> bool:
    """Return whether an answer was a stream of another wire, in which an error has no status of its own."""
    return answer.exchange.native is not None and bool(answer.exchange.native.events)


@rule(
    Level.MUST,
    on=answers,
    harm=Harm.LOOP,
    where=lambda answer, _context: (
        type(answer.value) is dict and 200 <= (answer.exchange.status or 0) < 300 and not _is_stream(answer)
    ),
    source=Source(
        "https://github.com/runpod-workers/worker-vllm/issues/57",
        "returns HTTP status 200, but the error message is in the JSON",
    ),
    bad=[
        example("plain", {"/0/response": _FAILED}),
        example("plain", {"/0/response/choices/0/error": {"code": 502, "message": "The upstream is gone."}}),
        example("responses-session", {"/2/response/status": "failed", "/2/response/error": _GONE}),
    ],
    good=[example("plain"), example("plain", {"/0/response/error": None})],
    wires=EVERY,
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """A reply with a success status contains no error.

    Clients check the status first: they find no choices, or half an answer, and no reason to retry. To fix it, send the
    error's own status; a gateway passes on the status of its upstream.
    """
    found = _error(answer.value)
    if found is None:
        return []
    status = answer.exchange.status
    place, error = found
    return [Fault(f"expected a status of 400 or more with this error, got {status}: {error!r:.80}", at=place)]


def _error(body: dict[str, Any]) -> tuple[Place, Any] | None:
    if body.get("error") or body.get("object") == "error":
        return ("error",) if "error" in body else (), body.get("error") or body.get("message")
    choices = body.get("choices")
    for position, choice in enumerate(choices if type(choices) is list else ()):
        if type(choice) is dict and choice.get("error"):
            return ("choices", position, "error"), choice["error"]
    return ((), body) if not choices and is_flat_error(body) else None
