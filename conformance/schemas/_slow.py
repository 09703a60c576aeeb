"""Validation by jsonschema, which is complete and slow; its results have the form that jsonschema-rs gives."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator as Engine
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from conformance.linear import occurs
from conformance.schemas._errors import SchemaViolation, value_at
from conformance.schemas._files import fetch


def compiled(schema: Mapping[str, Any]) -> Engine:
    """Return a validator of one of the project's schemas; references resolve inside `schemas/` only."""

    def retrieve(uri: str) -> Resource[Any]:
        return DRAFT202012.create_resource(fetch(uri))

    registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]
    return Draft202012Validator(schema, registry=registry)


@cache
def metaschema() -> Engine:
    """Return the validator of schemas."""
    return Draft202012Validator(Draft202012Validator.META_SCHEMA)


def violations(engine: Engine, value: Any) -> list[SchemaViolation]:
    """Return what is wrong with a value, as far as the interpreter's stack reaches."""
    found: list[SchemaViolation] = []
    try:
        for error in engine.iter_errors(value):
            found += flatten(error, value)
    except RecursionError:
        pass
    return found


def flatten(error: ValidationError, root: Any) -> Iterator[SchemaViolation]:
    """Yield the violations that an error of jsonschema stands for: one for each missing key."""
    place: tuple[str | int, ...] = tuple(error.absolute_path)
    keyword = str(error.validator or "falseSchema")
    expected: Any = error.validator_value
    instance: Any = error.instance
    if value_at(root, place) is not instance:
        # Only a key is an instance that does not stand at its place.
        yield SchemaViolation(place, "propertyNames", [instance], instance)
    elif keyword == "required":
        yield from (SchemaViolation(place, keyword, key, instance) for key in expected if key not in instance)
    elif keyword == "dependentRequired":
        needed = {key for cause, keys in expected.items() if cause in instance for key in keys}
        yield from (SchemaViolation(place, "required", key, instance) for key in needed if key not in instance)
    elif keyword == "additionalProperties":
        yield SchemaViolation(place, keyword, excess(error.schema, instance), instance)
    else:
        yield SchemaViolation(place, keyword, expected, instance)


def excess(schema: Any, instance: Mapping[str, Any]) -> list[str]:
    """Return the keys that the properties of a schema do not name."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [key for key in instance if key not in known and not any(occurs(each, key) for each in patterns)]
