"""Attributes that are found when they are first asked for."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 — a decorator
    """Makes an attribute of a method: it is called once for each object, which keeps what it returns.

    Unlike `functools.cached_property` before Python 3.12, it takes no lock, which costs more than most attributes.
    """

    def __init__(self, find: Callable[[Any], T]) -> None:
        """Take the method."""
        self._find = find
        self.__doc__ = find.__doc__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> "lazy[T]": ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> T: ...
    def __get__(self, instance: Any, owner: Any = None) -> "lazy[T] | T":
        """Return what the method returns for an object; this object itself for its class."""
        if instance is None:
            return self
        found = instance.__dict__[self._find.__name__] = self._find(instance)
        return found
