"""The public API: what `import conformance` offers, and what it takes."""

import doctest
import subprocess
import sys
from collections import OrderedDict, UserDict, deque
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conformance
from conformance import Exchange, Level, Status, check, load_profile, profiles, rules
from conformance.errors import ConformanceError, InvalidDocument, UnknownName
from conformance.profiles import Profile
from conformance.strategies import requests
from conformance.wire.exchange import Exchange as WireExchange
from conformance.wire.plain import plain
from tests.loops import every

SURFACE = [
    "Conversation", "Exchange", "Finding", "Level", "Outcome", "Session", "Status", "__version__", "check",
    "from_canonical", "load_profile", "parse_reply", "prepare", "to_canonical",
]  # fmt: skip
"""Semantic versioning covers exactly these names."""

CALL = {"id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
BAD: dict[str, Any] = {
    "model": "deepseek-v4-flash",
    "messages": [
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_2", "content": "12:00", "timestamp": 1},
    ],
}
"""A request that breaks several rules: a lost reasoning, a result of no call, a local key."""

STREAM = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,'
    b'"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n'
)
"""An event stream that breaks off."""


def broken(*given: Any, **named: Any) -> list[tuple[str, str, Level]]:
    return [
        (outcome.rule, finding.at, finding.level) for outcome in check(*given, **named) for finding in outcome.findings
    ]


def test_the_surface_is_pinned() -> None:
    assert SURFACE == sorted(conformance.__all__)
    assert [] == [name for name in SURFACE if not hasattr(conformance, name)]
    assert set(SURFACE) <= set(dir(conformance))


def test_every_public_function_has_an_example_that_runs() -> None:
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(verbose=False)
    callables = [name for name in SURFACE if name[0].islower()]
    for name in ("", "Exchange", "Session", *callables):
        found = finder.find(getattr(conformance, name) if name else conformance, name or "conformance")
        assert (True, name) == (any(each.examples for each in found), name)
        for each in found:
            assert 0 == runner.run(each).failed, f"the example of {name} fails"


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        conformance.chekc  # noqa: B018


def test_importing_the_package_imports_none_of_its_modules() -> None:
    script = (
        "import sys, this; before = set(sys.modules); import conformance; print(*sorted(set(sys.modules) - before))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = ended.stdout.splitlines()[-1].split()
    assert "conformance" in imported
    assert [] == [name for name in imported if name.startswith("conformance.")]
    assert [] == [name for name in imported if name in ("orjson", "yaml", "httpx", "jsonschema", "jsonschema_rs")]


def as_ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return OrderedDict((key, as_ordered(each)) for key, each in value.items())
    return [as_ordered(each) for each in value] if isinstance(value, list) else value


def as_frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({key: as_frozen(each) for key, each in value.items()})
    return tuple(as_frozen(each) for each in value) if isinstance(value, list) else value


def as_user(value: Any) -> Any:
    if isinstance(value, dict):
        return UserDict({key: as_user(each) for key, each in value.items()})
    return deque(as_user(each) for each in value) if isinstance(value, list) else value


FORMS: Mapping[str, Callable[[Any], Any]] = {
    "bytes": orjson.dumps,
    "bytearray": lambda value: bytearray(orjson.dumps(value)),
    "text": lambda value: orjson.dumps(value).decode(),
    "ordered": as_ordered,
    "frozen": as_frozen,
    "user": as_user,
}


@every("provider", [None, "deepseek"])
@every("form", FORMS)
def test_a_request_in_any_form_has_the_findings_of_the_dict(form: str, provider: str | None) -> None:
    expected = broken(Exchange(request=BAD), provider)
    assert "transcript/result-answers-call" in {rule for rule, _, _ in expected}
    assert expected == broken(Exchange(request=FORMS[form](BAD)), provider)


@given(requests())
def test_any_request_in_any_form_is_the_same_exchange(body: dict[str, Any]) -> None:
    for form in FORMS.values():
        assert Exchange(request=body) == Exchange(request=form(body))


def test_the_model_is_taken_from_the_body() -> None:
    assert "deepseek-v4-flash" == Exchange(request=BAD).model
    assert "other" == Exchange(request=BAD, model="other").model
    assert "m" == Exchange(response=STREAM).model
    expected = broken(Exchange(request=BAD), "deepseek")
    assert expected == broken(Exchange(request=BAD, model="deepseek-v4-flash"), "deepseek")


def test_a_model_that_stands_only_in_the_body_is_not_taken_for_one_that_thinks() -> None:
    body = BAD | {"model": "deepseek-chat"}
    outcomes = check(Exchange(request=body, date="2025-06-01"), "deepseek", "reasoning/present-on-tool-turns")
    assert [Status.NOT_APPLICABLE] == [outcome.status for outcome in outcomes]


@pytest.mark.parametrize("text", [STREAM, STREAM.decode(), bytearray(STREAM), memoryview(STREAM)])
def test_an_event_stream_is_checked_as_one(text: Any) -> None:
    assert "stream/complete" in {rule for rule, _, _ in broken(Exchange(request=BAD | {"stream": True}, response=text))}


def test_bytes_that_are_not_utf_8_are_reported() -> None:
    damaged = STREAM.replace(b"Hi", b"H\xff") + b"data: [DONE]\n\n"
    assert "stream/utf8-valid" in {rule for rule, _, _ in broken(Exchange(response=damaged))}


def test_a_reply_as_text_is_parsed_and_other_text_stays() -> None:
    assert {"choices": []} == Exchange(response=b'{"choices": []}').response
    assert "<html>" == Exchange(response=b"<html>").response
    assert not Exchange(response="<html>").streamed
    assert Exchange(response="", headers={"Content-Type": "text/event-stream"}).streamed


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/html", "X-A": "1, 2"},
        httpx.Headers([("content-type", "text/html"), ("X-A", "1"), ("x-a", "2")]),
        [(b"Content-Type", b"text/html"), (b"X-A", b"1"), (b"X-A", b"2")],
        {"CONTENT-TYPE": ["text/html"], "x-a": ("1", "2")},
    ],
)
def test_headers_in_any_case_and_form(headers: Any) -> None:
    assert {"content-type": "text/html", "x-a": "1, 2"} == Exchange(headers=headers).headers
    reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    assert "http/content-type-matches-body" in {
        rule for rule, _, _ in broken(Exchange(request=BAD, response=reply, status=200, headers=headers))
    }


def test_other_fields_are_normalised() -> None:
    exchange = Exchange(url=httpx.URL("https://x.example/v1"), status=HTTPStatus.OK, date=date(2026, 11, 22))  # type: ignore[arg-type]
    assert ("https://x.example/v1", 200, "2026-11-22") == (exchange.url, exchange.status, exchange.date)
    assert int is type(exchange.status)
    assert "2026-11-22" == Exchange(date=datetime(2026, 11, 22, tzinfo=UTC)).date  # type: ignore[arg-type]


class Message:
    """An object of an SDK."""

    def model_dump(self) -> dict[str, Any]:
        return {}


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


class _Word(StrEnum):
    USER = "user"


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from([_Word.USER, HTTPStatus.OK, "\ud800"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda each: st.one_of(
        st.lists(each), st.lists(each).map(tuple), st.dictionaries(st.text(), each).map(OrderedDict),
        st.dictionaries(st.text(), each),
    ),
)  # fmt: skip


@given(VALUES)
def test_a_body_is_the_same_copied_at_once_and_value_by_value(value: Any) -> None:
    def made(copy: Callable[[], Any]) -> str:
        try:
            return repr(copy())
        except TypeError as error:
            return str(error)

    body = {"messages": [value]}
    assert made(lambda: plain(body, ("request",))) == made(lambda: Exchange(request=body).request)
    assert made(lambda: plain(body, ("response",))) == made(lambda: Exchange(response=body).response)


def test_a_body_that_changes_later_was_copied() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}]}
    exchange = Exchange(request=body, response=body)
    body["messages"][0]["content"] = "Bye"
    assert ["Hi", "Hi"] == [each["messages"][0]["content"] for each in (exchange.request, exchange.response)]


@every(
    ("given", "message"),
    [
        ({"request": {"messages": [Message()]}}, "request at /messages/0: cannot represent .*Message.*model_dump"),
        ({"request": {"messages": {1, 2}}}, "request at /messages: cannot represent set"),
        ({"request": {"messages": [{"content": b"Hi"}]}}, "request at /messages/0/content: .*bytes.*decode it first"),
        ({"request": {1: "one"}}, "request: expected keys that are strings, got int"),
        ({"request": {"temperature": float("nan")}}, "request at /temperature: cannot represent nan"),
        ({"request": {"stop": [float("inf")]}}, "request at /stop/0: cannot represent inf"),
        ({"request": {"user": UUID(int=1)}}, "request at /user: cannot represent .*UUID"),
        ({"request": {"user": datetime(2026, 1, 1, tzinfo=UTC)}}, "request at /user: cannot represent .*datetime"),
        ({"request": {"user": Decimal(1)}}, "request at /user: cannot represent .*Decimal"),
        ({"request": CYCLE}, "nested deeper than"),
        ({"request": object()}, "request: cannot represent object"),
        ({"response": b"\x1f\x8b\x08"}, "compressed"),
        ({"status": "200"}, "status: expected an int or None, got str"),
        ({"status": True}, "status: expected an int or None, got bool"),
        ({"headers": "text"}, "headers: expected a mapping"),
        ({"headers": [("a",)]}, "headers: expected a name and a value"),
        ({"headers": {"a": object()}}, "headers: expected text, got object"),
        ({"date": 5}, "date: expected an ISO 8601 string or a date, got int"),
    ],
)
def test_what_cannot_be_represented_is_a_type_error(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Exchange(**given)


def test_a_request_whose_text_is_not_json_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidDocument) as caught:
        Exchange(request=b'{"model": "m",\n "model": "n"}')
    assert ("request", 2) == (caught.value.file, caught.value.line)
    assert isinstance(caught.value, ConformanceError)


@pytest.mark.parametrize("given", [BAD, [BAD], "text", [Exchange(), None], 5])
def test_what_is_no_exchange_is_a_type_error(given: Any) -> None:
    with pytest.raises(TypeError):
        check(given)


def test_a_profile_by_name_path_or_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes((Path(profiles.__file__).parent / "deepseek.yaml").read_bytes())
    exchange = Exchange(request=BAD)
    expected = broken(exchange, "deepseek")
    assert [expected] * 3 == [broken(exchange, each) for each in (load_profile("deepseek"), path, str(path))]
    with pytest.raises(UnknownName, match="deepseek"):
        check(exchange, "depseek")
    with pytest.raises(TypeError, match="int"):
        check(exchange, 5)  # type: ignore[arg-type]


def test_rules_by_id_and_glob() -> None:
    exchange = Exchange(request=BAD)
    assert ["shape/request"] == [outcome.rule for outcome in check(exchange, rules="shape/request")]
    chosen = {outcome.rule.partition("/")[0] for outcome in check(exchange, rules=["usage/*", "error/*"])}
    assert {"usage", "error"} == chosen
    with pytest.raises(UnknownName):
        check(exchange, rules=["usage/nothing"])


def test_several_exchanges_are_one_conversation() -> None:
    assert check((Exchange(request=BAD),)) == check([Exchange(request=BAD)]) == check(Exchange(request=BAD))
    assert all(outcome.judged == 0 for outcome in check([]))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_models_that_were_seen() -> None:
    profile = load_profile("deepseek")
    for number in range(2000):
        check(Exchange(request=BAD | {"model": f"deepseek-{number}"}), profile, "shape/request")
    assert _cached(profile) <= 512


@pytest.mark.slow
def test_memory_does_not_grow_with_the_sizes_that_were_seen() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    for number in range(1, 1500, 7):
        check(Exchange(request={"model": "m", "messages": messages * number}), rules="shape/message")
    (rule,) = [each for each in rules.load() if each.id == "shape/message"]
    assert len(rule.outcomes) <= 257


def _cached(profile: Profile) -> int:
    return len(profile._layers) + len(profile._resolved)


def test_parsed_values_are_taken_as_they_are() -> None:
    assert Exchange(request=BAD) == WireExchange.of_plain(request=BAD, model="deepseek-v4-flash")


@pytest.mark.parametrize(
    ("day", "as_of", "level"),
    [
        ("2026-05-01", "", Level.MUST),
        ("2026-05-01", "2026-11-01", None),
        ("", "", None),
        ("", "2026-05-01", Level.MUST),
    ],
)
def test_a_named_day_wins_over_the_date_of_an_exchange(day: str, as_of: str, level: Level | None) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    body = {"model": "deepseek-flash", "messages": [{"role": "user", "content": [image]}]}
    (outcome,) = check(Exchange(body, date=day), "deepseek", "request/content-parts-accepted", as_of=as_of)
    assert level == next((finding.level for finding in outcome.findings), None)
