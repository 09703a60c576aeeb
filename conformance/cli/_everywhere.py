"""`check --everywhere`: what every known provider does with the requests of some files."""

import argparse
from collections.abc import Iterator

from conformance import rules
from conformance.errors import Unusable
from conformance.files import files_of
from conformance.files.everywhere import Everywhere, HostVerdict, everywhere
from conformance.formats import read_path
from conformance.reporting.everywhere import json, text
from conformance.secrets import scrubber
from conformance.terminal import painter

_FORMATS = ("console", "json")


def run(arguments: argparse.Namespace, provider: str) -> int:
    """Print the table of each input; return 1 if a provider refuses it or its reply is lost, 5 if there is none."""
    if provider or arguments.output or arguments.format not in _FORMATS:
        message = "--everywhere asks all providers, and prints console or json: omit --provider, --output and --format"
        raise Unusable(message)
    found = _found(arguments)
    paint, secrets = painter(), scrubber()
    if arguments.format == "json":
        every = list(found)
        print(secrets.text(json(every)), end="")
    else:
        every = []
        for each in found:
            print(secrets.text("\n".join(text(each, paint))))
            every.append(each)
    if not every:
        raise Unusable("nothing was checked: no input holds a request")
    broken = (HostVerdict.REFUSED, HostVerdict.LOST)
    return int(any(answer.verdict in broken for each in every for answer in each.answers))


def _found(arguments: argparse.Namespace) -> Iterator[Everywhere]:
    chosen = rules.select(tuple(arguments.rule)) if arguments.rule else rules.load()
    for path in arguments.paths:
        for file in files_of(path):
            for given in read_path(file.path):
                found = everywhere(given, chosen, arguments.as_of or "")
                if found is not None:
                    yield found
