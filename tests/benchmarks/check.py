"""What judging costs: parse, schema and all rules, against peers that do less.

    python -m tests.benchmarks.check [--rounds N]

Each round runs every subject once, one after the other, over the same bytes; the figures are ratios of the least
times over the rounds, those that other work on the machine disturbed the least. Bounds: at most 4 times `orjson.loads`,
and less than a thirtieth of jsonschema alone. Exit code 1 where a bound is broken.
"""

import argparse
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

import orjson
import pydantic
from tabulate import tabulate

from conformance import rules
from conformance.documents import parse_json
from conformance.engine import check
from conformance.results import Status
from conformance.schemas import slow_validator, validator
from conformance.wire.exchange import Exchange
from tests.benchmarks.corpus import Sample, samples

MOST_LOADS = 4.0
LEAST_JSONSCHEMA = 30.0


class Function(pydantic.BaseModel):
    name: str
    arguments: str


class Call(pydantic.BaseModel):
    id: str
    type: Literal["function"]
    function: Function


class System(pydantic.BaseModel):
    role: Literal["system", "user"]
    content: str


class Assistant(pydantic.BaseModel):
    role: Literal["assistant"]
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[Call] | None = None


class Tool(pydantic.BaseModel):
    role: Literal["tool"]
    tool_call_id: str
    content: str


class Request(pydantic.BaseModel):
    model: str
    messages: list[Annotated[System | Assistant | Tool, pydantic.Field(discriminator="role")]]
    tools: list[dict[str, Any]]


def exchange(sample: Sample) -> Exchange:
    request = parse_json(sample.request)
    if sample.events:
        text = b"".join([b"data: " + event + b"\n\n" for event in sample.events]).decode() + "data: [DONE]\n\n"
        return Exchange.of_plain(request, text, 200, streamed=True, headers={"content-type": "text/event-stream"})
    return Exchange.of_plain(request, parse_json(sample.reply), 200, headers={"content-type": "application/json"})


def loads(corpus: list[Sample]) -> None:
    for sample in corpus:
        for document in sample.documents:
            orjson.loads(document)


def judge(corpus: list[Sample]) -> None:
    for sample in corpus:
        check((exchange(sample),))


def schema(corpus: list[Sample]) -> None:
    validators = validator("canonical/request"), validator("canonical/response"), validator("canonical/chunk")
    _validate(corpus, validators)


def jsonschema(corpus: list[Sample]) -> None:
    names = "canonical/request", "canonical/response", "canonical/chunk"
    _validate(corpus, tuple(slow_validator(name) for name in names))


def _validate(corpus: list[Sample], validators: tuple[Any, ...]) -> None:
    request, response, chunk = validators
    for sample in corpus:
        assert request.is_valid(orjson.loads(sample.request))
        for event in sample.events:
            assert chunk.is_valid(orjson.loads(event))
        if sample.reply:
            assert response.is_valid(orjson.loads(sample.reply))


def pydantic_models(corpus: list[Sample]) -> None:
    for sample in corpus:
        Request.model_validate_json(sample.request)


SUBJECTS: dict[str, Callable[[list[Sample]], None]] = {
    "orjson.loads of the same bytes": loads,
    "conformance: parse + schema + all rules": judge,
    "jsonschema-rs, the same schemas": schema,
    "pydantic, requests only, no rules": pydantic_models,
    "jsonschema, the same schemas": jsonschema,
}


def measure(corpus: list[Sample], rounds: int) -> dict[str, float]:
    """Return the least seconds of each subject over interleaved rounds."""
    taken: dict[str, list[float]] = {name: [] for name in SUBJECTS}
    for number in range(rounds):
        for name, subject in SUBJECTS.items():
            if subject is jsonschema and number >= 5:
                continue
            start = time.perf_counter()
            subject(corpus)
            taken[name].append(time.perf_counter() - start)
    return {name: min(times) for name, times in taken.items()}


def report(title: str, corpus: list[Sample], rounds: int) -> tuple[float, float]:
    """Print one table; return our time in units of orjson.loads, and jsonschema's in units of ours."""
    taken = measure(corpus, rounds)
    base = taken["orjson.loads of the same bytes"]
    ours = taken["conformance: parse + schema + all rules"]
    size = sum(len(document) for sample in corpus for document in sample.documents)
    print(
        f"\n{title}: {len(corpus)} exchanges, {size / 1e6:.1f} MB of JSON, {rounds} rounds, {len(rules.load())} rules"
    )
    rows = [[name, f"{seconds * 1e3:.1f} ms", f"{seconds / base:.2f}"] for name, seconds in taken.items()]
    print(tabulate(rows, headers=["", "least", "x orjson.loads"], disable_numparse=True))
    return ours / base, taken["jsonschema, the same schemas"] / ours


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    corpus = samples()
    outcomes = [outcome for sample in corpus for outcome in check((exchange(sample),))]
    wrong = {outcome.rule for outcome in outcomes if outcome.status in (Status.FAILED, Status.ERRORED)}
    assert not wrong, f"the corpus is meant to be right: {wrong}"
    report("plain replies", [sample for sample in corpus if not sample.events], rounds)
    report("streamed replies", [sample for sample in corpus if sample.events], rounds)
    loads_ratio, jsonschema_ratio = report("all", corpus, rounds)
    print(f"\nours / orjson.loads = {loads_ratio:.2f} (bound: at most {MOST_LOADS:g})")
    print(f"jsonschema / ours = {jsonschema_ratio:.1f} (bound: more than {LEAST_JSONSCHEMA:g})")
    return int(loads_ratio > MOST_LOADS or jsonschema_ratio <= LEAST_JSONSCHEMA)


if __name__ == "__main__":
    raise SystemExit(main())
