"""Calls and outputs of tools that are not functions: which item answers which.

A client runs these calls itself, like functions, but their items have kinds of their own: `tool_search_call` and
`tool_search_output`, `computer_call` and `computer_call_output`. Chat completions has no counterpart for them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.wire.keys import key_of
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


def calling_keys(kind: str, call: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    """Return what the output of an item is found by, with its kind; an item that calls nothing has it in vain."""
    keys = [(kind, key_of(pairing_id(kind, call)))]
    # Agents name the call of a local shell by its `id`, too.
    return [*keys, (kind, key_of(call["id"]))] if kind == "local_shell_call" and call.get("id") is not None else keys


def answering_keys(kind: str, output: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    """Return what the call of an output is found by, with its kind, which is empty for any; none if it answers none.

    Agents answer the call of a shell as if it were a function, too, which the server accepts.
    """
    answered = "" if kind in OUTPUTS else answered_kind(kind)
    return [(answered, key_of(pairing_id(kind, output)))] if answered or kind in OUTPUTS else []
