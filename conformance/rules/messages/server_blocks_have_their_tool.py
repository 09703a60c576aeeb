from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, kinds_in, requests
from conformance.wire.values import as_word, objects

_CLAIM = "messages.server-block-without-tool"
_ADVISOR = "advisor"
_CALL = {"type": "server_tool_use", "id": "srvtoolu_01", "name": _ADVISOR, "input": {}}
_ADVICE = {
    "type": "advisor_tool_result",
    "tool_use_id": "srvtoolu_01",
    "content": {"type": "advisor_result", "text": "Go on."},
}
_TEXT = {"type": "text", "text": "Paris has 18 degrees."}
_AT = "/0/request/messages/3/content"
_TOOL = {"type": "advisor_20260301", "name": _ADVISOR, "model": "claude-opus-4-6"}


def _has_blocks(request: NativeBody, context: Context) -> bool:
    if "server_tool_use" not in kinds_in(context.index, context.number):
        return False
    # A result without its call is what another rule finds.
    kinds = [(each.get("type"), each.get("name")) for each in _blocks(request)]
    return ("server_tool_use", _ADVISOR) in kinds


def _blocks(request: NativeBody) -> list[Any]:
    messages = objects(request.value.get("messages"))
    return [block for _, message in messages for _, block in objects(message.get("content"))]


@rule(
    Level.MUST,
    on=requests,
    where=_has_blocks,
    source=Source(
        package="pypi/litellm@1.109.1:litellm/llms/anthropic/common_utils.py",
        quote="if advisor_tool_result blocks exist in history but the advisor tool is not",
    ),
    bad=[
        example("messages-plain", {_AT: [_CALL, _ADVICE, _TEXT]}),
        example("messages-plain", {_AT: [_CALL, _ADVICE, _TEXT]}, {_CLAIM: {"status": 400, "message": "No advisor."}}),
    ],
    good=[example("messages-plain", {_AT: [_CALL, _ADVICE, _TEXT], "/0/request/tools/-": _TOOL})],
    claim=_CLAIM,
    wires=("messages",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """A request whose history has blocks of the advisor tool declares that tool.

    The server reads these blocks with the tool; a client that leaves the tool out of a later request, such as one of a
    sub-agent, has the whole session rejected. To fix it, keep the tool declared, or drop both of its blocks.
    """
    tools = [each for _, each in objects(request.value.get("tools"))]
    if any([as_word(each.get("type")).startswith(_ADVISOR) or each.get("name") == _ADVISOR for each in tools]):
        return []
    return [Fault("expected the advisor tool beside its blocks in the history, got none", values={"field": "tools"})]
