"""Check the sessions that agents left on this machine, and report what is broken in them.

Looks where Claude Code, Codex, opencode, Gemini CLI, Qwen Code, Cline, Roo Code, Kilo Code, Goose, pi and Zed keep
their sessions on Linux, macOS and Windows, and where their own variables (such as CLAUDE_CONFIG_DIR and CODEX_HOME)
point. Nothing is sent and no session is changed; secrets are not printed. The newest sessions come first, and what was
left out is counted.

Returns exit code 1 for findings of level MUST or SHOULD, and 5 if no session was found.
"""

import argparse
import os
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.arguments import positive
from conformance.errors import Unusable
from conformance.files.sessions import AgentReport, Extent, examine
from conformance.reporting.text import plural, printable, shorten
from conformance.terminal import ProgressLine

EXAMPLES: Final = """\
  conformance doctor
  conformance doctor --since 7                  # what was changed in the last week
  conformance doctor --home /mnt/backup/anna --format json"""

_HOME: Final = "look below this home folder only, and ignore the variables of agents (default: yours)"
_SECONDS: Final = 300
_DAY: Final = 86_400
_WIDTH: Final = 300
_NOTHING_CHECKED: Final = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--home", type=Path, metavar="DIR", help=_HOME)
    add("--since", type=positive, metavar="DAYS", help="only files that changed in this many days")
    add("--limit", type=positive, default=200, metavar="N", help="sessions to check of each agent (default: 200)")
    add("--format", choices=("text", "json"), default="text", help="text (default) or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the table; return 1 if a session is broken, 5 if there is none to check."""
    home = arguments.home or Path.home()
    if not home.is_dir():
        raise Unusable(f"expected a folder, got {home}")
    since = time.time() - arguments.since * _DAY if arguments.since else 0.0
    progress = ProgressLine(report_at_end=True)
    try:
        environment = {} if arguments.home else dict(os.environ)
        bounds = Extent(arguments.limit, _SECONDS, since)
        reports = list(examine(home, environment, bounds, progress.show))
    finally:
        progress.clear()
    shown = _json(reports) if arguments.format == "json" else "\n".join(_text(reports))
    # Imported here because the help needs none of it.
    from conformance.secrets import scrubber

    # Sessions quote files.
    print(scrubber().text(shown))
    if not any(report.sessions for report in reports):
        return _NOTHING_CHECKED
    return int(any(report.broken for report in reports))


def _json(reports: Sequence[AgentReport]) -> str:
    agents: list[dict[str, Any]] = [
        {
            "agent": report.agent,
            "title": report.title,
            "sessions": report.sessions,
            "exchanges": report.exchanges,
            "broken": report.broken,
            "findings": dict(report.findings.most_common()),
            "worst": report.worst,
            "left_out": dict(report.unread),
        }
        for report in reports
    ]
    return orjson.dumps({"agents": agents}, option=orjson.OPT_INDENT_2).decode()


def _text(reports: Sequence[AgentReport]) -> Iterator[str]:
    if not reports:
        yield "no sessions of agents found"
        return
    width = max(len(report.title) for report in reports)
    yield f"{'agent':{width}}  sessions  broken  findings"
    for report in reports:
        found = ", ".join(f"{rule} ({count})" for rule, count in report.findings.most_common()) or "none"
        yield f"{report.title:{width}}  {report.sessions:8,}  {report.broken:6,}  {found}"
    for report in reports:
        yield from _worst(report)
    for report in reports:
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in sorted(report.unread.items()))
        if left_out:
            yield f"left out, files of {report.title}: {printable(left_out)}"
    total = sum(report.sessions for report in reports)
    broken = sum(report.broken for report in reports)
    yield f"{plural(total, 'session')}, {broken} broken; nothing was sent, and no session was changed"


def _worst(report: AgentReport) -> Iterator[str]:
    for number, finding in enumerate(report.worst):
        if not number:
            yield f"\n{report.title}"
        yield f"  {printable(finding['place'])}: {finding['rule']} {finding['level']} at {printable(finding['at'])}"
        yield f"    {printable(shorten(finding['message'], _WIDTH))}"
        if finding["fix"]:
            yield textwrap.indent(textwrap.fill(f"fix: {finding['fix']}", 110), "    ")
