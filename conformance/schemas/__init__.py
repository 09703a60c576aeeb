"""The JSON Schemas in `schemas/`, by name; each is compiled when it is first used.

jsonschema-rs validates at run time. jsonschema replaces it on platforms without a wheel of it; it also checks schemas
themselves and words the errors in tool arguments. It is imported only where it is needed, because importing it takes
longer than the rest of the start. Both find the same errors at the same places.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from conformance.errors import InvalidDocument
from conformance.schemas._errors import SchemaError, SchemaViolation, errors, value_at
from conformance.schemas._files import BASE, entry, referenced

try:
    import jsonschema_rs
except ImportError:
    _QUICK = False
else:
    _QUICK = True

__all__ = ["BASE", "SchemaError", "Validator", "argument_errors", "check_schema", "slow_validator", "validator"]


class Validator(NamedTuple):
    """A compiled schema: `is_valid` is quick, `find` looks up why a value is not valid."""

    is_valid: Callable[[Any], bool]
    find: Callable[[Any], Iterable[SchemaViolation]]

    def errors(self, value: Any) -> tuple[SchemaError, ...]:
        """Return every error once, ordered by place."""
        return errors(self.find(value))


@cache
def validator(name: str) -> Validator:
    """Return the validator of a schema, such as `canonical/request` or `canonical/message#/$defs/tool`.

    Raises UnknownName if there is no such file, InvalidDocument if it is not a schema.
    """
    return _quick_validator(name) if _QUICK else slow_validator(name)


@cache
def slow_validator(name: str) -> Validator:
    """Return the validator of the same schema by jsonschema: the fallback, and the reference in differential tests."""
    # Imported here, as below, because jsonschema is slow to import and rarely needed.
    from conformance.schemas._slow import compiled, violations

    engine = compiled(entry(name))
    return Validator(engine.is_valid, lambda value: violations(engine, value))


def check_schema(value: Any) -> tuple[SchemaError, ...]:
    """Return why a value is not a JSON Schema of draft 2020-12.

    A value that is nested deeper than the interpreter's stack is checked as far as the stack reaches.
    """
    from conformance.schemas._slow import metaschema, violations

    return errors(violations(metaschema(), value))


def argument_errors(parameters: Any, arguments: Any) -> tuple[str, ...]:
    """Return how parsed tool arguments break the tool's parameters; `schemas._arguments` has the limits.

    What cannot be checked is not reported: a broken schema, a reference that does not resolve inside the schema.
    Nothing is ever fetched.
    """
    is_clearly_valid, describe = _of_arguments()
    return () if is_clearly_valid(parameters, arguments) else describe(parameters, arguments)


@cache
def _of_arguments() -> tuple[Callable[[Any, Any], bool], Callable[[Any, Any], tuple[str, ...]]]:
    # Imported here because most files that are checked have no arguments.
    from conformance.schemas._arguments import describe, is_clearly_valid

    return is_clearly_valid, describe


def _quick_validator(name: str) -> Validator:
    schema = entry(name)
    # Not a function of Python: the engine would take Ctrl-C inside one for a reference that cannot be resolved.
    retrieve = referenced(schema).__getitem__
    try:
        engine = jsonschema_rs.Draft202012Validator(schema, retriever=retrieve)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise InvalidDocument(error.message, f"schemas/{name}") from error
    raw = engine.is_valid

    # The engine raises ValueError for lone surrogates and for nesting beyond 255; jsonschema accepts both.
    def is_valid(value: Any) -> bool:
        try:
            return raw(value)
        except ValueError:
            return slow_validator(name).is_valid(value)

    def find(value: Any) -> Iterable[SchemaViolation]:
        try:
            return [_violation(error, value) for error in engine.iter_errors(value)]
        except ValueError:
            return slow_validator(name).find(value)

    return Validator(is_valid, find)


def _violation(error: "jsonschema_rs.ValidationError", value: Any) -> SchemaViolation:
    kind = error.kind
    place = tuple(error.instance_path)
    expected: Any = next(iter(kind.as_dict().values()), None)
    if kind.name == "propertyNames":
        expected = [expected.instance]
    return SchemaViolation(place, kind.name, expected, value_at(value, place))
