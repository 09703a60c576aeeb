"""The structure of the package: one meaning per name."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

import conformance

PACKAGE = Path(conformance.__file__).parent
DRIVERS = PACKAGE / "adapters" / "sdks"
"""Drivers are programs of their own, which do not import each other."""


def test_each_class_name_has_one_meaning() -> None:
    files = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        if not path.is_relative_to(DRIVERS):
            for name in re.findall(r"^ *class (\w+)", path.read_text("utf-8"), re.MULTILINE):
                files[name].append(path.relative_to(PACKAGE).as_posix())
    several = {name: sorted(found) for name, found in files.items() if len(found) > 1}
    assert {} == several


def test_a_plain_run_leaves_out_the_files_that_are_slow_as_a_whole_and_no_others(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import pytest_ignore_collect")
    slow, raising = "import pytest\npytestmark = pytest.mark.slow\n", "raise RuntimeError\n"
    pytester.makepyfile(test_whole=slow + raising, test_part="def test_here() -> None: ...")
    pytester.makeini("[pytest]\nmarkers = slow\n")
    pytester.runpytest("-p", "no:cacheprovider", "-m", "not exhaustive and not slow").assert_outcomes(passed=1)
    pytester.runpytest("-p", "no:cacheprovider", "-m", "not exhaustive").assert_outcomes(errors=1)
    pytester.runpytest("-p", "no:cacheprovider", "-m", "not slow", "test_whole.py").assert_outcomes(errors=1)
