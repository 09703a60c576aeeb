"""Sources of claims: places that a reader can open, and what words alone allow."""

import pytest

from conformance import profiles, rules
from tests.checks.data import in_words, without_a_place
from tests.loops import every

LINKS = [
    ({"url": "https://example.com/a"}, "https://example.com/a"),
    ({"repo": "o/n@0123abc"}, "https://github.com/o/n/tree/0123abc"),
    ({"repo": "o/n@0123abc:a/b.py"}, "https://github.com/o/n/blob/0123abc/a/b.py"),
    ({"repo": "o/n@0123abc:a/b.py#L7"}, "https://github.com/o/n/blob/0123abc/a/b.py#L7"),
    ({"repo": "o/n@0123abc:a/b.py#L7-9,12"}, "https://github.com/o/n/blob/0123abc/a/b.py#L7-L9"),
    ({"package": "pypi/litellm@1.2.3:litellm/a.py"}, "https://pypi.org/project/litellm/1.2.3/"),
    ({"package": "pypi/vllm@0.16.0,0.21.0"}, "https://pypi.org/project/vllm/0.21.0/"),
    ({"package": "npm/@scope/name@1.2.3"}, "https://www.npmjs.com/package/@scope/name/v/1.2.3"),
    ({"engine": "vLLM 0.32.0"}, ""),
    ({"inferred": "it follows"}, ""),
]


@every(("members", "link"), LINKS)
def test_a_place_of_a_source_can_be_opened(members: dict[str, str], link: str) -> None:
    assert link == profiles.Source(**members).link


@pytest.mark.parametrize(
    ("source", "confidence", "expected"),
    [
        ({"recorded": "often"}, "high", 1),
        ({"inferred": "so"}, "high", 1),
        ({"recorded": "often"}, "medium", 0),
        ({"url": "https://a.example/", "read": "2026-11-20"}, "high", 0),
        ({"engine": "vLLM 0.32.0"}, "high", 0),
    ],
)
def test_high_confidence_needs_a_source_with_a_place(source: dict[str, str], confidence: str, expected: int) -> None:
    words = (profiles.Source(recorded="often"), profiles.Source(**source))
    claims = {"stream.done": (profiles.Claim("stream.done", value=True, source=words, confidence=confidence),)}
    profile = profiles.Profile("made", models=(profiles.Model("m", claims),))
    assert expected == len(list(without_a_place(profile)))


WORDS: list[tuple[list[dict[str, str]], str, bool]] = [
    ([{"recorded": "582 recorded requests"}], "accepted", True),
    ([{"recorded": "often"}, {"inferred": "so"}], "accepted", True),
    ([{"inferred": "7 streams recorded 2026-03 in cline/cline"}], "upstream", True),
    ([{"inferred": "recorded; stop and length"}], "upstream", True),
    ([{"recorded": "often"}], "unknown", False),
    ([{"inferred": "no refusal is recorded"}], "upstream", False),
    ([{"inferred": "the model's own server decides"}], "upstream", False),
    ([{"recorded": "often"}, {"repo": "o/n@0123abc:a.yaml", "read": "2026-11-28"}], "accepted", False),
    ([{"exchange": "0123456789ab", "read": "2026-11-28"}], "accepted", False),
]


@every(("sources", "value", "found"), WORDS)
def test_recordings_in_words_are_found_in_claims_of_models_and_of_other_wires(
    sources: list[dict[str, str]], value: str, *, found: bool
) -> None:
    claim = profiles.Claim("results.orphaned", value, source=tuple([profiles.Source(**each) for each in sources]))
    claims = {claim.name: (claim,)}
    wire = profiles.Profile("made.responses", models=(profiles.Model("m", claims),))
    expected = [
        "made: results.orphaned: expected the file of a recording",
        "made.responses: results.orphaned of m: expected the file of a recording",
    ]
    reported = in_words(profiles.Profile("made", claims=claims, protocols={"responses": wire}))
    assert (expected if found else []) == [each.partition(", got ")[0] for each in reported]


def test_no_claim_rests_on_recordings_in_words() -> None:
    assert [] == [each for name in profiles.names() for each in in_words(profiles.load_profile(name))]


def test_what_was_only_searched_for_is_unknown() -> None:
    known = []
    for name in profiles.names():
        whole = profiles.load_profile(name)
        for section in (whole, *whole.protocols.values()):
            holders = [("", section.claims), *((model.name, model.claims) for model in section.models)]
            known += [
                f"{section.name}: {claim.name} of {model or 'any model'} is {claim.value!r}"
                for model, histories in holders
                for history in histories.values()
                for claim in history
                if all(source.searched for source in claim.source) and claim.value != profiles.UNKNOWN
            ]
    assert [] == known


# The pages that these rules cite could not be opened, and no other source was found that says it.
_WITHOUT_QUOTE = frozenset(
    {
        "error/no-completion-in-error",
        "http/request-body-is-object",
        "http/status-known",
        "reasoning/on-assistant-messages-only",
        "reasoning/under-one-field",
        "request/tool-calls-not-split",
        "responses/items-one-after-the-other",
    }
)


def test_each_rule_quotes_the_words_that_it_rests_on() -> None:
    unquoted = {each.id for each in rules.load() if each.source and not each.source.quote}
    assert unquoted == _WITHOUT_QUOTE
