"""A session is judged by what is new in it, with the outcomes that each request would have by itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance import Exchange, load_profile, rules
from conformance.files.recognition import chosen_profile
from conformance.formats import read_path
from conformance.formats.inputs import Input
from conformance.judge import judge, judge_apart
from conformance.profiles import Profile
from tests.drawn_sessions import PROVIDERS, drawn
from tests.loops import every

BLOCK = 40
SESSIONS = 400
ALL_SESSIONS = 10_000


def assert_same(conversation: Sequence[Exchange], profile: Profile | None, name: Any) -> None:
    """Assert that judging what is new finds the same as judging all: rule, level, pointer, words, counts, order."""
    every_rule = rules.of_traffic()
    one = judge(tuple(conversation), profile, every_rule).outcomes()
    other = judge_apart(tuple(conversation), profile, every_rule).outcomes()
    # `repr`, because some fields of a finding do not count when two are compared.
    differing = [
        (name, repr(this), repr(that)) for this, that in zip(one, other, strict=True) if repr(this) != repr(that)
    ]
    assert [] == differing


def _profile(seed: int) -> Profile | None:
    name = PROVIDERS[seed % len(PROVIDERS)]
    return None if name is None else load_profile(name)


def _conversations(path: Path) -> list[Input]:
    """Return the sessions of a file, and all its exchanges in blocks as if they were one."""
    found = [each for each in read_path(path) if each.problem is None and each.conversation]
    whole = [exchange for each in found for exchange in each.conversation]
    blocks = [Input(str(path), at, "exchanges", tuple(whole[at : at + BLOCK])) for at in range(0, len(whole), BLOCK)]
    return [*[each for each in found if len(each.conversation) > 1], *blocks]


def test_drawn_sessions_have_the_outcomes_of_judging_each_request_from_scratch() -> None:
    for seed in range(SESSIONS):
        assert_same(list(drawn(seed)), _profile(seed), seed)


@pytest.mark.exhaustive
def test_ten_thousand_drawn_sessions_have_the_outcomes_of_judging_each_request_from_scratch() -> None:
    for seed in range(SESSIONS, ALL_SESSIONS):
        assert_same(list(drawn(seed)), _profile(seed), seed)


def test_recorded_sessions_have_the_outcomes_of_judging_each_request_from_scratch(shared: Path) -> None:
    for given in _conversations(shared / "recordings" / "sessions.jsonl.gz")[::6]:
        assert_same(given.conversation, chosen_profile(given, "auto"), (given.path, given.line))


@pytest.mark.exhaustive
@every("folder", ["recordings", "captures"])
def test_all_recordings_have_the_outcomes_of_judging_each_request_from_scratch(folder: str, shared: Path) -> None:
    for path in sorted((shared / folder).glob("*.jsonl.gz")):
        for given in _conversations(path):
            for provider in ("none", "auto", "deepseek"):
                assert_same(given.conversation, chosen_profile(given, provider), (path.name, given.line, provider))
