"""Arrow batches of traffic in, Arrow batches of findings out: for Spark, Ray, DuckDB, Polars and whatever speaks Arrow.

`check_batches` has the shape of Spark's `mapInArrow`, `check_table` that of Ray's `map_batches` and of Spark's
`applyInArrow`. Both need pyarrow, which the extra `arrow` installs; this module does not import it before it is used.

    >>> import pyarrow
    >>> from conformance.arrow import check_table
    >>> traffic = pyarrow.table({"id": ["a"], "request": ['{"model": "gpt-5", "messages": [{"role": "user"}]}']})
    >>> check_table(traffic).select(["id", "level", "rule", "at"]).to_pylist()
    [{'id': 'a', 'level': 'MUST', 'rule': 'shape/message', 'at': '/0/request/messages/0'}]
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance import profiles
from conformance import rules as all_rules
from conformance.errors import UnknownName
from conformance.files import AUTO
from conformance.files.recognition import chosen_profile
from conformance.formats import Input
from conformance.formats.rows import Row, arrow, conversations
from conformance.judge import Judgement, judge
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Status
from conformance.rules import Rule, by_id
from conformance.wire.exchange import Conversation

if TYPE_CHECKING:
    import pyarrow

__all__ = ["FIELDS", "Field", "check_batches", "check_table", "ddl", "schema"]

_BATCH: Final = 1024
"""How many rows a batch of results has."""


class Field(NamedTuple):
    """A column of the results: its name, its type as Arrow names it, and what it holds."""

    name: str
    type: str
    meaning: str


_OF_THE_ROW: Final = (
    Field("row", "int64", "number of the input row in this call, from 0; on a cluster, use `id` instead"),
    Field("id", "string", "the input's `id`, as text"),
    Field("session", "string", "the input's `session`, as text"),
    Field("model", "string", "the model that the request names; else the input's `model`, else that of the reply"),
    Field("day", "string", "the day of the exchange, ISO 8601; null if it is unknown"),
    Field("provider", "string", "the provider whose claims were used; null for none"),
)

FIELDS: Final[Mapping[str, tuple[Field, ...]]] = {
    "finding": (
        *_OF_THE_ROW,
        Field("rule", "string", "the id of the rule; null in a row that only has an `error`"),
        Field("level", "string", "MUST, SHOULD or MAY"),
        Field("side", "string", "who is responsible: client or provider"),
        Field("at", "string", "JSON Pointer into the conversation; it begins with the number of the exchange in it"),
        Field("message", "string", "expected …, got …"),
        Field("refusal_status", "int32", "the HTTP status with which the provider is claimed to reject this"),
        Field("refusal_message", "string", "the message of that error"),
        Field("known", "string", "the claim that describes what stands here, which is no finding: `level` is null"),
        Field("count", "int32", "1 for a finding; how many such departures of this rule the exchange has"),
        Field("error", "string", "why the row or one of its bodies could not be checked, or what a rule raised"),
    ),
    "exchange": (
        *_OF_THE_ROW,
        Field("position", "int32", "number of the exchange in its conversation, from 0"),
        Field("must", "int32", "number of findings of level MUST"),
        Field("should", "int32", "number of findings of level SHOULD"),
        Field("may", "int32", "number of findings of level MAY"),
        Field("known", "int32", "number of departures that the provider's claims describe, which are no findings"),
        Field("rules", "list<string>", "the rules with findings, sorted"),
        Field("judged", "int32", "number of rules that found something to judge in the conversation"),
        Field("error", "string", "why the row or one of its bodies could not be checked, or what a rule raised"),
    ),
}
"""The columns of the results: by default a row is a finding; with `per="exchange"`, it is a row of the input."""

_SQL: Final = {"int64": "bigint", "int32": "int", "string": "string", "list<string>": "array<string>"}


def schema(per: str = "finding") -> "pyarrow.Schema":
    """Return the Arrow schema of the results; raises UnknownName if `per` is neither finding nor exchange."""
    pa = arrow()
    types = {"int64": pa.int64(), "int32": pa.int32(), "string": pa.string(), "list<string>": pa.list_(pa.string())}
    return pa.schema([(field.name, types[field.type]) for field in _fields(per)])


def ddl(per: str = "finding") -> str:
    """Return the schema of the results as Spark's `mapInArrow` and `applyInArrow` accept it."""
    return ", ".join(f"`{field.name}` {_SQL[field.type]}" for field in _fields(per))


def check_batches(
    batches: Iterable["pyarrow.RecordBatch"],
    profile: Profile | str | Path | None = None,
    rules: Sequence[str] | str | None = None,
    *,
    as_of: str = "",
    per: str = "finding",
    columns: Mapping[str, str | None] | None = None,
) -> Iterator["pyarrow.RecordBatch"]:
    """Check the exchanges in batches of rows, and yield batches of results.

    A row is one exchange. Its columns, of which `request` or `response` is required: `request` and `response` hold
    JSON or the text of an event stream, as text or bytes, plain or packed with gzip or zstd; `status`, `headers` (a
    map, a struct or a JSON object), `stream`, `url`, `model`, `time`, `session` and `id`. Common other names are
    recognized; `columns` names any other, as in `{"request": "body"}`, and None for what is not to be read.

    Rows of a batch with the same session are checked as one conversation, in their order. The conversation of the last
    row continues in the next batch if that one begins with it; every other one ends with its batch. So with rows sorted
    by session, results do not depend on the size of batches.

    `profile`, `rules` and `as_of` are those of `conformance.check`; the profile `auto` is that of the host in `url`.
    `per`: `finding` yields a row for each finding, and one for each row that cannot be checked; `exchange` yields one
    for each row. `schema(per)` is the schema. Memory holds one batch, one conversation and some results.

    Raises UnknownName and InvalidDocument as `conformance.check` does, Unusable if no column holds requests or
    responses, and TypeError for what is not a batch. What is wrong in a row is never raised: its `error` says it.
    """
    pa_schema = schema(per)
    globs = (rules,) if isinstance(rules, str) else None if rules is None else tuple(rules)
    judging = _Judging(_rules(globs), _profile(profile), as_of)
    return _written(_results(conversations(batches, columns), judging, per), pa_schema)


def check_table(
    table: "pyarrow.Table",
    profile: Profile | str | Path | None = None,
    rules: Sequence[str] | str | None = None,
    *,
    as_of: str = "",
    per: str = "finding",
    columns: Mapping[str, str | None] | None = None,
) -> "pyarrow.Table":
    """Check the exchanges in a table as `check_batches` does, and return a table of results."""
    whole = table.combine_chunks().to_batches()
    checked = check_batches(whole, profile, rules, as_of=as_of, per=per, columns=columns)
    return arrow().Table.from_batches(checked, schema(per))


class _Judging(NamedTuple):
    """By what to judge; `profile` may be `AUTO`."""

    rules: Sequence[Rule]
    profile: Profile | str | None
    as_of: str

    def profile_of(self, exchanges: Conversation) -> Profile | None:
        """Return the profile for a conversation."""
        if not isinstance(self.profile, str):
            return self.profile
        return chosen_profile(Input("", None, "exchange", exchanges), self.profile, by_signs=False)


@lru_cache(maxsize=8)
def _rules(globs: tuple[str, ...] | None) -> Sequence[Rule]:
    """Return the same rules for the same globs, since the engine arranges a set of rules only once."""
    return all_rules.of_traffic() if globs is None else all_rules.select(globs)


def _profile(given: Profile | str | Path | None) -> Profile | str | None:
    return AUTO if given == AUTO else profiles.resolve_profile(given)


def _fields(per: str) -> tuple[Field, ...]:
    if per not in FIELDS:
        raise UnknownName("kind of results", per, FIELDS)
    return FIELDS[per]


_Result = dict[str, Any]


def _written(results: Iterable[_Result], pa_schema: "pyarrow.Schema") -> Iterator["pyarrow.RecordBatch"]:
    """Yield results as batches."""
    waiting: list[_Result] = []
    make = arrow().RecordBatch.from_pylist
    for result in results:
        waiting.append(result)
        if len(waiting) == _BATCH:
            yield make(waiting, pa_schema)
            waiting = []
    if waiting:
        yield make(waiting, pa_schema)


def _results(found: Iterable[tuple[Row, ...]], judging: _Judging, per: str) -> Iterator[_Result]:
    make = _findings if per == "finding" else _exchanges
    for rows in found:
        exchanges = tuple([row.exchange for row in rows if row.exchange is not None])
        profile = judging.profile_of(exchanges)
        yield from make(
            [_known(row, profile) for row in rows],
            [number for number, row in enumerate(rows) if row.exchange is not None],
            judge(exchanges, profile, judging.rules, judging.as_of),
        )


def _known(row: Row, profile: Profile | None) -> _Result:
    """Return what every result has of its row, with the row's problem, if it has one, as `error`."""
    exchange = row.exchange
    return {
        "row": row.number,
        "id": row.id,
        "session": row.session,
        "model": (exchange.model or None) if exchange else None,
        "day": (exchange.date or None) if exchange else None,
        "provider": None if profile is None else profile.name,
        "error": row.problem or None,
    }


def _findings(known: Sequence[_Result], checked: Sequence[int], judgement: Judgement) -> Iterator[_Result]:
    """Yield the rows with a problem, then the findings; `checked` are the positions of rows with an exchange."""
    yield from [row for row in known if row["error"]]
    for outcome in judgement.found():
        about = {"rule": outcome.rule, "level": outcome.level.value, "error": None}
        if outcome.status is Status.ERRORED:
            yield known[checked[0]] | about | {"error": _raised(outcome)}
        for finding in outcome.findings:
            yield known[checked[_position(finding)]] | about | _finding(finding)
        for (position, claim), count in outcome.known_at.items():
            # The first departures alone are kept with their places.
            shown = [each for each in outcome.known if _position(each) == position and each.known == claim]
            place = _finding(shown[0]) if shown else {"side": by_id()[outcome.rule].on.side.value}
            row = known[checked[position]] | {"rule": outcome.rule, "error": None} | place
            yield row | {"level": None, "known": claim, "count": count}


def _finding(finding: Finding) -> _Result:
    refusal = finding.refusal
    return {
        "level": finding.level.value,
        "count": 1,
        "side": finding.side,
        "at": finding.at,
        "message": finding.message,
        "refusal_status": refusal.status if refusal else None,
        "refusal_message": refusal.message if refusal else None,
    }


def _exchanges(known: Sequence[_Result], checked: Sequence[int], judgement: Judgement) -> Iterator[_Result]:
    """Yield one result for each row: how many findings it has, and of which rules."""
    judged = len(judgement.judged())
    outcomes = list(judgement.found())
    raised = [_raised(outcome) for outcome in outcomes if outcome.status is Status.ERRORED]
    counts: dict[int, Counter[str]] = {}
    broken: dict[int, set[str]] = {}
    described: Counter[int] = Counter()
    for outcome in outcomes:
        for (at, _), count in outcome.known_at.items():
            described[at] += count
        for finding in outcome.findings:
            at = _position(finding)
            counts.setdefault(at, Counter())[finding.level.name.lower()] += 1
            broken.setdefault(at, set()).add(outcome.rule)
    positions = {number: position for position, number in enumerate(checked)}
    for number, row in enumerate(known):
        if number not in positions:
            yield row
            continue
        position = positions[number]
        found = counts.get(position, Counter())
        levels = {level.name.lower(): found[level.name.lower()] for level in Level}
        error = "; ".join(filter(None, [row["error"], *raised])) or None
        rules = sorted(broken.get(position, ()))
        shown = {"position": position, "rules": rules, "judged": judged, "error": error}
        yield row | levels | shown | {"known": described[position]}


def _position(finding: Finding) -> int:
    """Return the number of the exchange that a finding points into."""
    return int(finding.at.split("/", 2)[1])


def _raised(outcome: Outcome) -> str:
    return f"rule {outcome.rule} raised {outcome.reason}; this is a bug in conformance"
