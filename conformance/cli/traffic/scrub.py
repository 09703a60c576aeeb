"""Remove secrets from a recording or a log, so that it can be attached to a bug report.

IN is a text file that `check` reads: a cassette, a HAR file, JSON Lines, an event stream, the output of curl, an export
or log of another tool, also with .gz; or a folder of these. Removed are keys by their shape, values of headers of
requests but those that are known to hold none, members, parameters and options whose names say that they are secrets,
user and password of URLs, and the queries of signed URLs; and each of these wherever else the file has it, in whatever
encoding. Equal secrets get equal placeholders and others different ones, so that the result is checked with the same
findings; the command verifies that. Read the result before you publish it: names of people and what was said stay.

Prints how many secrets of which kind were removed from which place, and never the secret. Binary files, such as SQLite
databases and Parquet, are rejected. The exit code is 1 if the result is checked with other findings.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.errors import ConformanceError, Unusable
from conformance.reporting.text import plural, printable
from conformance.terminal import print_error

if TYPE_CHECKING:
    pass

EXAMPLES: Final = """\
  conformance scrub traffic.har -o shared.har
  conformance scrub session.jsonl.gz -o session-shared.jsonl.gz
  conformance scrub cassettes/ -o shared/
  curl -v … 2>&1 | conformance scrub - -o call.txt"""

_STDIN: Final = "-"
_LINES: Final = 40


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("input", metavar="IN", help="a file, a folder, or - for standard input")
    parser.add_argument("-o", "--to", type=Path, metavar="OUT", required=True, help="the file or the folder to write")


def run(arguments: argparse.Namespace) -> int:
    """Write what is left, and print what was removed; return 1 if a result is checked with other findings."""
    # Imported here because --help needs none of it.
    from conformance import artifacts
    from conformance.files.scrubbing import differences, scrub_file

    removed: Counter[tuple[str, str]] = Counter()
    unread = written = problems = 0
    for source, target in _pairs(arguments.input, arguments.to):
        try:
            data = sys.stdin.buffer.read() if source is None else source.read_bytes()
            found = scrub_file(data, str(source or _STDIN))
        except ConformanceError as error:
            if source is None or not Path(arguments.input).is_dir():
                raise
            print_error(f"{error}; it was left out")
            problems += 1
            continue
        artifacts.write(target, found.data, private=True)
        written += 1
        removed += found.removed
        unread += found.unread
        if found.removed and (rules := differences(data, found.data, str(source or _STDIN))):
            print_error(f"{target} is checked with other findings than {source or 'the input'}: {', '.join(rules)}")
            problems += 1
    if not written:
        raise Unusable(f"{arguments.input} has no file that could be scrubbed")
    print("\n".join(_summary(removed, unread, written)))
    return int(problems > 0)


def _pairs(given: str, to: Path) -> Iterator[tuple[Path | None, Path]]:
    """Yield the files to read, None for standard input, each with the file to write."""
    # Imported here because --help needs none of it.
    from conformance.secrets import Scrubber

    source = Path(given)
    if given == _STDIN:
        yield None, to
    elif source.is_dir():
        secrets = Scrubber()
        for path in sorted(source.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield path, to.joinpath(*[secrets.name(part) for part in path.relative_to(source).parts])
    elif source.is_file():
        yield source, to
    else:
        raise Unusable(f"expected a file or a folder, got {given}")


def _summary(removed: Counter[tuple[str, str]], unread: int, written: int) -> Iterator[str]:
    for (kind, place), count in removed.most_common(_LINES):
        yield printable(f"{count:5}  {kind}{f'  at {place}' if place else ''}")
    if len(removed) > _LINES:
        yield f"       and {len(removed) - _LINES} further places"
    if unread:
        yield f"{plural(unread, 'value')} that is packed or binary was not read; look at what it holds"
    total = sum(removed.values())
    yield f"{plural(total, 'secret')} removed, {plural(written, 'file')} written; findings are the same"
