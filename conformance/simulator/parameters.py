"""Parameters of a request that shape its reply: the number of choices, where it ends, its format and log probabilities.

A parameter that the provider is claimed to ignore has no effect. `seed` needs no code: replies are reproducible.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance import profiles

MAX_CHOICES: Final = 128
"""The largest `n`, as in OpenAI's reference."""

MAX_ALTERNATIVES: Final = 20
"""The largest `top_logprobs`, as in OpenAI's reference."""

_BOUNDS: Final = ("max_completion_tokens", "max_tokens")
_NO_EFFECT: Final = ("accepted", "ignored")
_FORMATS: Final = ("json_object", "json_schema")


class Parameters(NamedTuple):
    """What a request asks of its reply.

    `limit`: the maximum number of tokens, None for no limit. `stops`: texts before which the answer ends. `schema`:
    the JSON Schema of the answer, None if it may be any text. `alternatives`: the number of alternatives beside each
    token's log probability, None if no log probabilities are wanted.
    """

    choices: int = 1
    limit: int | None = None
    stops: tuple[str, ...] = ()
    schema: Mapping[str, Any] | bool | None = None
    alternatives: int | None = None


NO_PARAMETERS: Final = Parameters()


class _InvalidParameter(Exception):
    """A parameter has a value that the simulator cannot honour; the message says why."""


def read_parameters(body: Mapping[str, Any], claims: Mapping[str, Any]) -> Parameters | str:
    """Return the parameters that a provider obeys, or what is wrong with them."""
    ignored = _ignored(body, claims)
    given = {name: value for name, value in body.items() if value is not None and name not in ignored}
    try:
        return Parameters(_number(given), _limit(given), _stops(given), _schema(given), _alternatives(given))
    except _InvalidParameter as invalid:
        return str(invalid)


def _ignored(body: Mapping[str, Any], claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the parameters that have no effect at this provider."""
    thinking = _listed(claims, "thinking.ignored-parameters")
    if thinking and profiles.thinks(claims, body) is not True:
        thinking = ()
    read = _listed(claims, "request.max-tokens-fields") or _BOUNDS
    refused = _listed(claims, "request.unsupported-fields")
    return frozenset(
        {
            *_listed(claims, "request.ignored-fields"),
            *thinking,
            *(name for name in _BOUNDS if name not in read),
            *(entry["field"] for entry in refused if entry["refusal"] in _NO_EFFECT),
        }
    )


def _listed(claims: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = claims.get(name)
    return value if isinstance(value, list) else ()


def _number(given: Mapping[str, Any]) -> int:
    number = _integer(given, "n", 1, MAX_CHOICES)
    return 1 if number is None else number


def _limit(given: Mapping[str, Any]) -> int | None:
    limits = [_integer(given, name, 1, None) for name in _BOUNDS]
    return min([limit for limit in limits if limit is not None], default=None)


def _integer(given: Mapping[str, Any], name: str, least: int, most: int | None) -> int | None:
    """Return an integer parameter, None if it is absent."""
    if name not in given:
        return None
    value = given[name]
    is_whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1
    if not is_whole or value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise _InvalidParameter(f"expected {name} to be an integer {bounds}, got {value!r:.40}")
    return int(value)


def _stops(given: Mapping[str, Any]) -> tuple[str, ...]:
    value = given.get("stop", ())
    stops = (value,) if isinstance(value, str) else value
    if not isinstance(stops, (list, tuple)) or not all(isinstance(stop, str) for stop in stops):
        raise _InvalidParameter(f"expected stop to be a string or a list of strings, got {value!r:.40}")
    return tuple([stop for stop in stops if stop])


def _schema(given: Mapping[str, Any]) -> Mapping[str, Any] | bool | None:
    """Return the schema that the answer has to obey; that of any object for `json_object`."""
    wanted = given.get("response_format", {"type": "text"})
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind == "text":
        return None
    if kind not in _FORMATS:
        raise _InvalidParameter(f"expected response_format of type text, {' or '.join(_FORMATS)}, got {wanted!r:.60}")
    if kind == "json_object":
        return {"type": "object"}
    described = wanted.get("json_schema")
    schema = described.get("schema", {"type": "object"}) if isinstance(described, dict) else None
    if not isinstance(schema, (dict, bool)):
        raise _InvalidParameter(f"expected response_format.json_schema.schema to be a JSON Schema, got {schema!r:.60}")
    return schema


def _alternatives(given: Mapping[str, Any]) -> int | None:
    wanted = given.get("logprobs", False)
    if not isinstance(wanted, bool):
        raise _InvalidParameter(f"expected logprobs to be true or false, got {wanted!r:.40}")
    number = _integer(given, "top_logprobs", 0, MAX_ALTERNATIVES)
    if number and not wanted:
        raise _InvalidParameter("expected logprobs: true beside top_logprobs, got none")
    return (number or 0) if wanted else None
