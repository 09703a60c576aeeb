"""Files of this project: definitions, results and cassettes, which people write by hand or merge badly."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from conformance import baseline, profiles, scenarios
from conformance.adapters import definition as adapters
from conformance.engines import definition as engines
from conformance.errors import InvalidDocument
from conformance.judge import check
from conformance.results import Outcome, Status
from conformance.results import files as results
from conformance.simulator import Simulator
from conformance.transport.cassette import replaying
from conformance.transport.shelf import CassetteFolder
from conformance.wire.exchange import Exchange
from tests.fuzz import mutation, seeds
from tests.fuzz.seeds import Pool, exchange


def assert_judged(outcomes: Sequence[Outcome]) -> None:
    """Check that no rule broke, and that findings can be written."""
    for outcome in outcomes:
        assert outcome.status is not Status.ERRORED, f"{outcome.rule} errored: {outcome.reason}"
        if outcome.findings:
            json.dumps(outcome.to_json())


def message(error: InvalidDocument, file: str) -> str:
    """Return the message of an error about the input; one about anything else is a fault of the project."""
    if error.file != file:
        raise AssertionError(str(error))
    return str(error)


def make(rng: Random, pool: Pool) -> Any:
    """Draw a file: two in three as a value that is then written, the others as text."""
    drawn = json.loads(rng.choice(pool))
    while "text" in drawn and rng.random() < 0.5:
        drawn = json.loads(rng.choice(pool))
    other = json.loads(rng.choice(pool))
    while other["kind"] != drawn["kind"]:
        other = json.loads(rng.choice(pool))
    if "value" in drawn:
        text = json.dumps(mutation.value(rng, drawn["value"], other.get("value")))
    else:
        donor = other.get("text", "").encode("latin-1")
        text = mutation.data(rng, drawn["text"].encode("latin-1"), donor).decode("latin-1")
    return {"kind": drawn["kind"], "data": text}


def read(given: Any, folder: Path) -> Any:
    """Read a file of this project's own kinds; a profile that is valid can be used to check and to simulate."""
    place = folder / given["kind"] / "manifest.yaml"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(given["data"].encode("latin-1"))
    try:
        found = _LOADERS[given["kind"]](place)
    except InvalidDocument as error:
        return message(error, str(place))
    return _used(found) if given["kind"] == "profile" else repr(found)


def _used(profile: profiles.Profile) -> Any:
    outcomes: list[Outcome] = []
    for sample in _samples():
        outcomes += check(sample, profile)
        assert_judged(outcomes)
    body = {"model": profile.model, "messages": [{"role": "user", "content": "Hi"}]}
    sent = [Simulator(profile).reply({**body, "stream": streams}) for streams in (True, False)]
    return outcomes, sent, urlsplit(profile.base_url).port


_LOADERS: Final[Mapping[str, Callable[[Path], Any]]] = {
    "profile": profiles.load_profile,
    "scenario": scenarios.read,
    "engine": engines.read,
    "adapter": adapters.read,
    "manifest": lambda path: CassetteFolder(path.parents[1], path.parent.name).manifest(),
    "baseline": baseline.load,
    "results": results.read,
}


@cache
def _samples() -> tuple[Exchange, ...]:
    chosen = seeds.conversations(0, None)[:20:4]
    return tuple(exchange(each) for text in chosen for each in json.loads(text)[:1])


def make_cassette(rng: Random, pool: Pool) -> Any:
    drawn, other = json.loads(rng.choice(pool)), json.loads(rng.choice(pool))
    data = json.dumps(mutation.value(rng, drawn["value"], other["value"])).encode()
    if rng.random() < 0.2:
        data = mutation.data(rng, data, b"")
    return {"sent": drawn["sent"], "data": data.decode("latin-1")}


def replay(given: Any, folder: Path) -> Any:
    """Replay the first request of a cassette: it is answered, or the error names the cassette."""
    place = folder / "cassette.yaml"
    place.write_bytes(given["data"].encode("latin-1"))
    try:
        with replaying(place):
            reply = _client().post("http://localhost/v1/chat/completions", content=given["sent"])
            return reply.status_code, reply.content
    except InvalidDocument as error:
        return message(error, str(place))
    except httpx.HTTPError as error:
        # What a provider may send as well; the client turns it into words.
        return repr(error)


@cache
def _client() -> httpx.Client:
    """Return one client for all inputs: to make one takes longer than to replay a cassette."""
    return httpx.Client(transport=httpx.HTTPTransport(verify=False))
