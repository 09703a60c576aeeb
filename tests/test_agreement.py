"""`check` and the simulator agree on every request: what the one calls a MUST of the client, the other refuses.

A request is refused (status 400 or more) if and only if `check --provider P` of that request alone finds a MUST of the
client that does not say what P does instead: a MUST with `handling` is about damage or lost content, and is answered
with 200. Two refusals are of another kind, and say so in a header: what refers to replies that this simulator does not
hold, and a value that it cannot honour, such as `n: 1000`. docs/simulator.md has the same definition.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from conformance import profiles, rules, wires
from conformance.errors import Unusable
from conformance.formats.records import exchange
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Level
from conformance.simulator import Simulator
from conformance.simulator.responder import LIMIT_HEADER, STATE_HEADER
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side
from conformance.wires import by_name
from conformance.wires.chat import PATH
from tests.loops import every

PROVIDERS: Final = {
    "anthropic_native": "anthropic", "messages": "anthropic", "gemini_native": "gemini", "responses": "openai",
}  # fmt: skip
IN_CI: Final = ("mistral", "openai", "anthropic", "gemini")
"""The providers that CI asks about every example; a plain run asks one about some, and the nightly run all."""


def providers() -> Iterator[Any]:
    """Yield every provider, marked by when it is asked."""
    yield pytest.param("deepseek", 4, id="deepseek")
    for name in profiles.names():
        yield pytest.param(name, 1, id=name, marks=pytest.mark.slow if name in IN_CI else pytest.mark.exhaustive)


def asked(profile: Profile, sent: Exchange) -> HttpReply:
    """Return the simulator's answer to a request, on its own wire."""
    body = sent.request if sent.native is None else sent.native.request
    path = PATH if sent.native is None else by_name(sent.protocol).path(sent.request)
    return Simulator(profile).answer(HttpRequest("POST", path, {}, orjson.dumps(body)))


def musts(profile: Profile, sent: Exchange) -> list[str]:
    """Return the rules that a request breaks at MUST, unless the claims say what the provider does instead."""
    return [
        f"{outcome.rule}: {found.message}"
        for outcome in check(sent, profile, as_of=profile.on(sent.protocol).as_of)
        for found in outcome.findings
        if found.level is Level.MUST and found.side == Side.CLIENT.value and not found.handling
        if found.at.startswith("/0/request")
    ]


def disagreement(profile: Profile, sent: Exchange) -> str:
    """Return what the simulator answers, and what the rules say, if these differ; empty if they agree."""
    reply, broken = asked(profile, sent), musts(profile, sent)
    is_own = any(reply.headers.items() >= header.items() for header in (STATE_HEADER, LIMIT_HEADER))
    if bool(broken) is (reply.status >= 400) or is_own:
        return ""
    text = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    return f"{profile.name}: {reply.status} {text[:200]!r}, {broken or 'no MUST'}"


@cache
def last_requests() -> Sequence[tuple[str, Exchange, str]]:
    """Return the last request of each example of all rules, good and bad, with its claims as JSON, in their order.

    One profile stands for equal claims, because the plan of a judgement belongs to the claims of a profile.
    """
    return sorted(_last_requests(), key=lambda each: each[2])


@cache
def claiming(claims: str) -> Profile:
    return profiles.of(json.loads(claims))


def _last_requests() -> Iterator[tuple[str, Exchange, str]]:
    for rule in rules.load():
        for kind in ("bad", "good"):
            for number, example in enumerate(getattr(rule, kind)):
                sent = wires.translate(example.conversation())[-1]
                if isinstance(sent.request, dict):
                    yield f"{rule.id} {kind} {number}", sent, json.dumps(example.claims, sort_keys=True)


@pytest.mark.parametrize("one_in", [8, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_an_example_is_refused_by_a_provider_with_its_claims_if_it_is_a_must(one_in: int) -> None:
    found = {name: disagreement(claiming(claims), sent) for name, sent, claims in last_requests()[::one_in]}
    assert {} == {name: text for name, text in found.items() if text}


@every(("name", "one_in"), providers())
def test_an_example_is_refused_by_a_shipped_provider_if_it_is_a_must(name: str, one_in: int) -> None:
    profile, some = profiles.load(name), last_requests()[::one_in]
    found = {each: disagreement(profile, sent) for each, sent, _ in some if sent.protocol in profile.wires}
    assert {} == {each: text for each, text in found.items() if text}


def recorded(path: Path, one_in: int) -> Iterator[Exchange]:
    """Yield the requests of a file of recordings, one record in so many."""
    with gzip.open(path) as lines:
        for number, line in enumerate(lines):
            record = {} if number % one_in else json.loads(line)
            for each in record.get("exchanges") or ([record] if record else []):
                try:
                    (sent,) = wires.translate((exchange(each, path.name),))
                    check(sent, rules=[])
                except Unusable:
                    continue
                if isinstance(sent.request, dict):
                    yield sent


def provider(path: Path) -> Profile:
    """Return the profile of the provider that a file of recordings or captures names."""
    stem = path.name.partition(".jsonl")[0]
    names = (PROVIDERS.get(stem, stem), stem.partition("@")[0].rpartition("-")[2], "vllm")
    return profiles.load(next(name for name in names if profiles.has(name)))


@pytest.mark.parametrize(
    ("every_file", "one_in"),
    [
        pytest.param(12, 8, id="some"),
        pytest.param(1, 32, id="more", marks=pytest.mark.slow),
        pytest.param(1, 1, id="all", marks=pytest.mark.exhaustive),
    ],
)
def test_a_recorded_request_is_refused_if_it_is_a_must(shared: Path, every_file: int, one_in: int) -> None:
    paths = sorted([*shared.glob("recordings/*.jsonl.gz"), *shared.glob("captures/*.jsonl.gz")])[::every_file]
    requests = [(provider(path), sent) for path in paths for sent in recorded(path, one_in)]
    found = [disagreement(profile, sent) for profile, sent in requests if sent.protocol in profile.wires]
    assert [] == [text for text in found if text]
    assert found
