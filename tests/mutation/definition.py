"""What a mutation is: a small named fault that does not come from the rule that has to find it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.wire.native import CHAT
from tests.mutation.bases import Record

Find: TypeAlias = Callable[[Sequence[Record]], Iterable[Any]]
"""Finds the targets of a mutation in a copy of a base, the same in the same order each time."""

Apply: TypeAlias = Callable[[Any], object]
"""Applies the mutation to one target. A conversation that stays as it was is not a mutant."""

SURVIVED: Final = "survived"

REJECTED: Final[Mapping[str, Any]] = {"status": 400, "message": "No."}
"""The claim that a provider rejects something."""


class Allowed(NamedTuple):
    """A result that the mutation does not expect, and why it is right all the same.

    `what`: a rule's id, or `survived`. `why`: a sentence. `on`: a glob over the names of the bases.
    """

    what: str
    why: str
    on: str = "*"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault, its targets, and the rules that have to find it.

    `expects`: one of these rules has to find it; if there is none, the change is harmless. `related`: rules that may
    find it as well, or in their place if the others have nothing to check, since they are about its consequences.
    `sessions`: it is applied to the last request of sessions rather than to single exchanges. `claims`: the claims of
    the provider. `prepare` changes a base first, so that it is good at such a provider. `wire`: that of the bases,
    which have the bodies of that wire.
    """

    name: str
    title: str
    find: Find
    apply: Apply
    expects: tuple[str, ...]
    related: tuple[str, ...] = ()
    sessions: bool = False
    claims: Mapping[str, Any] = field(default_factory=dict)
    allows: tuple[Allowed, ...] = ()
    prepare: Callable[[Sequence[Record]], None] | None = None
    wire: str = CHAT

    @property
    def harmless(self) -> bool:
        """Return whether this is not a fault, but a change that the canonical wire permits."""
        return not self.expects


def mutation(
    find: Find,
    *expects: str,
    related: Sequence[str] = (),
    sessions: bool = False,
    claims: Mapping[str, Any] | None = None,
    allows: Sequence[Allowed] = (),
    prepare: Callable[[Sequence[Record]], None] | None = None,
    wire: str = CHAT,
) -> Callable[[Apply], Mutation]:
    """Make a function that changes a target a mutation; its name is the function's, its title the docstring."""

    def declare(apply: Apply) -> Mutation:
        name = getattr(apply, "__name__", "").strip("_").replace("_", "-")
        title = (apply.__doc__ or "").strip()
        return Mutation(
            name, title, find, apply, expects, tuple(related), sessions, claims or {}, tuple(allows), prepare, wire
        )

    return declare
