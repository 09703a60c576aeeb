"""The registry over `schemas/`: each JSON Schema by its name, compiled when it is first asked for.

jsonschema-rs judges at run time. jsonschema is the fallback where no wheel of it exists; it also judges schemas
themselves and words what is wrong with tool arguments. It is imported only where it is needed, since it costs more
than all the rest of a start. Both find the same errors at the same places.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from conformance.errors import InvalidDocument
from conformance.schemas._faults import Fault, SchemaError, at, worded
from conformance.schemas._files import BASE, entry, fetch

try:
    import jsonschema_rs
except ImportError:
    _QUICK = False
else:
    _QUICK = True

__all__ = ["BASE", "SchemaError", "Validator", "argument_errors", "check_schema", "slow_validator", "validator"]


class Validator(NamedTuple):
    """A compiled schema: `is_valid` says whether a value obeys it, `find` looks up why not."""

    is_valid: Callable[[Any], bool]
    find: Callable[[Any], Iterable[Fault]]

    def errors(self, value: Any) -> tuple[SchemaError, ...]:
        """Return every fault once, ordered by place."""
        return worded(self.find(value))


@cache
def validator(name: str) -> Validator:
    """Return the validator of a schema, such as `canonical/request` or `canonical/message#/$defs/tool`.

    Raises UnknownName where there is no such file, InvalidDocument where it is no schema.
    """
    return _quick_validator(name) if _QUICK else slow_validator(name)


@cache
def slow_validator(name: str) -> Validator:
    """Return the same schema judged by jsonschema: the fallback, and the other side of the differential test."""
    from conformance.schemas._slow import compiled, faults

    engine = compiled(entry(name))
    return Validator(engine.is_valid, lambda value: faults(engine, value))


def check_schema(value: Any) -> tuple[SchemaError, ...]:
    """Return what makes a value no JSON Schema by the metaschema of 2020-12.

    What is nested deeper than the interpreter's stack is judged as far as that goes.
    """
    from conformance.schemas._slow import faults, metaschema

    return worded(faults(metaschema(), value))


def argument_errors(parameters: Any, arguments: Any) -> tuple[str, ...]:
    """Return what is wrong with parsed tool arguments by the tool's parameters; see `schemas._arguments` for bounds.

    What cannot be judged is not reported: a broken schema, a reference that leads nowhere or out of the schema.
    Nothing is ever fetched.
    """
    from conformance.schemas._arguments import judge, obviously_right

    return () if obviously_right(parameters, arguments) else judge(parameters, arguments)


def _quick_validator(name: str) -> Validator:
    try:
        engine = jsonschema_rs.Draft202012Validator(entry(name), retriever=fetch)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise InvalidDocument(error.message, f"schemas/{name}") from error
    raw = engine.is_valid

    # The engine raises ValueError for lone surrogates and for nesting beyond 255; jsonschema takes both.
    def is_valid(value: Any) -> bool:
        try:
            return raw(value)
        except ValueError:
            return slow_validator(name).is_valid(value)

    def find(value: Any) -> Iterable[Fault]:
        try:
            return [_fault(error, value) for error in engine.iter_errors(value)]
        except ValueError:
            return slow_validator(name).find(value)

    return Validator(is_valid, find)


def _fault(error: "jsonschema_rs.ValidationError", value: Any) -> Fault:
    kind = error.kind
    place = tuple(error.instance_path)
    demand: Any = next(iter(kind.as_dict().values()), None)
    if kind.name == "propertyNames":
        demand = [demand.instance]
    return Fault(place, kind.name, demand, at(value, place))
