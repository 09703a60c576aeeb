"""List the gateways of this project, and show which are installed."""

import argparse
from typing import Any, Final

import orjson

from conformance.cli import _gateways
from conformance.reporting.text import printable_json

EXAMPLES: Final = """\
  conformance gateway list
  conformance gateway list --format json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    _gateways.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per gateway, or a JSON array of objects."""
    from conformance.gateways import definition
    from conformance.gateways.serving import is_installed

    folder = _gateways.folder(arguments)
    chosen = [definition.load(name, folder) for name in definition.names(folder)]
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "version": each.version,
            "installed": is_installed(each, _gateways.cache()),
            "fronts": list(each.fronts),
            "backs": list(each.backs),
            "title": each.title,
        }
        for each in chosen
    ]
    if arguments.format == "json":
        print(printable_json(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()))
        return 0
    width = max([len(f"{row['name']}@{row['version']}") for row in rows], default=0)
    for row in rows:
        here = "installed    " if row["installed"] else "not installed"
        ends = f"{', '.join(row['fronts'])} → {', '.join(row['backs'])}"
        print(f"{row['name'] + '@' + row['version']:{width}}  {here}  {ends}")
    return 0
