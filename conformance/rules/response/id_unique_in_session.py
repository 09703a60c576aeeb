from conformance.documents.pointer import render
from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.history import LaterId, later_ids


@rule(
    Level.MUST,
    on=later_ids,
    harm=Harm.FORM,
    source=Source(
        "https://github.com/InternLM/lmdeploy/pull/4707",
        "When different assistants receive the same `id`, their outputs can be merged into one assistant history",
    ),
    bad=[
        example("thinking-session", {"/2/response/id": "chatcmpl-1"}),
        example("messages-session", {"/1/response/id": "msg_01"}),
        example("gemini-session", {"/1/response/responseId": "resp-1"}),
    ],
    good=[example("thinking-session"), example("messages-session"), example("responses-session")],
    wires=EVERY,
)
def judge(reply: LaterId, _context: Context) -> list[Fault]:
    """No two replies of a session have the same id.

    Clients and gateways store replies under their ids: of two with one id, the later overwrites the earlier, or both
    are merged into one. The rule reads all replies of the session. To fix it, make a new id for each reply.
    """
    if reply.first is None:
        return []
    return [Fault(f"expected an id of its own, got {reply.value!r:.60} as in {render(reply.first)}")]
