from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import FailedExchange
from conformance.wire.views import failures

_MISSING = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
_REFUSED = {"error": {"message": _MISSING, "type": "invalid_request_error"}}
_UNKNOWN = {"error": {"message": "The moon is in the wrong house.", "type": "bad"}}
_OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


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
    # Imported here because most files hold no failure, and the index of error texts takes longer to load than they.
    from conformance.rules.refused import explained_fault

    return [explained_fault(failure, context)]
