"""Checks of tool arguments against the tool's parameters: a schema of somebody else, which may be anything."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import orjson

from conformance.caches import remembered
from conformance.documents.pointer import render
from conformance.linear import MAX_KEPT, MAX_PATTERN, compiled_size, occurs
from conformance.schemas._errors import SchemaError
from conformance.schemas._errors import error as as_error

try:
    import jsonschema_rs
except ImportError:
    _QUICK = False
else:
    _QUICK = True

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_MESSAGES: Final = 20
"""How many errors in one call's arguments are reported."""

MAX_REFERENCES: Final = 10_000
"""How many references are followed for one call's arguments; what lies beyond is not reported."""

_QUICK_REFERENCES: Final = 40
"""With so few references the quick validator branches at most a few million times, however they are arranged."""
_NOTHING: Final[Mapping[str, Any]] = {}
"""What is fetched: nothing. A function of Python that refuses would also lose the Ctrl-C that comes inside it."""


_PATTERN: Final = re.compile(rb'"pattern":"((?:[^"\\]|\\.)*)"')
_PER_BYTE: Final = 32
"""Bytes of a compiled schema for each one of its text."""


def is_clearly_valid(parameters: Any, arguments: Any) -> bool:
    """Return whether jsonschema-rs passes the arguments; nearly all pass, which avoids importing jsonschema."""
    try:
        passes = _quick(orjson.dumps(parameters))
        return passes is not None and passes(arguments)
    except (TypeError, ValueError):
        return False


def describe(parameters: Any, arguments: Any) -> tuple[str, ...]:
    """Return the errors that jsonschema finds in the arguments, in words, at most `MAX_MESSAGES`."""
    return tuple(
        f"at {render(error.place)}: {error.message}" if error.place else error.message
        for error in itertools.islice(_errors(parameters, arguments), MAX_MESSAGES)
    )


def _size(parameters: bytes) -> int:
    patterns = [compiled_size(found.decode()) for found in _PATTERN.findall(parameters)]
    return _PER_BYTE * len(parameters) + sum(patterns)


@remembered(MAX_KEPT, lambda _: 0, _size)
def _quick(parameters: bytes) -> Callable[[Any], bool] | None:
    # Both `$ref` and `$dynamicRef` end so, and orjson writes no space before the colon.
    if not _QUICK or parameters.count(b'ef":') > _QUICK_REFERENCES:
        return None
    if _size(parameters) > MAX_KEPT:
        # The slow validator compiles one pattern at a time.
        return None
    try:
        schema = orjson.loads(parameters)
        options = jsonschema_rs.FancyRegexOptions(size_limit=MAX_PATTERN)
        return jsonschema_rs.validator_for(
            schema, retriever=_NOTHING.__getitem__, validate_formats=False, pattern_options=options
        ).is_valid
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _errors(parameters: Any, arguments: Any) -> Iterator[SchemaError]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError as BrokenSchema
    from jsonschema.validators import validator_for
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import EMPTY_REGISTRY

    from conformance.schemas._slow import flatten

    if isinstance(parameters, dict) and not isinstance(parameters.get("$schema", ""), str):
        return
    try:
        dialect: Any = validator_for(parameters, default=Draft202012Validator)
        dialect.check_schema(parameters, format_checker=None)
        engine = _lenient(dialect)(parameters, registry=EMPTY_REGISTRY)
        for error in engine.iter_errors(arguments):
            yield from map(as_error, flatten(error, arguments))
    except (BrokenSchema, Unresolvable, RecursionError, re.error, TypeError, ValueError):
        # The schema is broken in a way that its metaschema does not see.
        return


def _lenient(dialect: Any) -> Any:
    """Return a dialect that follows a bounded number of references, and skips what it cannot check in linear time."""
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend
    from referencing.exceptions import Unresolvable

    steps = itertools.count(1)

    def reference(keyword: str) -> Callable[..., Iterator[ValidationError]]:
        def follow(engine: Any, target: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
            if next(steps) > MAX_REFERENCES:
                raise RecursionError(target)
            try:
                yield from dialect.VALIDATORS[keyword](engine, target, value, schema) or ()
            except Unresolvable:
                return

        return follow

    references = {name: reference(name) for name in ("$ref", "$dynamicRef") if name in dialect.VALIDATORS}
    linear = {"pattern": _pattern, "patternProperties": _named_by_patterns, "additionalProperties": _further}
    # jsonschema finds what is unevaluated with Python's engine.
    skipped = dict.fromkeys({"unevaluatedProperties"} & dialect.VALIDATORS.keys(), lambda *_: ())
    return extend(dialect, {**references, **linear, **skipped})  # type: ignore[no-untyped-call]


def _pattern(_engine: Any, text: str, value: Any, _schema: Any) -> "Iterator[ValidationError]":
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not occurs(text, value):
        yield ValidationError("no match")


def _named_by_patterns(engine: Any, patterns: Any, value: Any, _schema: Any) -> "Iterator[ValidationError]":
    for key in value if isinstance(value, dict) else ():
        for text in patterns:
            if occurs(text, key):
                yield from engine.descend(value[key], patterns[text], path=key, schema_path=text)


def _further(engine: Any, rest: Any, value: Any, schema: Any) -> "Iterator[ValidationError]":
    """Yield what is wrong with the keys that the properties of a schema do not name."""
    from jsonschema.exceptions import ValidationError

    from conformance.schemas._slow import excess

    keys = excess(schema, value) if isinstance(value, dict) else []
    if isinstance(rest, dict):
        for key in keys:
            yield from engine.descend(value[key], rest, path=key)
    elif rest is False and keys:
        yield ValidationError("further keys")
