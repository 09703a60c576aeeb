"""Run the cases of one front and one back through a gateway, and compare what passed.

Without a name, --base-url is the URL of a gateway that is running, configured for a provider at --upstream-port of this
machine. The exit code is 0 without a loss at MUST, else 1; 2 if the gateway cannot be run; 5 if no case was played.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.arguments import add_header
from conformance.cli import _gateways
from conformance.errors import Unusable
from conformance.terminal import ProgressLine, painter, print_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.baseline import Entry
    from conformance.gateways.plans import GatewayRun
    from conformance.results.runs import Results

EXAMPLES: Final = """\
  conformance gateway run portkey --front chat --back deepseek --install
  conformance gateway run --base-url http://127.0.0.1:4000 --front messages --back deepseek \\
      --upstream-port 9100 --header 'x-portkey-provider: openai'
  conformance gateway run portkey --front chat --back deepseek --scenario 'single/*' --write-baseline gateway.yaml"""

_NOTHING: Final = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("name", metavar="GATEWAY", nargs="?", default="", help="a gateway of this project")
    add("--base-url", metavar="URL", default="", help="the base URL of a gateway that is running")
    add(
        "--front",
        metavar="WIRE",
        required=True,
        help="the API that its client speaks: chat, messages, responses, gemini",
    )
    add(
        "--back",
        metavar="PROVIDER",
        required=True,
        help="the provider that is simulated behind it; with the API after a dot if not its first: openai.responses",
    )
    add("--upstream-port", metavar="PORT", type=int, default=0, help="with --base-url, the port of the provider")
    add_header(parser)
    add("--model", metavar="MODEL", default="", help="with --base-url, the model to ask for (default: the provider's)")
    add("--scenario", metavar="CASE", action="append", default=[], help="only cases that match this glob; repeatable")
    add("--install", action="store_true", help="install the gateway if it is not installed")
    add("--results", metavar="DIR", default="", help="write the results to DIR, with the four bodies of each loss")
    baseline = parser.add_mutually_exclusive_group()
    baseline.add_argument("--baseline", metavar="FILE", default="", help="expected failures: fail on any difference")
    baseline.add_argument("--write-baseline", metavar="FILE", default="", help="write the failures to a new baseline")
    add(
        "--allow-wide-baseline",
        action="store_true",
        help="accept a baseline that matches more than a tenth of the checks",
    )
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--all", action="store_true", help="show every finding, including SHOULD and MAY")
    _gateways.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    # Imported here and below because these modules load httpx, which --help does not need.
    from conformance.reporting.renderers import gateway
    from conformance.results.files import write
    from conformance.secrets import scrubber
    from conformance.suite.options import headers_of

    entries = _entries(arguments)
    found = _run(arguments)
    secrets = scrubber([value for _, value in headers_of(arguments.header)]) if arguments.header else None
    if arguments.results:
        write(Path(arguments.results), found.results, secrets)
    shown = "".join(gateway.render(found.results, painter(), every=arguments.all))
    if arguments.format == "json":
        shown = gateway.as_json(found.results)
    print(shown if secrets is None else secrets.text(shown), end="")
    for stray in found.strays[:3]:
        print_error(f"the gateway asked the provider for something else: {stray}")
    if not any([case.outcomes for case in found.results.cases]):
        return _NOTHING
    if arguments.write_baseline:
        return _write_baseline(found.results, Path(arguments.write_baseline))
    if arguments.baseline:
        return _compare(found.results, entries, arguments)
    return gateway.exit_code(found.results)


def _run(arguments: argparse.Namespace) -> "GatewayRun":
    from conformance.gateways import definition, plans
    from conformance.gateways.playing import Front
    from conformance.suite.options import check_base_url, headers_of

    if bool(arguments.name) is bool(arguments.base_url):
        raise Unusable("name a gateway (see `conformance gateway list`) or use --base-url, but not both")
    only = arguments.scenario
    if arguments.name:
        chosen = definition.load(arguments.name, _gateways.folder(arguments))
        back = chosen.back_behind(arguments.front, arguments.back)
        if back != arguments.back:
            print_error(f"{chosen.name} reaches {arguments.back} from its front {arguments.front} as {back}")
        plan = _gateways.plan(f"{chosen.name}@{chosen.version}", arguments.front, back, only)
        return _gateways.run_shipped(chosen, plan, install=arguments.install)
    check_base_url(arguments.base_url)
    if not arguments.upstream_port:
        raise Unusable("--upstream-port is required: the port of this machine that the gateway takes for its provider")
    plan = _gateways.plan(plans.UNNAMED, arguments.front, arguments.back, only)
    front = Front(arguments.base_url, arguments.front, arguments.model, headers=headers_of(arguments.header))
    return plans.run_at(plan, front, arguments.upstream_port, _gateways.on_case(ProgressLine()))


def _entries(arguments: argparse.Namespace) -> "Sequence[Entry]":
    """Return the entries of --baseline; raises Unusable before the run if a file is missing or would be replaced."""
    from conformance import baseline

    if arguments.write_baseline and Path(arguments.write_baseline).exists():
        raise Unusable(
            f"--write-baseline {arguments.write_baseline}: the file exists; remove it or choose another name"
        )
    if not arguments.baseline:
        return ()
    if not Path(arguments.baseline).is_file():
        raise Unusable(f"--baseline {arguments.baseline}: no such file; to create it, use --write-baseline")
    return baseline.load(Path(arguments.baseline), today=_gateways.today())


def _write_baseline(results: "Results", path: Path) -> int:
    from conformance import artifacts, baseline
    from conformance.adapters.summary import failures_as_entries
    from conformance.gate import check_results
    from conformance.gateways.loss import sources
    from conformance.reporting.text import plural

    entries = failures_as_entries(check_results(results), _gateways.today(), sources())
    artifacts.write(path, baseline.dump(entries))
    print_error(f"{plural(len(entries), 'failure')} written to {path}; replace each reason with why it is not fixed")
    return 0


def _compare(results: "Results", entries: "Sequence[Entry]", arguments: argparse.Namespace) -> int:
    from conformance.gate import check_results, check_subjects, evaluate
    from conformance.reporting.renderers.gate import render

    check_subjects([results], entries, arguments.baseline)
    if arguments.scenario:
        seen = check_results(results)
        entries = tuple([entry for entry in entries if any(entry.covers(result.names) for result in seen)])
    gate = evaluate([results], entries, _gateways.today(), allow_wide=arguments.allow_wide_baseline)
    print("".join(render(gate, painter())), end="", file=sys.stderr if arguments.format == "json" else sys.stdout)
    return 2 if gate.errored else int(not gate.passes)
