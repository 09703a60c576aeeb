"""Claims in words: every value that the vocabulary allows has words, and literal text is kept."""

from collections.abc import Iterator
from typing import Any

import pytest

from conformance import profiles
from conformance.reporting.matrix.sentences import describe, refusals
from tests.loops import every

REFUSAL = {"status": 400, "message": "No."}


def quoted(text: str) -> str:
    return f"<{text}>"


@every(
    ("claim", "value", "words"),
    [
        ("ids.format", "unknown", "unknown"),
        ("results.missing", "upstream", "depends on the upstream provider"),
        ("results.missing", "ignored", "ignored"),
        ("results.missing", REFUSAL, "refused with 400: <No.>"),
        ("results.missing", {"status": 422}, "refused with 422"),
        ("tools.parallel", True, "yes"),
        ("tools.parallel-switch", False, "<false> (the parameter does not exist)"),
        ("thinking.mode", "always", "<always> (no request can turn it off)"),
        ("stream.role", ["first", "absent"], "<first> (the first delta of a choice); or <absent> (no delta)"),
        ("thinking.efforts", ["low", "high"], "<low>, <high>"),
        ("thinking.efforts", [], "none"),
        ("thinking.effort-map", {"minimal": "low"}, "<minimal> counts as <low>"),
        ("thinking.budget", {"at": "/budget", "min": 1, "max": 9}, "</budget>, at least 1, at most 9"),
        ("thinking.on", {"think": True}, '<{"think":true}>'),
        ("thinking.switches", [{"at": "/think", "equals": "on", "thinks": True}], '</think> is <"on">: thinking on'),
        (
            "thinking.preserve",
            [{"at": "/keep", "present": False, "keeps": False}],
            "</keep> is absent: reasoning does not reach the model",
        ),
        (
            "reasoning.response-field-switches",
            [{"at": "/x", "in": [1], "field": ["reasoning"]}],
            "</x> is one of <1>: <reasoning>",
        ),
        ("ids.input-max-length", {"limit": 40, "refusal": REFUSAL}, "limit <40>; otherwise refused with 400: <No.>"),
        ("request.unsupported-fields", [{"field": "n", "refusal": "ignored"}], "<n>: ignored"),
        (
            "request.conflicts",
            [{"when": [{"at": "/a"}, {"at": "/b", "not-in": ["c"]}], "verdict": REFUSAL}],
            '</a> is present and </b> is none of <"c">: refused with 400: <No.>',
        ),
        (
            "thinking.fixed-parameters",
            [{"field": "top_p", "values": [1, 0.95], "thinks": True, "refusal": REFUSAL}],
            "<top_p> with thinking on: only <1>, <0.95>; otherwise refused with 400: <No.>",
        ),
    ],
)
def test_a_value_is_described_in_words(claim: str, value: Any, words: str) -> None:
    assert words == describe(claim, value, quoted)


def claims() -> Iterator[tuple[str, profiles.Claim]]:
    for name in profiles.names():
        profile = profiles.load(name)
        for histories in (profile.claims, *(model.claims for model in profile.models)):
            yield from ((name, claim) for history in histories.values() for claim in history)


def test_every_claim_of_every_profile_is_described_without_python_syntax() -> None:
    described = {
        f"{name} {claim.name}": describe(claim.name, claim.value, lambda _text: "…") for name, claim in claims()
    }
    python = {"True", "False", "None"}
    assert [] == [name for name, words in described.items() if not words or python & {*words.split()} or "{'" in words]


@pytest.mark.parametrize(
    ("value", "statuses"),
    [
        ("accepted", []),
        ({"status": 400}, [400]),
        ({"limit": 4, "refusal": {"status": 422}}, [422]),
        ([{"when": [], "verdict": {"status": 400}}, {"when": [], "verdict": "ignored"}], [400]),
    ],
)
def test_every_refusal_in_a_claim_is_found(value: Any, statuses: list[int]) -> None:
    assert statuses == [each["status"] for each in refusals(value)]
