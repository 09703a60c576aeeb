"""The actions of `conformance adapter` and their arguments."""

import argparse
import os

from conformance.arguments import add_action


def configure_actions(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their arguments."""
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=argparse.ArgumentParser
    )
    listing = add_action(actions, "list", "list the adapters of this project and show which are installed")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    install = add_action(actions, "install", "create an adapter's environment, optionally for another version")
    install.add_argument("names", metavar="ADAPTER[@VERSION]", nargs="+", help="see `conformance adapter list`")
    _configure_run(add_action(actions, "run", "run the scenarios with one adapter and one provider"))
    _configure_matrix(add_action(actions, "matrix", "run the scenarios with all adapters and all their providers"))
    _configure_issue(add_action(actions, "issue", "print a bug report about a rule that an adapter breaks"))
    for action in actions.choices.values():
        action.add_argument("--adapters", metavar="DIR", default="", help="use the adapter definitions in DIR")


def _configure_run(run: argparse.ArgumentParser) -> None:
    add = run.add_argument
    add("name", metavar="ADAPTER[@VERSION]", nargs="?", default="", help="an adapter of this project")
    add("--driver", metavar="COMMAND", default="", help="the command that runs your own driver, in quotes")
    add(
        "--provider",
        metavar="PROVIDER",
        default="",
        help="the provider (see `conformance list providers`), or the path of a profile",
    )
    add(
        "--model", metavar="MODEL", default="", help="the model to request (default: the adapter's, else the profile's)"
    )
    add(
        "--protocol",
        metavar="WIRE",
        default="",
        help="with --driver, the API that it speaks: chat, messages, responses, gemini (default: the profile's first)",
    )
    add("--variant", choices=("plain", "stream"), help="request only plain or only streamed replies")
    add(
        "--env",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help="pass this variable to the driver; repeatable",
    )
    add("--strict", action="store_true", help="reject what the provider rejects, instead of only recording it")
    add("--keep", metavar="DIR", default="", help="write the exchanges of each case to DIR, for `conformance check`")
    baseline = run.add_mutually_exclusive_group()
    baseline.add_argument(
        "--baseline", metavar="FILE", default="", help="expected failures: they pass, and it fails if they are fixed"
    )
    baseline.add_argument(
        "--write-baseline", metavar="FILE", default="", help="write the failures of this run to a new baseline"
    )
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--all", action="store_true", help="show all findings, including MAY")
    _configure_cases(run, "write the results to DIR/<name>.<provider>.json")


def _configure_matrix(matrix: argparse.ArgumentParser) -> None:
    add = matrix.add_argument
    add("--only", metavar="ADAPTER", action="append", default=[], help="only adapters that match this glob; repeatable")
    add("--resume", action="store_true", help="skip completed runs found in DIR")
    _configure_cases(
        matrix, "where to write the results (default: reports/results/adapters; required outside a checkout)"
    )


def _configure_issue(issue: argparse.ArgumentParser) -> None:
    add = issue.add_argument
    add("name", metavar="ADAPTER[@VERSION]", help="an adapter of this project or of your results")
    add("--rule", metavar="RULE", required=True, help="the rule that it breaks")
    add("--version", metavar="V", default="", help="the version of the adapter, as in ADAPTER@V")
    add(
        "--provider",
        metavar="PROVIDER",
        default="",
        help="the provider, or the file of its profile (default: that with the smallest case)",
    )
    add("--results", metavar="DIR", default="", help="results to report from (default: those of this project)")
    add("--run", action="store_true", help="run the adapter now, and report what it does")
    add("--install", action="store_true", help="with --run, install the adapter if it is not installed")
    add("--scenario", metavar="SCENARIO", action="append", default=[], help="with --run, only these scenarios")
    add("--seconds", metavar="N", type=float, help="with --run, the timeout of a case")


def _configure_cases(action: argparse.ArgumentParser, results: str) -> None:
    add = action.add_argument
    add("--scenario", metavar="SCENARIO", action="append", default=[], help="only scenarios that match; repeatable")
    add("--install", action="store_true", help="install adapters that are not installed")
    add("--results", metavar="DIR", default="", help=results)
    add("--seconds", metavar="N", type=float, help="timeout of a case (default: the adapter's own, else 60)")
    add(
        "--jobs",
        metavar="N",
        type=int,
        default=os.cpu_count() or 1,
        help="drivers to run at once (default: one per CPU)",
    )
