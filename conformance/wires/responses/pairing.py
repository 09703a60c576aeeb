"""Calls and outputs of tools that are not functions: which item answers which.

A client runs these calls itself, like functions, but their items have kinds of their own: `tool_search_call` and
`tool_search_output`, `computer_call` and `computer_call_output`. Chat completions has no counterpart for them.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.wires.responses.blocks import CALLS, OUTPUTS

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
    return item.get("id") if kind in _APPROVALS.values() else item.get("call_id")
