"""Judging by jsonschema, which is complete and slow; what it finds is told as jsonschema-rs tells it."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator as Engine
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from conformance.schemas._faults import Fault, at
from conformance.schemas._files import fetch


def compiled(schema: Mapping[str, Any]) -> Engine:
    """Return a validator of a schema of ours; references are looked up under `schemas/` only."""

    def retrieve(uri: str) -> Resource[Any]:
        return DRAFT202012.create_resource(fetch(uri))

    registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]
    return Draft202012Validator(schema, registry=registry)


@cache
def metaschema() -> Engine:
    """Return the validator of schemas."""
    return Draft202012Validator(Draft202012Validator.META_SCHEMA)


def faults(engine: Engine, value: Any) -> list[Fault]:
    """Return what is wrong with a value, as far as the interpreter's stack goes."""
    found: list[Fault] = []
    try:
        for error in engine.iter_errors(value):
            found += told(error, value)
    except RecursionError:
        pass
    return found


def told(error: ValidationError, root: Any) -> Iterator[Fault]:
    """Yield what an error in a document stands for; a missing key is a fault of its own."""
    place: tuple[str | int, ...] = tuple(error.absolute_path)
    keyword = str(error.validator or "falseSchema")
    demand: Any = error.validator_value
    instance: Any = error.instance
    if at(root, place) is not instance:
        # Only a key is judged as an instance without being one.
        yield Fault(place, "propertyNames", [instance], instance)
    elif keyword == "required":
        yield from (Fault(place, keyword, key, instance) for key in demand if key not in instance)
    elif keyword == "dependentRequired":
        needed = {key for cause, keys in demand.items() if cause in instance for key in keys}
        yield from (Fault(place, "required", key, instance) for key in needed if key not in instance)
    elif keyword == "additionalProperties":
        yield Fault(place, keyword, _excess(error.schema, instance), instance)
    else:
        yield Fault(place, keyword, demand, instance)


def _excess(schema: Any, instance: Mapping[str, Any]) -> list[str]:
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [key for key in instance if key not in known and not any(re.search(each, key) for each in patterns)]
