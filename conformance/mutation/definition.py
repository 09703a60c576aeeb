"""What a vice is: a small named fault that does not come from the rule which is to find it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from conformance.mutation.bases import Record

Find: TypeAlias = Callable[[Sequence[Record]], Iterable[Any]]
"""Finds the places in a copy of a host where a vice can be planted, the same in the same order each time."""

Plant: TypeAlias = Callable[[Any], object]
"""Plants the vice at one place. A conversation that is left as it was is no mutant."""

SURVIVED = "survived"


class Allowed(NamedTuple):
    """A result that is not what the vice expects, and why it is right all the same.

    `what`: a rule's id, or `survived`. `why`: a sentence. `on`: a glob over the names of the hosts.
    """

    what: str
    why: str
    on: str = "*"


@dataclass(frozen=True, slots=True)
class Vice:
    """A fault, where it can be planted, and who has to find it.

    `expects`: the rules of which one has to find it; without any it is no vice but a harmless change. `kin`: rules that
    may find it too, or in their place where the others have nothing to judge, since they speak of what follows from it.
    `sessions`: it is planted into the last request of sessions rather than into single exchanges. `claims`: what the
    provider is claimed to be like. `prepare` changes a host first, so that it is good at such a provider.
    """

    name: str
    title: str
    find: Find
    plant: Plant
    expects: tuple[str, ...]
    kin: tuple[str, ...] = ()
    sessions: bool = False
    claims: Mapping[str, Any] = field(default_factory=dict)
    allows: tuple[Allowed, ...] = ()
    prepare: Callable[[Sequence[Record]], None] | None = None

    @property
    def harmless(self) -> bool:
        """Say whether this is no vice, but a change that the canonical wire leaves open."""
        return not self.expects


def vice(
    find: Find,
    *expects: str,
    kin: Sequence[str] = (),
    sessions: bool = False,
    claims: Mapping[str, Any] | None = None,
    allows: Sequence[Allowed] = (),
    prepare: Callable[[Sequence[Record]], None] | None = None,
) -> Callable[[Plant], Vice]:
    """Make a function that plants into a vice; its name is the function's, its title the docstring."""

    def declare(plant: Plant) -> Vice:
        name = getattr(plant, "__name__", "").strip("_").replace("_", "-")
        title = (plant.__doc__ or "").strip()
        return Vice(name, title, find, plant, expects, tuple(kin), sessions, claims or {}, tuple(allows), prepare)

    return declare
