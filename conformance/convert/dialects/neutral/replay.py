"""A context as it is sent to a model: signatures go back to the model that gave them, and to no other."""

from typing import Any, Final

from conformance.convert.dialects import Converted, Losses

_SIGNATURES: Final = ("textSignature", "thinkingSignature", "thoughtSignature")


def replayed(context: dict[str, Any], model: str, provider: str = "", protocol: str = "") -> Converted:
    """Return a context for a model; what another model signed loses its signatures, what is signature alone goes.

    `provider` and `protocol` are compared where they are given. A message that names no model is another's.
    """
    target = {"Model": model} | {key: value for key, value in (("Provider", provider), ("Protocol", protocol)) if value}
    losses = Losses()
    messages = []
    for position, message in enumerate(context["Messages"] or ()):
        is_other = message["type"] == "AssistantMessage" and any(message.get(key) != target[key] for key in target)
        messages.append(_unsigned(message, position, losses) if is_other else message)
    return losses.converted({**context, "Messages": messages})


def _unsigned(message: dict[str, Any], position: int, losses: Losses) -> dict[str, Any]:
    blocks = []
    for number, block in enumerate(message["Content"] or ()):
        place = ("Messages", position, "Content", number)
        if block.get("redacted") or (block.get("thinkingSignature") and not block["thinking"]):
            losses.add(place, "another model's reasoning, of which only the signature is there")
            continue
        for key in _SIGNATURES:
            if block.get(key):
                losses.add((*place, key), "another model cannot verify it")
        blocks.append({key: value for key, value in block.items() if key not in _SIGNATURES})
    return {**message, "Content": blocks}
