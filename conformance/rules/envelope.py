"""The top-level keys of a reply or chunk that a provider is claimed to omit, to leave empty, or to fill otherwise."""

from typing import Any, Final

from conformance.results import Harm
from conformance.rules.context import Context, Fault, as_words
from conformance.schemas import SchemaError
from conformance.wire.elements import Body

OMITTED: Final = "reply.omitted-fields"
"""The claim about all of these keys but `object`, which has claims of its own."""

_FORM: Final = ("id", "object", "created", "model")
"""The keys that no agent needs to go on; `choices` and `usage` hold the reply."""


def faults(body: Body, context: Context, object_claim: str) -> list[Fault]:
    """Return the schema errors of a reply or chunk as faults, each with the claim that describes it.

    `object_claim`: the name of the claim about `object` there.
    """
    return [_fault(error, body, context, object_claim) for error in context.shape_errors(body.place)]


def _fault(error: SchemaError, body: Body, context: Context, object_claim: str) -> Fault:
    inside = error.place[len(body.place) :]
    key = error.missing if not inside else str(inside[0]) if len(inside) == 1 else ""
    return Fault(
        error.message,
        place=error.place,
        known=_claim(key, body.value.get(key, "absent"), context, object_claim) if key in _FORM else "",
        harm=Harm.FORM if key in _FORM else None,
    )


def _claim(key: str, value: Any, context: Context, object_claim: str) -> str:
    """Return the name of the claim that describes the value of a key; empty if there is none."""
    if key == "object":
        return object_claim if ("absent" if value is None else value) in as_words(context.claim(object_claim)) else ""
    if key == "id" and value in ("absent", None) and context.claim("stream.chunk-id") == "absent":
        return "stream.chunk-id"
    is_omitted = value in ("absent", "", None) and key in as_words(context.claim(OMITTED))
    return OMITTED if is_omitted else ""
