"""Signatures of thoughts beside calls: kept where they mean something, stood in for where they are demanded."""

from typing import Any, Final

from conformance.convert.egress.notes import Demands, Draft

_KEY: Final = "extra_content"
_FIELD: Final = "tool_calls/*/extra_content/google/thought_signature"


def signed(draft: Draft, demands: Demands) -> None:
    """Leave `extra_content` out where unknown keys are refused; put the claimed bypass where a signature is missing."""
    calls = draft.calls
    for claim in ("request.unknown-call-field", "reasoning.input.extra_content"):
        for position, call in enumerate(calls):
            if _KEY in call and demands.bites(claim):
                del call[_KEY]
                demands.note((draft.origin, "tool_calls", position, _KEY), "left out: only its giver reads it", claim)
    bypass = demands.claims.get("signature.bypass")
    if not isinstance(bypass, str) or bypass == "unknown" or demands.claims.get("signature.field") != _FIELD:
        return
    wanted = calls[:1] if demands.claims.get("signature.on") == "first-call" else calls
    for position, call in enumerate(wanted):
        if demands.bites("signature.omitted") and not _signature(call):
            call[_KEY] = {"google": {"thought_signature": bypass}}
            words = "given the value that stands for a signature: the call was made elsewhere, and bears none"
            demands.note((draft.origin, "tool_calls", position, _KEY), words, "signature.bypass")


def _signature(call: dict[str, Any]) -> Any:
    extra = call.get(_KEY)
    google = extra.get("google") if isinstance(extra, dict) else None
    return google.get("thought_signature") if isinstance(google, dict) else None
