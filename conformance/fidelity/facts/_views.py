"""Where facts look in a passage, and what several of them ask."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.fidelity import PassageLoss
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind, Spoken, holds
from conformance.wires import as_sent, by_name

_UNSET: Final = {"type": "text"}
"""The form of a reply that is asked for as none."""


def kept(*kinds: Kind) -> Callable[[Passage], Sequence[Became]]:
    """Return a view of the pieces of some kinds, with what they became; none where the reply is refused or cut."""

    def select(passage: Passage) -> Sequence[Became]:
        return [] if not is_whole(passage) else passage.became(*kinds)

    return select


def is_whole(passage: Passage) -> bool:
    """Return whether both bodies say all that they have to say: neither is an error, nor cut."""
    for side in (passage.before, passage.after):
        if side.is_reply and (side.is_refused or side.is_cut or side.error_in_stream):
            return False
    return True


def whole(passage: Passage) -> Sequence[Passage]:
    """Return the passage as its only element, if it is whole."""
    return [passage] if is_whole(passage) else []


def every(passage: Passage) -> Sequence[Passage]:
    """Return the passage as its only element."""
    return [passage]


def setting(name: str) -> Callable[[Passage], Sequence[tuple[Any, str]]]:
    """Return a view of a setting of requests; none where the wire after has no place for it."""

    def select(passage: Passage) -> Sequence[tuple[Any, str]]:
        found = passage.before.setting(name)
        can_keep = bool(by_name(passage.after.exchange.protocol).settings(name))
        return [found] if found is not None and can_keep and found[0] != _UNSET else []

    return select


def changed(name: str, given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """Yield that a setting is lost, or another one."""
    value, pointer = given
    found = passage.after.setting(name)
    if found is None or _listed(found[0]) != _listed(value):
        text = f"expected {name} {value!r:.60}, got {'none' if found is None else f'{found[0]!r:.60}'}"
        yield PassageLoss(text, passage.pointer_before(pointer), passage.at_setting_after(name))


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def can_hold(passage: Passage, read: Callable[[Mapping[str, Any]], Any], wanted: Any) -> bool:
    """Return whether the wire after can hold a value, by what the reference converter makes of the request."""
    wire = passage.after.exchange.protocol
    made = as_sent({**passage.before.body, "stream": False}, wire)
    return bool(read(Spoken(made, "request").body) == wanted)


def is_given(signature: str, passage: Passage) -> bool:
    """Return whether a reply of the session has a signature; no provider takes that of another."""
    replies = [Spoken(each, "response").raw for pair in passage.session for each in (pair.front, *pair.backs)]
    return any([holds(raw, signature) for raw in replies])


def seen(name: str) -> Callable[[Passage], Sequence[bool]]:
    """Return a view of what was seen of an exchange besides its bodies."""

    def select(passage: Passage) -> Sequence[bool]:
        value = passage.pair.seen.get(name) if passage.is_reply else None
        return [] if value is None else [value]

    return select
