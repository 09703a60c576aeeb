"""Where the time of a check goes: CPU time of each stage, the share of each rule, and what parsing the bytes takes.

Everything is a count of nanoseconds or bytes, so that the figures of several processes are added up as counts are.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

import orjson

from conformance.judge import Judgement, judgement
from conformance.profiles import Profile
from conformance.rules import Rule
from conformance.rules.validation import SchemaFinder
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

T = TypeVar("T")

STAGE: Final = "nanoseconds"
RULE: Final = "rule nanoseconds"
JUDGED: Final = "rule calls"
BYTES: Final = "bytes"
FLOOR: Final = "parsing nanoseconds"
RULES_BY_CLOCK: Final = "rules by the clock"
"""The groups of counts: by stage, by rule, and of all bodies."""

READ: Final = "reading the files"
RECOGNISE: Final = "recognising providers"
TRANSLATE: Final = "translating wires"
FIND: Final = "finding messages, calls and replies"
SCHEMAS: Final = "schemas"
RULES: Final = "rules"
HOSTS: Final = "hosts of the model"
FIXES: Final = "fixes"
REPORT: Final = "report"
STAGES: Final = (READ, RECOGNISE, TRANSLATE, FIND, SCHEMAS, RULES, HOSTS, FIXES, REPORT)
DEAREST: Final = 10

_OPENINGS: Final = (b"{", b"[")
_DATA: Final = b"data:"


class Stopwatch:
    """Measures the stages of a check, one after the other, in the CPU time of this thread."""

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self._counts: Counter[tuple[str, str]] = Counter()
        self._began = 0

    def start(self) -> None:
        """Begin a stage: what happened since the last one belongs to none."""
        self._began = time.thread_time_ns()

    def lap(self, stage: str) -> None:
        """End a stage, and begin the next one."""
        now = time.thread_time_ns()
        self._counts[STAGE, stage] += now - self._began
        self._began = now

    def reading(self, inputs: Iterable[T]) -> Iterator[T]:
        """Yield inputs, and measure how long reading each of them takes."""
        source = iter(inputs)
        while True:
            self.start()
            try:
                given = next(source)
            except StopIteration:
                return
            finally:
                self.lap(READ)
            yield given

    def take(self) -> Counter[tuple[str, str]]:
        """Return what was measured since the last time, as counts."""
        found, self._counts = self._counts, Counter()
        return found

    def judge(
        self, conversation: Conversation, profile: Profile | None, rules: Sequence[Rule], as_of: str
    ) -> Judgement:
        """Judge a translated conversation as `judge` does, stage by stage."""
        index = Index(conversation)
        self.lap(FIND)
        for number in range(len(conversation)):
            index.grown(SchemaFinder, number)
        self.lap(SCHEMAS)
        began = time.perf_counter_ns()
        found = judgement(index, profile, rules, as_of)
        self._counts[RULES_BY_CLOCK, ""] += time.perf_counter_ns() - began
        self.lap(RULES)
        return found

    def measure(self, conversation: Conversation) -> None:
        """Count the bytes of bodies, and how long it takes just to parse each body and each event once."""
        texts = [text for each in conversation for text in _texts(each)]
        self._counts[BYTES, ""] += sum(map(len, texts))
        began = time.thread_time_ns()
        for text in texts:
            _parse(text)
        self._counts[FLOOR, ""] += time.thread_time_ns() - began
        self.start()

    def timed(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Return rules that measure themselves.

        By the clock, not in CPU time, because that takes longer to read than most rules take.
        """
        return tuple([self._timed(rule) for rule in rules])

    def _timed(self, rule: Rule) -> Rule:
        of_rule, calls, watch = (RULE, rule.id), (JUDGED, rule.id), self

        def judge(element: Any, context: Any) -> Any:
            began = time.perf_counter_ns()
            try:
                faults = rule.judge(element, context)
                return faults and list(faults)
            finally:
                watch._counts[of_rule] += time.perf_counter_ns() - began
                watch._counts[calls] += 1

        def where(element: Any, context: Any) -> bool:
            began = time.perf_counter_ns()
            try:
                return rule.where is None or rule.where(element, context)
            finally:
                watch._counts[of_rule] += time.perf_counter_ns() - began

        return replace(rule, judge=judge, where=None if rule.where is None else where)


class DearRule(NamedTuple):
    """A rule, its CPU seconds, its share of all, and how many elements it judged."""

    id: str
    seconds: float
    share: float
    judged: int


class Timings(NamedTuple):
    """Where the time of a check went.

    `bytes`: of all bodies as JSON. `seconds`: CPU time of all stages, of all processes. `parsing`: CPU seconds that
    `orjson.loads` takes for each body and each event once. `stages`: seconds, in their order. `rules`: the dearest.
    """

    exchanges: int
    bytes: int
    seconds: float
    parsing: float
    stages: Mapping[str, float]
    rules: Sequence[DearRule]

    def to_json(self) -> dict[str, Any]:
        """Return the timings as a JSON object."""
        return {
            "exchanges": self.exchanges,
            "bytes": self.bytes,
            "cpu_seconds": round(self.seconds, 6),
            "megabytes_per_second": round(_ratio(self.bytes / 1e6, self.seconds), 3),
            "microseconds_per_exchange": round(_ratio(1e6 * self.seconds, self.exchanges), 1),
            "times_parsing": round(_ratio(self.seconds, self.parsing), 2),
            "stages": {
                name: {"cpu_seconds": round(each, 6), "share": round(_ratio(each, self.seconds), 4)}
                for name, each in self.stages.items()
            },
            "rules": [
                {"rule": name, "cpu_seconds": round(seconds, 6), "share": round(share, 4), "judged": judged}
                for name, seconds, share, judged in self.rules
            ],
        }


def timings_of(counts: Mapping[tuple[str, str], int], exchanges: int) -> Timings:
    """Return what some counts say of the time of a check."""
    stages = {name: counts.get((STAGE, name), 0) / 1e9 for name in STAGES}
    whole = sum(stages.values())
    # Another process may have run while a rule was measured by the clock.
    factor = _ratio(stages[RULES], counts.get((RULES_BY_CLOCK, ""), 0) / 1e9)
    rules = sorted([(count / 1e9, name) for (group, name), count in counts.items() if group == RULE], reverse=True)
    dearest = [
        DearRule(name, factor * seconds, _ratio(factor * seconds, whole), counts.get((JUDGED, name), 0))
        for seconds, name in rules[:DEAREST]
    ]
    return Timings(
        exchanges, counts.get((BYTES, ""), 0), whole, counts.get((FLOOR, ""), 0) / 1e9, stages, tuple(dearest)
    )


def _ratio(one: float, other: float) -> float:
    return one / other if other else 0.0


def _texts(exchange: Exchange) -> Iterator[bytes]:
    """Yield the bodies of an exchange as they may have been sent."""
    for body in (exchange.request, exchange.response):
        if body is not None:
            yield body.encode("utf-8", "surrogatepass") if isinstance(body, str) else orjson.dumps(body)


def _parse(text: bytes) -> None:
    lines = [text] if text.startswith(_OPENINGS) else text.split(b"\n")
    payloads = [line.removeprefix(_DATA) for line in lines if line.startswith((*_OPENINGS, _DATA))]
    for payload in payloads:
        # What is not JSON takes no longer to reject.
        with suppress(orjson.JSONDecodeError):
            orjson.loads(payload)
