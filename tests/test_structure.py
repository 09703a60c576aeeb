"""The structure of the package: one meaning per name."""

import re
from collections import defaultdict
from pathlib import Path

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
