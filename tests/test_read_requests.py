"""Requests of Messages that repeat a history are translated from where they differ, with the same result."""

import copy
import pickle
import sys
from collections.abc import Mapping
from typing import Any

from conformance import Exchange
from conformance.documents.pointer import Place
from conformance.wire.held_places import HeldPlaces
from conformance.wires import Translator, by_name
from conformance.wires import translate as translated
from tests.drawn_items import drawn_items
from tests.drawn_sessions import drawn
from tests.loops import every


def _alone(exchange: Exchange) -> Exchange:
    return by_name("messages").translate_one(exchange)


def _places(exchange: Exchange) -> list[Any]:
    assert exchange.native is not None
    return list(exchange.native.places.items())


@every("seed", range(60))
def test_a_session_is_translated_as_each_of_its_exchanges_alone(seed: int) -> None:
    conversation = [each for each in drawn(seed) if "/messages" in each.url]
    translate = Translator()
    for exchange in conversation:
        one, other = translate(exchange), _alone(exchange)
        assert (repr(other.request), repr(other.response)) == (repr(one.request), repr(one.response))
        assert _places(other) == _places(one)


def _exchange(*messages: dict[str, Any], system: str = "Be brief.") -> Exchange:
    return Exchange({"model": "m", "max_tokens": 9, "system": system, "messages": list(messages)}, url="/v1/messages")


USER = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}
MORE = {"role": "assistant", "content": [{"type": "text", "text": "And more"}]}
MARKED = {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}


@every(
    ("before", "after"),
    [
        # Neighbouring messages of the assistant become one, also where the second one comes later.
        (_exchange(USER, SAID), _exchange(USER, SAID, MORE)),
        (_exchange(USER, SAID, MORE), _exchange(USER, SAID, USER)),
        (_exchange(USER, SAID, USER), _exchange(USER, SAID)),
        (_exchange(USER, SAID, USER), _exchange(USER, SAID, MARKED)),
        (_exchange(USER, SAID, USER), _exchange(USER, SAID, USER, system="")),
        (_exchange(USER, SAID, USER), _exchange(USER, SAID, USER, SAID, system="Be long.")),
        (_exchange(USER, {"role": "user", "content": []}), _exchange(USER, {"role": "user", "content": []}, SAID)),
    ],
)
def test_what_differs_is_read_again(before: Exchange, after: Exchange) -> None:
    translate = Translator()
    first = translate(before)
    kept = copy.deepcopy(first.request)
    one, other = translate(after), _alone(after)
    assert (repr(other.request), _places(other)) == (repr(one.request), _places(one))
    assert kept == first.request


def test_messages_that_come_again_are_the_same_objects() -> None:
    translate = Translator()
    first, second = translate(_exchange(USER, SAID, USER)), translate(_exchange(USER, SAID, USER, SAID, USER))
    shared = [one is other for one, other in zip(first.request["messages"], second.request["messages"], strict=False)]
    assert [True, True, True, True] == shared


def test_exchanges_apart_are_translated_as_each_alone() -> None:
    translate_next = Translator(apart=True)
    for seed in range(60):
        for exchange in (*drawn(seed), *drawn_items(seed)):
            assert repr(translated((exchange,))[0]) == repr(translate_next(exchange)), seed


def test_a_history_that_is_cut_again_and_again_leaves_no_table_of_each_request() -> None:
    translate_next = Translator()
    for number in range(40):
        cut = [USER, SAID, USER] if number % 2 else [USER, SAID, USER, SAID, {"role": "user", "content": f"{number}"}]
        exchange = translate_next(_exchange(*cut))
        places = exchange.native.places if exchange.native is not None else {}
        links = 0
        while isinstance(places, HeldPlaces):
            places, links = places.earlier, links + 1
        assert links <= len(cut)
        assert _places(exchange) == _places(_alone(_exchange(*cut)))


def test_the_places_of_a_long_session_can_be_copied() -> None:
    places: Mapping[Place, Place] = {("response", "id"): ("response", "id")}
    for number in range(2 * sys.getrecursionlimit()):
        places = HeldPlaces({("request", "messages", number): ("request", "contents", number)}, places, number)
    whole = {("request", "messages", number): ("request", "contents", number) for number in range(len(places))}
    assert whole == pickle.loads(pickle.dumps(places)) == copy.deepcopy(places)  # noqa: S301 — its own
    assert (("request", "contents", 0), None) == (places["request", "messages", 0], places.get(("response", "id")))
