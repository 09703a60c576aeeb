"""List the adapters of this project and show which are installed."""

import argparse
from typing import Any, Final

import orjson

from conformance.adapters import install
from conformance.cli import _adapters
from conformance.reporting.text import printable_json

EXAMPLES: Final = """\
  conformance adapter list
  conformance adapter list --format json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    _adapters.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per adapter, or a JSON array of objects."""
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "version": each.version,
            "language": each.language,
            "protocol": each.protocol,
            "installed": install.is_installed(each),
            "providers": list(each.providers),
            "title": each.title,
        }
        for each in _adapters.definitions(_adapters.definitions_folder(arguments))
    ]
    if arguments.format == "json":
        print(printable_json(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()))
        return 0
    width = max([len(f"{row['name']}@{row['version']}") for row in rows], default=0)
    for row in rows:
        named = f"{row['name']}@{row['version']}".rstrip("@")
        here = "installed    " if row["installed"] else "not installed"
        print(f"{named:{width}}  {row['language']:6}  {row['protocol']:9}  {here}  {', '.join(row['providers'])}")
    return 0
