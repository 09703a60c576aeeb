"""Models by hosts: for each family of models a row per host and way to serve it, with the core facts of its claims."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from conformance.profiles import Profile, naming
from conformance.profiles.model_names import key
from conformance.reporting.answers import Meaning, SubjectAnswer
from conformance.reporting.answers.changes import newest_day
from conformance.reporting.answers.families import ModelFamily, ServedModel, families, family_of
from conformance.reporting.answers.observed import of_models
from conformance.reporting.answers.providers import model_answers
from conformance.reporting.matrix.table import ADAPTER, CLAIMS, SOURCES, Table
from conformance.reporting.page.cells import CellDetails, Numbers
from conformance.reporting.page.facts import EVIDENCE, words_of
from conformance.reporting.text import printable
from conformance.results import Evidence

MEANINGS: Final = tuple(Meaning)
"""The meanings of answers, by their numbers in the data."""


class ModelRow(NamedTuple):
    """A host of a family: its profile, the names of the models to which the answers apply, and these."""

    profile: str
    models: tuple[str, ...]
    answers: tuple[SubjectAnswer, ...]


def rows_of(family: ModelFamily, profiles: Mapping[str, Profile], calibration: Mapping[str, Any]) -> Iterator[ModelRow]:
    """Yield the rows of a family: those of one host together, and models with the same answers in one row."""
    for served in family.served:
        yield from _rows(family, served, profiles[served.profile], calibration.get(served.profile, {}))


def _rows(
    family: ModelFamily, served: ServedModel, profile: Profile, calibration: Mapping[str, Any]
) -> Iterator[ModelRow]:
    found: dict[tuple[SubjectAnswer, ...], list[str]] = {}
    for model in served.models:
        answers = tuple(
            [_seen(each, family, profile, calibration, model) for each in model_answers(profile, calibration, model)]
        )
        found.setdefault(answers, []).append(model)
    for answers, models in found.items():
        yield ModelRow(served.profile, tuple(models), answers)


def _seen(
    answer: SubjectAnswer, family: ModelFamily, profile: Profile, calibration: Mapping[str, Any], model: str
) -> SubjectAnswer:
    """Return an answer with the recordings of this family only; a note says how many there are of the host's others."""
    if answer.evidence != Evidence.RECORDED or not answer.row:
        return answer
    counted = of_models(calibration, profile, answer.row.removeprefix(f"{CLAIMS}/"), model)
    own = sum([count for name, count in counted.items() if key(family_of(name)) == key(family.name)])
    others = answer.count - own
    if others <= 0:
        return answer
    notes = (*answer.notes, f"{others:,} seen on other models")
    if own:
        return replace(answer, count=own, notes=notes)
    return replace(answer, count=0, notes=notes, seen="", seen_model="", evidence=SOURCES)


def shown_families(table: Table) -> tuple[ModelFamily, ...]:
    """Return the families that providers of the table serve."""
    names = {each.name for each in table.subjects if each.kind != ADAPTER}
    return families({name: profile for name, profile in table.inputs.profiles.items() if name in names})


def models_data(table: Table, found: Sequence[ModelFamily], details: CellDetails) -> Mapping[str, Any]:
    """Return the rows of families.

    `models` has for each family rows: the number of the subject, the names of models, and the numbers of cells.
    `modelCells` has for each cell value, meaning, notes, mark and words of its evidence, row and details.
    """
    inputs = table.inputs
    cells, today = Numbers(), newest_day(inputs.profiles)
    subjects = {each.name: number for number, each in enumerate(table.subjects) if each.kind != ADAPTER}
    rows = {row.name: number for number, row in enumerate(table.rows)}
    marks = [*EVIDENCE]

    def cell(row: ModelRow, answer: SubjectAnswer) -> int:
        name = answer.row.removeprefix(f"{CLAIMS}/")
        return cells(
            (
                *details.texts.of(answer.value),
                MEANINGS.index(answer.meaning),
                details.texts.of(*answer.notes, *(["contested"] if answer.contested else [])),
                marks.index(answer.evidence),
                details.texts(words_of(answer, today)),
                rows.get(answer.row, -1),
                details.of_model(inputs.profiles[row.profile], name, row.models[0]) if answer.row else -1,
            )
        )

    made = [
        [
            [
                subjects[row.profile],
                [printable(model) for model in row.models],
                [cell(row, each) for each in row.answers],
            ]
            for row in rows_of(family, inputs.profiles, inputs.calibration)
        ]
        for family in found
    ]
    return {"models": made, "modelCells": cells.values()}


def names_data(table: Table, found: Sequence[ModelFamily]) -> Mapping[str, Any]:
    """Return what people call providers and families of models, as the resolver of names knows it."""
    services = sorted({subject.service for subject in table.subjects if subject.kind != ADAPTER})
    return {
        "aliases": {name: [printable(each) for each in naming.aliases_of(name)] for name in services},
        "families": [[each.name, each.title, each.vendor] for each in found],
    }
