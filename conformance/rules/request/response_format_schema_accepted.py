from typing import Any

from conformance.results import Level
from conformance.rules import BESIDE, Context, Fault, Source, example, rule
from conformance.wire.definitions import open_object
from conformance.wire.elements import Body
from conformance.wire.native import CHAT
from conformance.wire.views import requests

_FORMAT = "/0/request/response_format"
_OPEN = {"type": "object", "properties": {"city": {"type": "string"}}}
_REFUSED = {
    "request.format-schema": {"status": 400, "message": "Invalid schema for response_format '{name}': {reason}"}
}


def _strict(body: Any) -> dict[str, Any] | None:
    """Return the strict schema that a request's reply has to fit, with its name; None where it asks for none."""
    wanted = body.value.get("response_format")
    described = wanted.get("json_schema") if type(wanted) is dict and wanted.get("type") == "json_schema" else None
    return described if type(described) is dict and described.get("strict") is True else None


@rule(
    Level.MUST,
    on=requests,
    where=lambda body, _context: _strict(body) is not None,
    when=lambda claimed: claimed.rejects_or_damages("request.format-schema"),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/shared_params/response_format_json_schema.py",
        quote="The schema for the response format, described as a JSON Schema object",
    ),
    bad=[
        example(
            "error",
            {_FORMAT: {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": _OPEN}}},
            _REFUSED,
        ),
    ],
    good=[
        example(
            "error",
            {
                _FORMAT: {
                    "type": "json_schema",
                    "json_schema": {
                        "name": "place",
                        "strict": True,
                        "schema": {**_OPEN, "required": ["city"], "additionalProperties": False},
                    },
                }
            },
            _REFUSED,
        ),
    ],
    needs=("request.format-schema",),
    claim="request.format-schema",
    wires=(CHAT, "responses"),
    reach=BESIDE,
)
def judge(body: Body, _context: Context) -> list[Fault]:
    """The strict schema in `response_format` closes each object if the provider checks it.

    Other limits on JSON Schema differ too much between providers to be predicted. To fix it, set `additionalProperties:
    false` in each object of the schema, or omit `strict`.
    """
    described = _strict(body) or {}
    path = open_object(described.get("schema"))
    if path is None:
        return []
    reason = f"In context={path!r}, 'additionalProperties' is required to be supplied and to be false."
    message = "expected additionalProperties: false in each object of a strict schema, got none"
    values = {"name": described.get("name"), "reason": reason}
    return [Fault(message, at=("response_format", "json_schema", "schema", *path), values=values)]
