from typing import Final

from conformance.documents.pointer import render
from conformance.error_texts import CauseSide, Explanation, explain, said
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.origins import FailureOrigin, origin
from conformance.wire.failures import FIRST_ERROR, FailedExchange
from conformance.wire.views import failures

_MISSING = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
_REFUSED = {"error": {"message": _MISSING, "type": "invalid_request_error"}}
_UNKNOWN = {"error": {"message": "The moon is in the wrong house.", "type": "bad"}}
_OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
_MOST_HOSTS: Final = 4
_SIDES: Final = {CauseSide.CLIENT: "client", CauseSide.ACCOUNT: "client"}
"""Who can act: a key and its quota are the client's, and what the model wrote came from the provider."""


@rule(
    Level.SHOULD,
    on=failures,
    source=Source("https://www.rfc-editor.org/rfc/rfc9110#section-15.5"),
    bad=[
        example("error", {"/0/response": _UNKNOWN}),
        example("error", {"/0/response": _REFUSED}),
        example("error-rate-limit"),
        example("plain", {"/0/response": _UNKNOWN}),
        example("stream-plain", {"/0/response/4": _UNKNOWN}),
        example("messages-stream", {"/0/response/10": _OVERLOADED}),
    ],
    good=[example("plain"), example("stream-plain"), example("messages-stream")],
    wires=EVERY,
    provoked=True,
)
def judge(failure: FailedExchange, context: Context) -> list[Fault]:
    """The provider accepts the request.

    Whoever looks at recorded traffic wants to know why a request failed. The error is looked up among the known texts
    of hosts: what it means, who can fix it, and, where a rule finds it, the place in the request. To fix it, follow the
    advice in the finding; if no rule explains the error, read the host's own words in it.
    """
    exchange = failure.exchange
    explained = explain(failure.value, exchange.status, context.provider, exchange.protocol)
    if explained is None:
        return [Fault(f"the provider refused this and no rule explains it: {_described(failure)}")]
    place = origin(explained, context)
    side = explained.cause.side
    return [
        Fault(
            _message(failure, explained, place),
            place=None if place is None or place.is_native else place.place,
            level=Level.MUST if side is CauseSide.CLIENT else None,
            side=_SIDES.get(side, ""),
        )
    ]


def _described(failure: FailedExchange) -> str:
    status = failure.exchange.status or 0
    text = f"“{said(failure.value)}”" if failure.value else "no body"
    return f"status {status}, {text}" if status >= FIRST_ERROR else text


def _message(failure: FailedExchange, explained: Explanation, place: FailureOrigin | None) -> str:
    """Return what the host says and means, the place, who can fix it, and how."""
    cause = explained.cause
    sentences = [f"the provider refused this: {_described(failure)}.", explained.meaning]
    if place is not None:
        # Places in native bodies need no translation, which that of a fault of this rule gets.
        at = f"at {render(place.place)}" if place.is_native else "here"
        sentences.append(f"{place.rule} finds it {at}: {place.message}.")
    others = " or ".join([each.id for each in explained.causes[1:]])
    sentences.append(f"Cause: {cause.id}{f', or {others}' if others else ''}; side: {cause.side}.")
    if explained.hosts:
        sentences.append(f"Known of {', '.join(explained.hosts[:_MOST_HOSTS])}.")
    if explained.since:
        sentences.append(f"So since {explained.since}.")
    return " ".join([*sentences, f"To fix it: {explained.fix}"])
