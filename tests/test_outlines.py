"""Replies that the simulator makes of earlier ones are those that it would derive, and ids are those of `rstr`."""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import rstr

from conformance import profiles
from conformance.simulator import Simulator, outlines, responder
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire import ids
from conformance.wires import by_name
from tests.loops import every

PATTERNS = (
    r"call_[0-9a-f]{24}",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"chatcmpl-tool-[0-9a-f]+",
    r"call_\d{2}_[A-Za-z0-9]{20,24}",
    r"^toolu_[A-Za-z0-9]{24}$",
    r"[0-9a-f]{16}(-[A-Z]{3})?",
    r"call_.+?(__thought__[A-Za-z0-9+/=_-]+)?",
    r"(a|b){2,5}",
    r"[a-aa-b]{5}",
    r"(?P<n>a[bc])(?P=n)",
    r"[\dA]{4}\w",
    r"",
)
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_abc", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
RESULT = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_abc", "content": "Sunny."},
]
NAMES = profiles.names()
TEXTS = ("Hello", "x" * 60, "Grüße \ufffd", 'a"b\\', "1234000000", "\x7f\x7fA")
PLAIN = NAMES[::8]
OTHERS = [name for name in NAMES if name not in PLAIN]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_text_is_the_one_that_rstr_draws(pattern: str) -> None:
    seeds = [b"%d" % number for number in range(50)]
    drawn = [random.Random(hashlib.sha256(seed).digest()) for seed in seeds]  # noqa: S311 — repeatable, not secret
    assert [rstr.Rstr(each).xeger(pattern) for each in drawn] == [ids.text_matching(pattern, seed) for seed in seeds]


def requests(profile: profiles.Profile, wire: str) -> Iterator[HttpRequest]:
    """Yield requests that differ in their texts, and so in ids and tokens, for several forms of replies."""
    forms: list[dict[str, Any]] = [
        {},
        {"stream": True},
        {"tools": [TOOL]},
        {"tools": [TOOL], "stream": True, "stream_options": {"include_usage": True}},
        {"max_tokens": 40, "n": 2},
    ]
    for form in forms:
        for number, text in enumerate((*TEXTS, *TEXTS)):
            history = RESULT if number % 4 == 3 else []
            said = {"role": "user", "content": f"{text} {number}"}
            asked = {"model": profile.model or "m", "messages": [said, *history], "user": text[:5], **form}
            version, body = ("/v1beta" if wire == "gemini" else "/v1"), asked
            if wire != "chat":
                body = by_name(wire).writing.request(asked)
            path = f"{version}{by_name(wire).path(asked)}"
            yield HttpRequest("POST", path, {"content-type": "application/json"}, json.dumps(body).encode())


def compared(name: str, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how many replies of a provider were made of an earlier one; each is the one that would be derived."""
    found: Counter[str] = Counter()
    filled = outlines._filled

    def counted(*given: Any) -> HttpReply | None:
        found["filled"] += 1
        return filled(*given)

    profile = profiles.load(name)
    with monkeypatch.context() as patched:
        patched.setattr(outlines, "_filled", counted)
        for wire in profile.wires:
            with_memory, without = Simulator(profile), Simulator(profile, memory=None, answers=None, histories=None)
            for request in requests(profile, wire):
                expected = without.answer(request)
                assert expected == with_memory.answer(request)
                found[str(expected.status)] += 1
    return found


@every("name", PLAIN)
def test_a_remembered_reply_is_the_one_that_would_be_derived(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compared(name, monkeypatch)
    assert found["500"] == 0
    assert found["200"] == 0 or found["filled"] > found["200"] // 5


@pytest.mark.slow
@every("name", OTHERS)
def test_a_remembered_reply_of_any_provider_is_the_one_that_would_be_derived(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compared(name, monkeypatch)["500"] == 0


@pytest.mark.slow
@every("name", PLAIN)
def test_the_outline_of_a_request_shows_the_check_of_a_reply_what_the_request_does(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = profiles.load(name)
    judged: list[tuple[responder.Responder, Any, HttpReply, HttpReply]] = []
    check = responder.Responder._checked

    def noted(self: responder.Responder, body: Any, reply: HttpReply) -> HttpReply:
        judged.append((self, body, reply, check(self, body, reply)))
        return judged[-1][-1]

    with monkeypatch.context() as patched:
        patched.setattr(responder.Responder, "_checked", noted)
        for wire in profile.wires:
            for request in requests(profile, wire):
                Simulator(profile, memory=None, answers=None, histories=None).answer(request)
    for by, body, made, expected in judged:
        assert expected == check(by, outlines.outline(body), made)
