"""`conformance provider discover` on real engines with the scripted model finds what their profiles claim."""

from collections.abc import Mapping

import pytest

from conformance import engines, load_profile
from conformance.artifacts import cache_root
from conformance.discovery.discovering import discover
from conformance.discovery.interview import Interview
from conformance.discovery.shipped import nearest
from conformance.engines.serving import KIND, EngineOptions, is_installed, serving
from conformance.observations.collected import values
from conformance.observations.comparing import Relation, relation
from conformance.resources import folder
from conformance.transport.client import Client, Endpoint

NEEDS_NOTHING = "the model thinks without being asked to, so nothing needs to be sent"
FIRST = "several switches do it; the one that most providers know is tried first"

NULL = "logprobs is null in every choice; the profile lists what the canonical wire does not have"

DIFFERENT: Mapping[str, Mapping[str, str]] = {
    "llamacpp": {"thinking.off": FIRST, "thinking.on": NEEDS_NOTHING},
    "mlx_lm": {
        "content.in-tool-stream": "the streams of the scripted model begin with reasoning, in a delta without content",
        "thinking.on": NEEDS_NOTHING,
    },
    "sglang": {
        "reply.choice-fields": NULL,
        "thinking.off": FIRST,
        "thinking.on": NEEDS_NOTHING,
        "thinking.switches": "the search for a switch ends with the first one that works",
    },
    "transformers": {
        "ids.format": "one run shows request ids of one form; the profile allows any request id before the number",
        "reasoning.request-field": "the server accepts the field and passes it to no template, which no status shows",
        "thinking.on": NEEDS_NOTHING,
    },
    "vllm": {
        "reply.choice-fields": NULL,
        "stream.nulls": "most nulls are omitted, but not all",
        "thinking.off": FIRST,
        "thinking.on": NEEDS_NOTHING,
    },
}
"""By engine, the claims that are discovered of it and differ from its profile, with the reason."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(DIFFERENT))
def test_what_is_found_of_an_engine_is_what_is_claimed_of_it(name: str) -> None:
    definition = engines.load(name)
    cache = cache_root(KIND)
    if not is_installed(definition, cache):
        pytest.skip(f"NOT RUN: conformance engine install {name}")
    options = EngineOptions(cache, folder("fixtures") / "model")
    with serving(definition, options, lambda _: None) as served, Client(Endpoint(served.url)) as client:
        found = discover(Interview(client.send, 600), served.model)
    profile = load_profile(served.provider)
    claimed = profile.at(served.model)
    relations = {claim: relation(claim, each.value, claimed.get(claim)) for claim, each in found.claims.items()}
    assert sorted(DIFFERENT[name]) == sorted(claim for claim, each in relations.items() if each is Relation.DIFFERENT)
    assert ([], {}) == (found.broken, found.skipped)
    assert profile.name == nearest(values(found.claims)).provider
