"""Faults of a client, a gateway and a provider are each blamed on the one who has them, plain and streamed."""

from collections.abc import Iterator
from contextlib import contextmanager

import orjson
import pytest

from conformance import faults
from conformance.fidelity.passages import CLIENT, GATEWAY, PROVIDER
from conformance.gateways import runs
from conformance.gateways.playing import Front
from conformance.gateways.runs import CaseResult
from conformance.gateways.upstream import Upstream
from conformance.profiles import Profile
from conformance.results import Level, Status
from conformance.simulator.faulty import with_faults
from conformance.simulator.http import to_exchange
from conformance.simulator.sessions import ScenarioSession
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.wire.exchange import model_of
from tests.gateways import MadeGateway, made_gateway
from tests.loops import every
from tests.planted_blames import BLAMES, Blame
from tests.sampling import some
from tests.test_gateways import profile_of

SOME = BLAMES[::16]


class FaultyUpstream(Upstream):
    """A provider whose replies have a fault, which the exchanges of its cases have, too."""

    def __init__(self, profile: Profile, fault: str) -> None:
        super().__init__(profile)
        self._faulty = with_faults(super().answer, [faults.load(fault)] if fault else [])

    def answer(self, request: HttpRequest) -> HttpReply:
        reply = self._faulty(request)
        text = request.body.decode()
        case = self._cases.get(next((each for each in self._cases if each in text), self._last))
        if isinstance(case, ScenarioSession) and case._exchanges:
            body = orjson.loads(request.body)
            kept = case._exchanges[-1]
            case._exchanges[-1] = to_exchange(body, reply, model_of(body) or kept.model, kept.url)
        return reply


@contextmanager
def _serving(profile: Profile, fault: str) -> Iterator[FaultyUpstream]:
    upstream = FaultyUpstream(profile, fault)
    with serving(upstream.answer) as upstream.url:
        yield upstream


def _play(blame: Blame) -> list[CaseResult]:
    front, back = blame.wires
    profile = profile_of(back)
    is_passed = bool(blame.fault) and front == back
    with _serving(profile, blame.fault) as upstream:
        gateway = MadeGateway(front, back, f"{upstream.url}/v1", translates=not is_passed, **blame.does)
        with made_gateway(gateway) as url:
            end = Front(url, front, profile.model)
            cases = runs.cases(front, profile, profile.model, (blame.case,))
            return [runs.play(each, end, upstream, blame.alter) for each in cases]


def _assert_blamed(blame: Blame) -> None:
    results = _play(blame)
    assert {result.case.variant for result in results} == {"plain", "stream"}
    for result in results:
        failed = [o for o in result.case.outcomes if o.status in (Status.FAILED, Status.ERRORED)]
        traced = [each for each in result.traced if each.level is Level.MUST]
        client = {each.fact for each in result.client_losses if each.by == CLIENT}
        assert {each.by for each in traced} <= {blame.by}
        named = {each.rule for each in traced} | client
        if blame.by == GATEWAY:
            assert f"gateway/{blame.shows}" in {each.rule for each in failed}
            assert client == set()
            continue
        assert [each.rule for each in failed if each.level is Level.MUST] == []
        assert any([each.startswith(blame.shows) for each in named])
        assert not client or blame.by != PROVIDER


@every("blame", SOME, ids=lambda each: each.id)
def test_some_faults_are_blamed_on_who_has_them(blame: Blame) -> None:
    _assert_blamed(blame)


@pytest.mark.slow
@every("blame", some([each for each in BLAMES if each not in SOME], 4, lambda each: each.id, pytest.mark.exhaustive))
def test_a_fault_is_blamed_on_who_has_it(blame: Blame) -> None:
    _assert_blamed(blame)


def test_the_faults_are_of_all_three_on_all_wires() -> None:
    assert len({(each.by, each.name) for each in BLAMES}) >= 20
    assert {each.by for each in BLAMES} == {CLIENT, GATEWAY, PROVIDER}
    assert {wire for each in BLAMES for wire in each.wires} == {"chat", "messages", "responses", "gemini"}
