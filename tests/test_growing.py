"""Texts that repeat the beginning of an earlier one are parsed by what is new, with the same values and errors."""

import json
import random
from typing import Any

import pytest

from conformance.documents import GrowingTexts, parse_json
from conformance.errors import InvalidDocument
from tests.drawn_sessions import drawn
from tests.loops import every

LONG = "x" * 3000
TRICKY = ('],"', '"]}', "\\", '\\"],', "],[", '"messages":[', "é\u2028", '], ", ":1, ":2', "}]")
NOTATIONS: list[dict[str, Any]] = [
    {"separators": (",", ":")},
    {},
    {"indent": 1},
    {"ensure_ascii": False, "separators": (", ", " : ")},
]


def _texts(seed: int) -> list[bytes]:
    """Return the requests of a drawn session as lines of a log, in one notation, with the list here or there."""
    source = random.Random(seed)  # noqa: S311 — repeatable, not secret
    notation, place = source.choice(NOTATIONS), source.randrange(3)
    texts = []
    for number, exchange in enumerate(drawn(seed)):
        request = exchange.request
        for key in ("messages", "input", "contents"):
            if type(request.get(key)) is list:
                request = {**request, key: [{"role": "user", "content": LONG + source.choice(TRICKY)}, *request[key]]}
        value = (request, {"session": "1", "request": request, "n": number}, {"n": number, "request": request})[place]
        texts.append(json.dumps(value, **notation).encode())
    return texts


def test_drawn_sessions_have_the_values_of_parsing_each_text_alone() -> None:
    for seed in range(150):
        parse = GrowingTexts().parse
        for text in _texts(seed):
            # Rendered, because in Python 1, 1.0 and True are equal.
            assert json.dumps(parse_json(text)) == json.dumps(parse(text)), seed


def test_what_a_text_repeats_is_the_same_object() -> None:
    first = {"model": "m", "messages": [{"role": "user", "content": LONG}]}
    more = {"model": "m", "messages": [*first["messages"], {"role": "user", "content": "And?"}], "tools": []}
    parse = GrowingTexts().parse
    before, after = parse(json.dumps(first).encode()), parse(json.dumps(more).encode())
    assert more == after
    assert before["messages"][0] is after["messages"][0]


@every(
    "text",
    [
        '{"messages": [%s,]}',
        '{"messages": [%s, {"a": 1, "a": 2}]}',
        '{"messages": [%s], "messages": []}',
        '{"messages": [%s], "n": 123456789012345678901234567890}',
        '{"messages": [%s] "n": 1}',
        '{"messages": [%s, NaN]}',
        '{"messages": [%s]]}',
    ],
    ids=str,
)
def test_what_is_wrong_with_a_text_is_reported_as_if_it_stood_alone(text: str) -> None:
    message = json.dumps({"role": "user", "content": LONG})
    whole = (text % message).encode()
    parse = GrowingTexts().parse
    parse(b'{"messages": [%s]}' % message.encode())
    with pytest.raises(InvalidDocument) as alone:
        parse_json(whole)
    with pytest.raises(InvalidDocument) as growing:
        parse(whole)
    assert str(alone.value) == str(growing.value)


def test_only_so_many_texts_are_remembered() -> None:
    texts = GrowingTexts(2, 10_000)
    for number in range(9):
        texts.parse(json.dumps({"messages": [f"{number}{LONG}"]}).encode())
    assert 2 == len(texts)
    texts.parse(json.dumps({"messages": [LONG * 5]}).encode())
    assert 1 == len(texts)
