"""Caches that are bounded by bytes and hold no request."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from conformance import linear, profiles
from conformance.caches import ByteCache, digest, remembered
from conformance.documents import pointer
from conformance.profiles import model_names
from conformance.simulator import Simulator, histories, remembering
from conformance.transport.http import HttpRequest
from conformance.wire.ids import text_matching
from tests.loops import every

LONG = "never kept " * 10_000


def test_what_was_used_longest_ago_is_dropped_and_what_is_too_large_is_not_kept() -> None:
    cache: ByteCache[str] = ByteCache(1000)
    for name in "abc":
        cache.keep(name.encode(), name, 200)
        cache.find(b"a")
    cache.keep(b"large", "large", 2000)
    assert {"a", "c"} == {found[0] for name in ("a", "b", "c", "large") if (found := cache.find(name.encode()))}
    assert cache.size <= 1000


def test_a_result_is_made_once_and_again_after_it_was_dropped() -> None:
    made: list[str] = []

    @remembered(2000, len)
    def doubled(text: str) -> str:
        made.append(text)
        return text * 2

    assert ["aa", "aa"] == [doubled("a"), doubled("a")]
    for number in range(100):
        doubled(str(number))
    assert "aa" == doubled("a")
    assert 2 == made.count("a")


def test_other_values_have_another_digest() -> None:
    values: list[tuple[Any, ...]] = [
        (), ("",), (None,), (b"",), ("a",), (b"a",), ("a", "b"), ("ab",), ("ab", ""), ("\ud800",), ("a", None),
    ]  # fmt: skip
    assert len(values) == len({digest(each) for each in values})


def test_a_counted_pattern_counts_as_what_it_is_compiled_to() -> None:
    sizes = [linear.compiled_size(each) for each in ("a", "a{9}", "a{999}", "(a{99}){99}", "((a{99}){99}){99}")]
    assert sorted(sizes) == sizes
    assert sizes[-1] > linear.MAX_KEPT
    assert [False, True] == [linear.occurs(each, "b") for each in ("(a{99}){9}", "(a{999}){999}")]


def bodies(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield requests of each wire, plain and streamed, that hold a text where a cache might keep it."""
    user = {"role": "user", "content": text}
    call = {"id": text, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": text, "name": "f", "input": {}}]}
    given = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": text, "content": "x"}]}
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "description": text}}}
    hello = {"role": "user", "content": "Hello"}
    for stream in (False, True):
        chat = "/v1/chat/completions"
        for model, messages in (
            ("m", [user]),
            (text, [hello]),
            ("m", [hello, {"role": "assistant", "tool_calls": [call]}]),
        ):
            yield chat, {"model": model, "messages": messages, "stream": stream}
        yield chat, {"model": "m", "messages": [hello], "tools": [tool(schema)], "stream": stream}
        yield chat, {"model": "m", "messages": [hello], "stream": stream, text: 1}
        yield "/v1/messages", {"model": "m", "max_tokens": 50, "messages": [user], "stream": stream}
        yield "/v1/messages", {"model": text, "max_tokens": 50, "messages": [hello, used, given], "stream": stream}
        given = {"contents": [{"role": "user", "parts": [{"text": text, text: 1}]}]}
        yield f"/v1beta/models/m:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}", given
        yield "/v1/responses", {"model": "m", "input": [{"type": "function_call", "call_id": text}], "stream": stream}


def tool(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": schema}}


def grown(use: Callable[[str], object], text: str = LONG) -> int:
    """Return by how many bytes the memory of Python grows if a function is called with a long text, after another one.

    Nothing is collected meanwhile: cycles of long texts would pile up in a server that makes few objects.
    """
    use(f"first {text}")
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        use(f"second {text}")
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()


@pytest.mark.slow
@every("provider", ["openai", "mistral"])
def test_nothing_of_a_request_that_is_longer_than_a_history_is_kept_after_its_reply(provider: str) -> None:
    longest = LONG * (1 + histories.MOST_BYTES // len(LONG))
    answer = remembering(Simulator(profiles.load(provider)))

    def ask(text: str) -> None:
        for path, body in bodies(text):
            sent = HttpRequest("POST", path, {"content-type": "application/json"}, orjson.dumps(body))
            assert answer(sent).status < 500

    assert grown(ask, longest) < len(longest) // 4


@pytest.mark.slow
def test_shorter_requests_are_kept_up_to_the_bound_of_histories() -> None:
    answer = remembering(Simulator(profiles.load("openai")))

    def ask(text: str) -> None:
        for number in range(400):
            messages = [{"role": "user", "content": f"{number} {text}"}]
            sent = HttpRequest(
                "POST",
                "/v1/chat/completions",
                {"content-type": "application/json"},
                orjson.dumps({"model": "m", "messages": messages}),
            )
            assert answer(sent).status < 500

    # What is new takes the place of what was there.
    assert grown(ask) < 3 * histories.MAX_BYTES < 400 * len(LONG)


@pytest.mark.slow
def test_long_names_pointers_and_seeds_are_not_kept() -> None:
    uses: list[Callable[[str], object]] = [
        model_names.key,
        lambda text: pointer.parse(f"/{text}"),
        profiles.load("openai").at,
        lambda text: text_matching("a{5}", text.encode()),
        lambda text: linear.occurs("b", text),
    ]
    assert [True] * len(uses) == [grown(use) < len(LONG) // 2 for use in uses]
