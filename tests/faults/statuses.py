"""Faults of statuses and bodies: needless refusals, errors under a wrong status, and answers that no API gives."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.faults import CORE, Reply, fault, thinks

ENDS = "the wire is broken"
STOPS = "stopped: "
_ERROR = {"error": {"message": "Upstream.", "type": "server_error", "param": None, "code": None}}


def _lacks_reasoning(request: Mapping[str, Any]) -> bool:
    names = ("reasoning_content", "reasoning", "reasoning_details")
    turns = [each for each in request["messages"] if each["role"] == "assistant" and each.get("tool_calls")]
    return any(not any(turn.get(name) for name in names) for turn in turns)


def _refuses_omission(claims: Mapping[str, Any]) -> bool:
    return thinks(claims) and isinstance(claims.get("reasoning.omitted-on-tool-turn"), Mapping)


def _refuses_collisions(claims: Mapping[str, Any]) -> bool:
    return isinstance(claims.get("ids.duplicate-in-request"), Mapping)


def _refuses_no_id(claims: Mapping[str, Any]) -> bool:
    return isinstance(claims.get("results.without-id"), Mapping)


@fault("probes/", "core: ")
def first_refusal_is_500(_request: Mapping[str, Any], reply: Reply) -> None:
    """The first refusal of a run is a 500, each time it is asked for."""
    if 400 <= reply.status < 500:
        key = str(_request)
        if reply.state.setdefault("first", key) == key:
            reply.refuse(500)


@fault("probes/", scenarios=("interleaved-thinking",), variants=("plain",), needs=_refuses_omission)
def one_refusal_is_500_in_plain(request: Mapping[str, Any], reply: Reply) -> None:
    """In interleaved-thinking.plain, one refusal of omitted reasoning is a 500."""
    if (
        reply.status == 400
        and _lacks_reasoning(request)
        and reply.state.setdefault("key", str(request)) == str(request)
    ):
        reply.refuse(500)


@fault("probes/")
def every_refusal_is_500(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every refusal is a 500."""
    if 400 <= reply.status < 500:
        reply.refuse(500)


@fault("probes/tool-message-without-id", "probes/", scenarios=("one-tool-call",), needs=_refuses_no_id)
def tool_message_without_id_is_500(request: Mapping[str, Any], reply: Reply) -> None:
    """A tool message without an id gets a 500."""
    if any(each["role"] == "tool" and "tool_call_id" not in each for each in request["messages"]):
        reply.refuse(500)


@fault("probes/")
def every_refusal_is_418(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every refusal has another status, 418."""
    if 400 <= reply.status < 500:
        reply.status = 418


@fault("probes/", needs=_refuses_omission)
def refusals_have_other_words(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every refusal has another text."""
    if 400 <= reply.status < 500:
        reply.refuse(reply.status, "No.")


@fault("core: reasoning-omitted", "probes/absent-current-own", needs=_refuses_omission)
def omitted_reasoning_accepted(request: Mapping[str, Any], reply: Reply) -> None:
    """A request that omits reasoning is answered, though it is claimed to be refused."""
    if reply.status == 400 and _lacks_reasoning(request):
        _answer(reply)


@fault("core: reasoning-omitted", "probes/absent-current-own", scenarios=("interleaved-thinking",), needs=thinks)
def omitted_reasoning_refused(request: Mapping[str, Any], reply: Reply) -> None:
    """A request that omits reasoning is refused in words that no claim has."""
    if _lacks_reasoning(request):
        reply.refuse(400, "Where is the reasoning?")


@fault("core: tool-call-ids", "probes/ids-colliding", needs=_refuses_collisions)
def colliding_ids_accepted(request: Mapping[str, Any], reply: Reply) -> None:
    """A request whose calls share an id is answered, though it is claimed to be refused."""
    ids = [call["id"] for each in request["messages"] for call in each.get("tool_calls") or () if "id" in call]
    if 400 <= reply.status < 500 and len(set(ids)) < len(ids):
        _answer(reply)


@fault("probes/")
def every_refusal_is_an_answer(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every request that is refused is answered."""
    if 400 <= reply.status < 500:
        _answer(reply)


@fault("core: ", STOPS)
def busy_always(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every answer is a 429."""
    reply.refuse(429, "Slow down.")
    reply.headers["retry-after"] = "0"


@fault("core: ")
def busy_after_first_turn(request: Mapping[str, Any], reply: Reply) -> None:
    """Every answer after the first turn is a 429."""
    if any(each["role"] == "tool" for each in request["messages"]):
        busy_always.apply(request, reply)


@fault("core: ")
def time_out_always(_request: Mapping[str, Any], reply: Reply) -> None:
    """No answer comes in time."""
    reply.error = httpx.ReadTimeout("timed out")


@fault("core: ")
def time_out_on_tool_messages(request: Mapping[str, Any], reply: Reply) -> None:
    """No answer to a tool result comes in time."""
    if any(each["role"] == "tool" for each in request["messages"]):
        reply.error = httpx.ReadTimeout("timed out")


@fault(STOPS)
def key_refused(_request: Mapping[str, Any], reply: Reply) -> None:
    """The key is refused."""
    reply.refuse(401, "Invalid key.")


@fault(STOPS)
def html_always(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every answer is an HTML page with status 200."""
    reply.status, reply.headers = 200, {**reply.headers, "content-type": "text/html"}
    reply.body = "<!doctype html><html><body>Sign in</body></html>"


@fault(STOPS)
def redirect_always(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every answer is a redirect to a page."""
    reply.status, reply.headers, reply.body = 302, {**reply.headers, "location": "/login"}, ""


@fault(ENDS, STOPS)
def empty_body(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every answer has an empty body."""
    if reply.status == 200:
        reply.body = ""


@fault(ENDS, STOPS, variants=("plain",))
def cut_body(_request: Mapping[str, Any], reply: Reply) -> None:
    """A plain reply is cut in the middle."""
    if reply.status == 200:
        reply.body = '{"id": "chatcmpl-1", "choices": [{"ind'


@fault(ENDS)
def error_in_200(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every answer is an error with status 200."""
    reply.refuse(200)


@fault(ENDS)
def error_in_200_after_tools(request: Mapping[str, Any], reply: Reply) -> None:
    """Every answer to a tool result is an error with status 200."""
    if any(each["role"] == "tool" for each in request["messages"]):
        reply.refuse(200)


@fault(ENDS)
def results_refused(request: Mapping[str, Any], reply: Reply) -> None:
    """Every request with a tool result is refused."""
    if any(each["role"] == "tool" for each in request["messages"]):
        reply.refuse(400, "No tools.")


@fault("core: ", ENDS)
def server_error_on_tool_messages(request: Mapping[str, Any], reply: Reply) -> None:
    """Every request with a tool result gets a 500."""
    if any(each["role"] == "tool" for each in request["messages"]):
        reply.refuse(500)


@fault("core: ", ENDS, scenarios=CORE)
def model_is_unknown(_request: Mapping[str, Any], reply: Reply) -> None:
    """Every request is refused, since the model is unknown."""
    reply.refuse(400, "The model does not exist.")


def _answer(reply: Reply) -> None:
    reply.status, reply.headers = 200, {**reply.headers, "content-type": "application/json"}
    message = {"role": "assistant", "content": "Fine."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    frame = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_767_225_600, "model": "m"}
    reply.body = {**frame, "choices": [choice], "usage": usage}
