"""Claims in words: every value that the vocabulary allows can be said, and what must be exact stays so."""

from collections.abc import Iterator
from typing import Any

import pytest

from conformance import profiles
from conformance.reporting.matrix.sentences import meaning, refusals

NO_PLACE = {"status": 400, "message": "No."}


def exact(text: str) -> str:
    return f"<{text}>"


@pytest.mark.parametrize(
    ("claim", "value", "said"),
    [
        ("ids.format", "unknown", "not known"),
        ("results.missing", "upstream", "as the upstream that the request is routed to"),
        ("results.missing", "ignored", "ignored"),
        ("results.missing", NO_PLACE, "refused with 400: <No.>"),
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
        ("thinking.switches", [{"at": "/think", "equals": "on", "thinks": True}], '</think> is <"on">: it thinks'),
        ("thinking.preserve", [{"at": "/keep", "present": False, "keeps": False}], "</keep> is not there: it does not"),
        (
            "reasoning.response-field-switches",
            [{"at": "/x", "in": [1], "field": ["reasoning"]}],
            "</x> is one of <1>: <reasoning>",
        ),
        ("ids.input-max-length", {"limit": 40, "refusal": NO_PLACE}, "limit <40>; else refused with 400: <No.>"),
        ("request.unsupported-fields", [{"field": "n", "refusal": "ignored"}], "<n>: ignored"),
        (
            "request.conflicts",
            [{"when": [{"at": "/a"}, {"at": "/b", "not-in": ["c"]}], "verdict": NO_PLACE}],
            '</a> is there and </b> is none of <"c">: refused with 400: <No.>',
        ),
        (
            "thinking.fixed-parameters",
            [{"field": "top_p", "values": [1, 0.95], "thinks": True, "refusal": NO_PLACE}],
            "of <top_p> while it thinks only <1>, <0.95>; else refused with 400: <No.>",
        ),
    ],
)
def test_a_value_is_said_in_words(claim: str, value: Any, said: str) -> None:
    assert said == meaning(claim, value, exact)


def claims() -> Iterator[tuple[str, profiles.Claim]]:
    for name in profiles.names():
        profile = profiles.load(name)
        for histories in (profile.claims, *(model.claims for model in profile.models)):
            yield from ((name, claim) for history in histories.values() for claim in history)


def test_every_claim_of_every_profile_can_be_said_and_no_words_are_python() -> None:
    said = {f"{name} {claim.name}": meaning(claim.name, claim.value, lambda _text: "…") for name, claim in claims()}
    python = {"True", "False", "None"}
    assert [] == [name for name, words in said.items() if not words or python & {*words.split()} or "{'" in words]


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
