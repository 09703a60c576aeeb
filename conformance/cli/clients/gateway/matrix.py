"""Run all gateways of this project with all their fronts and backs, and write the tables of all results.

They are reports/gateways.md, and reports/gateways.html with the four bodies of each cell; with --results DIR, they are
in DIR.
"""

import argparse
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from conformance import artifacts
from conformance.cli import _gateways
from conformance.errors import ConformanceError, UnknownName
from conformance.resources import checkout_folder
from conformance.terminal import painter, print_error

EXAMPLES: Final = """\
  conformance gateway matrix --install
  conformance gateway matrix --only portkey --back deepseek --resume"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--only", metavar="GATEWAY", action="append", default=[], help="only gateways that match this glob; repeatable")
    add("--front", metavar="WIRE", action="append", default=[], help="only this front; repeatable")
    add("--back", metavar="PROVIDER", action="append", default=[], help="only this back; repeatable")
    add("--install", action="store_true", help="install gateways that are not installed")
    add("--resume", action="store_true", help="skip runs whose results are in DIR already")
    add(
        "--page",
        action="store_true",
        help="only write the tables of the results in DIR (gateways.md, gateways.html) again",
    )
    add(
        "--results",
        metavar="DIR",
        default="",
        help="where to write the results (default: reports/results/gateways; required outside a checkout)",
    )
    _gateways.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per run; return 1 if something is lost at MUST, and 2 if a gateway could not be run."""
    if arguments.results:
        target = Path(arguments.results)
    else:
        target = checkout_folder("reports", "--results DIR is required") / "results" / "gateways"
    with artifacts.locked(target):
        code = 0 if arguments.page else _run_all(target, arguments)
        _write_page(target, target.parent.parent if not arguments.results else target)
        return code


def _write_page(target: Path, folder: Path) -> None:
    """Write the tables of all results in a folder."""
    from conformance.gateways import definition
    from conformance.reporting.renderers import gateways, gateways_html
    from conformance.results.files import read

    many = [read(path, []) for path in sorted(target.glob("*.json"))]
    if many:
        chosen = [definition.load(name) for name in definition.names()]
        issues = {f"{each.name}@{each.version}": each.issues for each in chosen}
        notes = {f"{each.name}@{each.version}": each.note for each in chosen}
        for name, renderer in (("gateways.md", gateways), ("gateways.html", gateways_html)):
            artifacts.write(folder / name, renderer.render(many, definition.unable(), issues, notes))


def _run_all(target: Path, arguments: argparse.Namespace) -> int:
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.gateways import definition
    from conformance.reporting.renderers import gateway
    from conformance.results.files import path, write
    from conformance.results.runs import Results

    folder, codes, failed = _gateways.folder(arguments), [], 0
    known = definition.names(folder)
    for glob in arguments.only:
        if not any([fnmatchcase(name, glob) for name in known]):
            raise UnknownName("gateway", glob, known)
    for name in [each for each in known if not arguments.only or any([fnmatchcase(each, g) for g in arguments.only])]:
        chosen = definition.load(name, folder)
        for front, back in chosen.ends():
            if (arguments.front and front not in arguments.front) or (arguments.back and back not in arguments.back):
                continue
            plan = _gateways.plan(f"{chosen.name}@{chosen.version}", front, back, ())
            profile = definition.profile_of(back).name
            if arguments.resume and path(target, Results(plan.subject, "", (), profile)).is_file():
                print(f"{plan.subject} with {back}: skipped, completed before")
                continue
            try:
                found = _gateways.run_shipped(chosen, plan, install=arguments.install)
            except ConformanceError as error:
                print_error(f"{plan.subject} with {back}: {error}")
                failed += 1
                continue
            write(target, found.results)
            codes.append(gateway.exit_code(found.results))
            print(gateway.line(found.results, painter()), flush=True)
    return 2 if failed else max(codes, default=0)
