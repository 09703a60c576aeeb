"""Other wires that hold anything at all: checking them never raises, and no rule breaks on them."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import Exchange, Status, check
from conformance.resources import folder
from tests.sampling import examples

BASES = sorted(
    path.stem
    for wire in ("messages", "responses", "gemini")
    for path in (folder("fixtures") / "wire").glob(f"{wire}-*.json")
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, 5, -1, 2**70, True, "", "x", "{", [], [[]], {}, {"type": []}, [None], [5], {"x": {}}, 1.5]
)
PROVIDERS = {"messages": "anthropic", "responses": "openai", "gemini": "gemini"}


def holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each member of a value, as its holder and its key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from holders(value[key])


def sent(record: Any, *, by_url: bool) -> Exchange:
    """Return a record as an exchange, recognised by its URL or its bodies; a list of events as a stream's text."""
    response = record["response"]
    text = "".join(f"data: {json.dumps(each)}\n\n" for each in response) if isinstance(response, list) else response
    return Exchange(record["request"], text, 200, url=record["url"] if by_url else "")


@pytest.mark.parametrize("base", BASES)
@settings(deadline=None, max_examples=examples(40))
@given(data=st.data())
def test_a_conversation_with_odd_values_is_judged(base: str, data: st.DataObject) -> None:
    records = copy.deepcopy(json.loads((folder("fixtures") / "wire" / f"{base}.json").read_text("utf-8")))
    for _ in range(data.draw(st.integers(1, 3))):
        every = [
            each for record in records for part in ("request", "response") for each in holders({part: record.get(part)})
        ]
        holder, key = data.draw(st.sampled_from(every))
        holder[key] = copy.deepcopy(data.draw(ODD))
    provider = PROVIDERS[base.partition("-")[0]]
    by_url = data.draw(st.booleans())
    outcomes = check([sent(each, by_url=by_url) for each in records], provider)
    assert [] == [(each.rule, each.reason) for each in outcomes if each.status is Status.ERRORED]
