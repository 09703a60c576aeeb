"""Judging tool arguments by the tool's parameters: a schema that is somebody else's, and may be anything."""

import itertools
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

import orjson

from conformance.documents.pointer import render
from conformance.schemas._faults import SchemaError, word

try:
    import jsonschema_rs
except ImportError:
    _QUICK = False
else:
    _QUICK = True

MOST_MESSAGES: Final = 20
"""How many faults of one call's arguments are reported."""

MOST_REFERENCES: Final = 10_000
"""How many references are followed for one call's arguments; what lies beyond is not reported."""

_QUICK_REFERENCES: Final = 40
"""So many references cannot make the quick engine branch more than a few million times, however they are arranged."""


def obviously_right(parameters: Any, arguments: Any) -> bool:
    """Say whether jsonschema-rs passes the arguments, which is so for nearly all and spares importing jsonschema."""
    try:
        passes = _quick(orjson.dumps(parameters))
        return passes is not None and passes(arguments)
    except (TypeError, ValueError):
        return False


def judge(parameters: Any, arguments: Any) -> tuple[str, ...]:
    """Return what jsonschema finds wrong with the arguments, in words, at most `MOST_MESSAGES`."""
    return tuple(
        f"at {render(error.place)}: {error.message}" if error.place else error.message
        for error in itertools.islice(_errors(parameters, arguments), MOST_MESSAGES)
    )


@lru_cache(maxsize=256)
def _quick(parameters: bytes) -> Callable[[Any], bool] | None:
    if not _QUICK or parameters.count(b'ef":') > _QUICK_REFERENCES:
        return None
    try:
        schema = orjson.loads(parameters)
        return jsonschema_rs.validator_for(schema, retriever=_refuse, validate_formats=False).is_valid
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _refuse(uri: str) -> Any:
    raise LookupError(uri)


def _errors(parameters: Any, arguments: Any) -> Iterator[SchemaError]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError as BrokenSchema
    from jsonschema.validators import validator_for
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import EMPTY_REGISTRY

    from conformance.schemas._slow import told

    if isinstance(parameters, dict) and not isinstance(parameters.get("$schema", ""), str):
        return
    try:
        dialect: Any = validator_for(parameters, default=Draft202012Validator)
        dialect.check_schema(parameters, format_checker=None)
        engine = _lenient(dialect)(parameters, registry=EMPTY_REGISTRY)
        for error in engine.iter_errors(arguments):
            yield from map(word, told(error, arguments))
    except (BrokenSchema, Unresolvable, RecursionError, re.error, TypeError, ValueError):
        # The schema is broken in a way that its metaschema does not see.
        return


def _lenient(dialect: Any) -> Any:
    """Return a dialect that follows a bounded number of references and passes over what it cannot judge."""
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend
    from referencing.exceptions import Unresolvable

    steps = itertools.count(1)

    def reference(keyword: str) -> Callable[..., Iterator[ValidationError]]:
        def follow(engine: Any, target: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
            if next(steps) > MOST_REFERENCES:
                raise RecursionError(target)
            try:
                yield from dialect.VALIDATORS[keyword](engine, target, value, schema) or ()
            except Unresolvable:
                return

        return follow

    def pattern(_engine: Any, text: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and not _matches(text, value):
            yield ValidationError("no match")

    references = {name: reference(name) for name in ("$ref", "$dynamicRef") if name in dialect.VALIDATORS}
    return extend(dialect, {**references, "pattern": pattern})  # type: ignore[no-untyped-call]


def _matches(pattern: str, value: str) -> bool:
    """Say whether a text matches; where that cannot be told in time proportional to its length, it does."""
    if not _QUICK:
        return re.search(pattern, value) is not None
    try:
        linear = jsonschema_rs.RegexOptions()
        return jsonschema_rs.is_valid({"pattern": pattern}, value, pattern_options=linear)
    except (jsonschema_rs.ValidationError, ValueError):
        return True
