"""What a release is published with: the version of its tag, and its section of the changelog."""

import pytest

from tests.checks.release import notes

CHANGELOG = """# Changelog

## Unreleased

Later.

## 1.2.3 (2026-01-02)

- New.

### Fixed

- Old.

## 1.2.0

## 1.1.0

First.
"""


def test_the_text_of_a_release_is_its_section_of_the_changelog() -> None:
    assert "- New.\n\n### Fixed\n\n- Old." == notes("v1.2.3", "1.2.3", CHANGELOG)
    assert "First." == notes("v1.1.0", "1.1.0", CHANGELOG)


def test_a_tag_of_another_version_and_a_missing_or_empty_section_are_errors() -> None:
    for tag, version, words in (
        ("v1.2.4", "1.2.3", "expected the tag v1.2.3"),
        ("1.2.3", "1.2.3", "got 1.2.3"),
        ("v1.2.0", "1.2.0", "or an empty one"),
        ("v1.2", "1.2", "no section '## 1.2'"),
        ("v1x2.3", "1x2.3", "no section"),
    ):
        with pytest.raises(ValueError, match=words):
            notes(tag, version, CHANGELOG)
