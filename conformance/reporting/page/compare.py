"""What the page needs to compare any two providers: which values of a claim ask a client for which change.

The script looks up what `conformance.profiles.difference` says of each pair of values; nothing is decided twice.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.profiles import vocabulary
from conformance.profiles.difference import Consequence, kind_of
from conformance.reporting.comparison import ORDER, change_of, harm_of, rank
from conformance.reporting.matrix.table import ADAPTER, CLAIMS, Table
from conformance.reporting.page.cells import Numbers
from conformance.reporting.text import printable

_NONE: Final = "-"
"""Stands in the data for two values that ask for no change."""


def compare_data(table: Table) -> Mapping[str, Any]:
    """Return what comparisons need, for claims on which providers differ, the first to be shown first.

    `kinds` are the headings. `claims` has for each claim its row, a text for each value with a digit for each other
    value, how many SDKs broke and of how many, and the parts of requests: what has to change, and for each value what
    to send (one text if it is the same for all). `values` has for each subject the numbers of its values.
    """
    rows = {row.name: number for number, row in enumerate(table.rows)}
    held = {number: _claims(table, number) for number, each in enumerate(table.subjects) if each.kind != ADAPTER}
    claims, columns = [], []
    for name in sorted(vocabulary(), key=rank):
        values, numbers = _values(name, held)
        kinds = ["".join([_digit(kind_of(name, one, other)) for other in values]) for one in values]
        if f"{CLAIMS}/{name}" in rows and any([set(each) != {_NONE} for each in kinds]):
            changes = [change_of(name, each) for each in values]
            send = [printable(each.send) for each in changes]
            harm = harm_of(name)
            same = send[0] if len(set(send)) == 1 else send
            claims.append([rows[f"{CLAIMS}/{name}"], kinds, harm.broken, harm.measured, changes[0].instead_of, same])
            columns.append(numbers)
    values_of = (
        {str(subject): list(each) for subject, each in zip(held, zip(*columns, strict=True), strict=True)}
        if columns
        else {}
    )
    return {"compare": {"kinds": [each.value for each in ORDER], "claims": claims, "values": values_of}}


def _claims(table: Table, number: int) -> Mapping[str, Any]:
    subject, inputs = table.subjects[number], table.inputs
    profile = inputs.own_profiles.get(subject.provider) if subject.mine else None
    return (profile or inputs.profiles[subject.provider]).at(subject.model)


def _values(name: str, held: Mapping[int, Mapping[str, Any]]) -> tuple[Sequence[Any], Sequence[int]]:
    """Return the values of a claim, each once, and the number of that of each subject."""
    numbers, values, found = Numbers(), list[Any](), list[int]()
    for claims in held.values():
        value = claims.get(name)
        number = numbers(repr(value))
        if number == len(values):
            values.append(value)
        found.append(number)
    return values, found


def _digit(kind: Consequence | None) -> str:
    return _NONE if kind is None else str(ORDER.index(kind))
