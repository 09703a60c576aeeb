"""Calls and outputs of tools that are not functions: which item answers which.

A client runs these calls itself, like functions, but their items have kinds of their own: `tool_search_call` and
`tool_search_output`, `computer_call` and `computer_call_output`. Chat completions has no counterpart for them.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.wires.responses.kinds import CALLS, OUTPUTS

_CALL: Final = "_call"
_OUTPUT: Final = "_output"
_APPROVALS: Final = {"mcp_approval_response": "mcp_approval_request"}
_ANSWERED: Final = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call")
"""The kinds of calls that a client answers; of all others, the server knows the result."""


def answered_kind(kind: str) -> str:
    """Return the kind of the calls that items of a kind answer; empty for all that answer none, and for functions."""
    if kind in _APPROVALS:
        return _APPROVALS[kind]
    if not kind.endswith(_OUTPUT) or kind in OUTPUTS:
        return ""
    if kind == "program_output":
        return "program"
    stem = kind.removesuffix(_OUTPUT)
    return stem if stem.endswith(_CALL) else stem + _CALL


def needs_output(kind: str, item: Mapping[str, Any]) -> bool:
    """Return whether the client has to answer a call that is not one of a function."""
    # The server runs a search of its own, whose call has no id for a client.
    is_ran_there = item.get("execution") == "server" or item.get("call_id") is None
    return kind in _ANSWERED and kind not in CALLS and not is_ran_there


def pairing_id(kind: str, item: Mapping[str, Any]) -> Any:
    """Return the id by which a call and its output are paired."""
    if kind in _APPROVALS:
        return item.get("approval_request_id")
    # The output of a local shell names its call by `id` in the SDKs, and by `call_id` in the guide.
    is_by_id = kind in _APPROVALS.values() or (kind == "local_shell_call_output" and "call_id" not in item)
    return item.get("id") if is_by_id else item.get("call_id")


def answers(kind: str, item: Mapping[str, Any], call_kind: str, call: Mapping[str, Any]) -> bool:
    """Return whether an item, of a kind, answers a call that is not one of a function.

    Agents answer the call of a shell as if it were a function, too, which the server accepts.
    """
    if answered_kind(kind) != call_kind and kind not in OUTPUTS:
        return False
    asked = (pairing_id(call_kind, call), call.get("id") if call_kind == "local_shell_call" else None)
    answered = pairing_id(kind, item)
    return answered == asked[0] or (answered is not None and answered == asked[1])
