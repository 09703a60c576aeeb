"""The tag of a release names the version of the package, and the changelog has a section about it.

python -m tests.checks.release v1.2.3

Prints the section. The version is not made from the tag, because cassettes and results name the one they are
made with.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def notes(tag: str, version: str, changelog: str) -> str:
    """Return the section of a changelog about a version; raises ValueError if it, or the tag, does not fit."""
    if tag != f"v{version}":
        message = f"expected the tag v{version}, the version of pyproject.toml, got {tag}"
        raise ValueError(message)
    found = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if found is None or not found[1].strip():
        message = f"CHANGELOG.md has no section '## {version}', or an empty one"
        raise ValueError(message)
    return found[1].strip()


def main() -> int:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    try:
        print(notes(sys.argv[1], version, (ROOT / "CHANGELOG.md").read_text("utf-8")))
    except ValueError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
