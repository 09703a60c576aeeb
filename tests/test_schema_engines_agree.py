"""jsonschema-rs and jsonschema find the same: on recorded traffic, and on valid documents with random faults."""

import copy
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.documents import read_json
from conformance.resources import folder
from conformance.schemas import slow_validator, validator
from tests import sampling
from tests.loops import every

FAULTY_OF_EACH_FILE = 12
"""How many faulty bodies of each kind a file of recordings adds; the sound ones are many and alike."""

BODIES = ("request", "response", "chunk", "error")
MUTATED = (*BODIES, "message", "content-part", "tool-call", "tool-definition", "reasoning-detail", "transcript")


def agree(name: str, value: Any) -> bool:
    """Compare the engines and return whether the value is valid."""
    quick, slow = validator(f"canonical/{name}"), slow_validator(f"canonical/{name}")
    valid = quick.is_valid(value)
    assert valid == slow.is_valid(value)
    found = quick.errors(value)
    assert found == slow.errors(value)
    assert valid == (not found)
    return valid


def bodies(path: Path) -> Iterator[tuple[str, Any]]:
    with gzip.open(path) as lines:
        for line in lines:
            record = orjson.loads(line)
            if record["api"] != "chat":
                continue
            yield "request", record["request"]
            response = record["response"]
            if isinstance(response, dict):
                yield ("error" if (record["status"] or 200) >= 400 else "response"), response
            else:
                chunks = response if isinstance(response, list) else events(response or "")
                yield from (("chunk", chunk) for chunk in chunks)


def events(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        try:
            yield orjson.loads(line.removeprefix("data:"))
        except orjson.JSONDecodeError:
            continue


def sample(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield every faulty body up to a number, and some of the sound ones."""
    faulty = dict.fromkeys(BODIES, 0)
    for number, (name, value) in enumerate(bodies(path)):
        if not validator(f"canonical/{name}").is_valid(value):
            faulty[name] += 1
            if faulty[name] <= FAULTY_OF_EACH_FILE:
                yield name, value
        elif number % 40 == 0:
            yield name, value


@pytest.mark.slow
def test_the_engines_agree_on_recorded_traffic(shared: Path) -> None:
    verdicts = [
        agree(name, value)
        for path in sorted((shared / "recordings").glob("*.jsonl.gz"))
        for name, value in sample(path)
    ]
    assert verdicts.count(True) > 300
    assert verdicts.count(False) > 100


def holders(value: Any) -> Iterator[dict[str, Any] | list[Any]]:
    if isinstance(value, dict | list) and value:
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from holders(each)


SCALARS = st.sampled_from(
    [None, True, 0, -1, 1.0, 2.5, 10**20, "", "x", "text", "tool", "assistant", "function", "reasoning.summary"]
)
KEYS = st.sampled_from(
    ["role", "type", "content", "name", "id", "function", "text", "error", "tool_calls", "index", "x", "ключ"]
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2))


def drop(draw: Callable[..., Any], holder: dict[str, Any] | list[Any]) -> None:
    del holder[draw(st.sampled_from(range(len(holder)) if isinstance(holder, list) else sorted(holder)))]


def change(draw: Callable[..., Any], holder: dict[str, Any] | list[Any]) -> None:
    holder[draw(st.sampled_from(range(len(holder)) if isinstance(holder, list) else sorted(holder)))] = draw(VALUES)


def add(draw: Callable[..., Any], holder: dict[str, Any] | list[Any]) -> None:
    if isinstance(holder, list):
        holder.append(draw(VALUES))
    else:
        holder[draw(KEYS)] = draw(VALUES)


@st.composite
def mutated(draw: Callable[..., Any], name: str) -> Any:
    value = copy.deepcopy(draw(st.sampled_from(EXAMPLES[name])))
    for _ in range(draw(st.integers(1, 3))):
        places = list(holders(value))
        if places:
            draw(st.sampled_from([drop, change, add]))(draw, draw(st.sampled_from(places)))
    return value


def examples(name: str) -> list[Any]:
    schema: Any = read_json(folder("schemas") / "canonical" / f"{name}.json")
    found: list[Any] = schema["examples"]
    return found


EXAMPLES = {name: examples(name) for name in MUTATED}


@every("name", MUTATED)
def test_the_engines_agree_on_documents_with_random_faults(name: str) -> None:
    @settings(max_examples=sampling.examples(150), deadline=None, database=None)
    @given(mutated(name))
    def judge(value: Any) -> None:
        agree(name, value)

    judge()
