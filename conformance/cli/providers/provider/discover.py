"""Ask an endpoint that no profile describes, and write the profile of what it answers.

The URL may be that of a host, a base URL, or that of a whole request: the usual prefixes (/v1, /openai/v1, /v1beta and
others) and each wire are tried, and the first that gives a reply is taken.

It plays every scenario and probe, plain and streamed, and looks for switches that turn thinking on or off. What it is
going to send is printed first. Each claim names the exchange that shows it; what could not be determined is unknown.
The exchanges are written beside the profile, without secrets, as `conformance check` and `conformance provider watch`
read them.

Returns exit code 1 if the endpoint breaks rules that no claim covers, and 2 if a model gives no chat completions.
"""

import argparse
import os
import re
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from conformance import artifacts, profiles
from conformance.arguments import add_header, add_times, positive
from conformance.errors import Unusable
from conformance.reporting.text import plural, printable
from conformance.terminal import ProgressLine, print_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.discovery.discovering import Discovery
    from conformance.discovery.interview import Interview
    from conformance.secrets import Scrubber
    from conformance.suite.rehearsal import Plan

EXAMPLES: Final = """\
  conformance provider discover http://127.0.0.1:8000 --out my-server.yaml
  conformance provider discover https://gateway.example/v1 --protocol messages --out my-gateway.yaml
  conformance provider discover https://gateway.example --key-env GATEWAY_KEY --model m --yes
  pytest --provider=./my-gateway.yaml --base-url https://gateway.example/v1"""

_PROTOCOL: Final = "the wire to ask it on (default: the first that gets a reply: chat, gemini, messages, responses)"
_REQUESTS: Final = 600
_VARIABLE: Final = re.compile("[A-Z][A-Z0-9_]*")
_SHOWN: Final = 12


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("url", metavar="URL", help="where the endpoint is; usual prefixes such as /v1 are tried")
    add_header(parser)
    add("--protocol", metavar="NAME", default="", help=_PROTOCOL)
    add(
        "--model",
        metavar="MODEL",
        action="append",
        default=[],
        help="a model to ask; repeatable (default: the only one)",
    )
    add("--key-env", metavar="VAR", default="", help="the environment variable that holds the API key")
    add("--out", metavar="FILE", type=Path, help="where to write the profile (default: standard output)")
    add("--yes", action="store_true", help="send the requests without asking first")
    add("--max-requests", metavar="N", type=positive, default=_REQUESTS, help=f"for each model (default: {_REQUESTS})")
    add_times(parser, "all models")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan, ask the endpoint, write the profile, and print what was found."""
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.discovery import reaching
    from conformance.secrets import scrubber
    from conformance.suite.options import check_base_url, headers_of
    from conformance.transport.client import Client, Endpoint
    from conformance.wires import NAMES, by_name

    url = arguments.url.rstrip("/")
    check_base_url(url, "URL")
    wires = (by_name(arguments.protocol).name,) if arguments.protocol else NAMES
    _check_target(arguments.out)
    key = _key(arguments.key_env)
    headers = headers_of(arguments.header)
    secrets = scrubber([key, *[value for _, value in headers]], [url])
    models = arguments.model
    if not models:
        listed = reaching.models(reaching.bases(url), wires[0], key, headers, arguments.request_timeout)
        models = [reaching.only_model([printable(name) for name in listed], url)]
    _show_plan(models, arguments, wires[0])
    _confirm(arguments)
    until = time.monotonic() + arguments.max_time
    endpoint = Endpoint(url, key, arguments.request_timeout, scrubber=secrets, headers=headers)
    place = reaching.reach(lambda each: Client(each, until=until), endpoint, models[0], wires)
    if place.base_url != url or not arguments.protocol:
        print(secrets.text(f"the API is at {_safe_url(place.base_url)}, wire {place.wire}"), file=sys.stderr)
    endpoint = replace(endpoint, base_url=place.base_url, wire=place.wire)
    with Client(endpoint, until=until) as client:
        found, sessions, failed = _all_discovered(client.send, models, arguments.max_requests, place.wire)
    _write(arguments, place.base_url, found, sessions, secrets)
    for line in failed:
        print_error(secrets.text(line))
    return 2 if failed else int(any(each.broken for each in found))


def _all_discovered(
    ask: Any, models: "Sequence[str]", limit: int, wire: str
) -> "tuple[list[Discovery], list[Interview], list[str]]":
    """Return what is found of each model, its requests, and why others gave nothing; the first must give something."""
    found: list[Discovery] = []
    sessions: list[Interview] = []
    failed: list[str] = []
    for model in models:
        try:
            session, discovery = _discovered(ask, model, limit, wire)
        except Unusable as error:
            if not found:
                raise
            failed.append(f"{model}: {error}")
            continue
        sessions.append(session)
        found.append(discovery)
    return found, sessions, failed


def _write(
    arguments: argparse.Namespace,
    url: str,
    found: "Sequence[Discovery]",
    sessions: "Sequence[Interview]",
    secrets: "Scrubber",
) -> None:
    """Write the profile and its exchanges, and print what was found."""
    from conformance.discovery.writing import profile_text

    today, out = datetime.now(UTC).date().isoformat(), arguments.out
    text = secrets.text(profile_text(_title(out, url), _safe_url(url), arguments.key_env, found, today))
    if out is None:
        print(text, end="")
    else:
        artifacts.write(out, text)
        _write_exchanges(out.with_suffix(".exchanges.jsonl"), sessions, today, secrets)
        profiles.load_profile(out)
    for line in _report(found, sessions):
        print(printable(secrets.text(line)), file=sys.stderr if out is None else sys.stdout)
    if out is not None:
        print(f"wrote {out}")


def _check_target(out: Path | None) -> None:
    """Raise Unusable before anything is sent if the profile could not be written or not be used."""
    if out is None:
        return
    if not profiles.is_path(out.name):
        raise Unusable(f"--out {out}: expected a name that ends in .yaml")
    if out.stem in profiles.names():
        raise Unusable(f"--out {out}: {out.stem!r} is the name of a shipped profile; take another one")
    if out.exists():
        raise Unusable(f"--out {out}: the file exists; remove it, or write to another one")


def _key(variable: str) -> str:
    if variable and not _VARIABLE.fullmatch(variable):
        raise Unusable(f"--key-env {variable}: expected a name of capital letters, digits and underscores")
    if variable and not os.environ.get(variable):
        raise Unusable(f"--key-env {variable}: the variable is not set")
    return os.environ[variable] if variable else ""


def _safe_url(url: str) -> str:
    from conformance.secrets.urls import shown_url

    return shown_url(url)


def _title(out: Path | None, url: str) -> str:
    return out.stem if out is not None else (urlsplit(url).hostname or "discovered")


def _show_plan(models: "Sequence[str]", arguments: argparse.Namespace, wire: str) -> None:
    """Print what is going to be sent; the number depends on the answers, so it is at most the limit."""
    from conformance.discovery.shipped import known_switches

    planned = _planned(wire)
    further = 8 + max(len(known_switches(name, wire)) for name in ("thinking.on", "thinking.off"))
    few = planned.requests + further
    print(
        f"plan: every scenario and probe, plain and streamed: about {few} requests for each of "
        f"{plural(len(models), 'model')} ({', '.join(map(printable, models))}), at most {arguments.max_requests}, "
        f"with about {planned.tokens * few // max(1, planned.requests):,} tokens; replies are limited to "
        f"{planned.reply_tokens:,} tokens each; "
        f"it ends after {arguments.max_time:g} seconds at the latest (--max-time)",
        file=sys.stderr,
    )


@cache
def _planned(wire: str) -> "Plan":
    """Return what the scenarios alone would send to an endpoint that accepts everything, and whose model thinks."""
    from conformance.discovery.exploring import all_cases
    from conformance.discovery.wires import profile_of
    from conformance.suite.rehearsal import plan

    return plan(profile_of({"thinking.mode": "default-on"}, wire), "model", all_cases())


def _confirm(arguments: argparse.Namespace) -> None:
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        message = "nothing was sent; add --yes to send these requests"
        raise Unusable(message)
    print("send them? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        message = "nothing was sent"
        raise Unusable(message)


def _discovered(ask: Any, model: str, limit: int, wire: str) -> "tuple[Interview, Discovery]":
    from conformance.discovery.discovering import discover
    from conformance.discovery.interview import Interview

    progress = ProgressLine(report_at_end=True)
    session = Interview(ask, limit, log=lambda sent: progress.show(f"{model}: {sent} requests"), wire=wire)
    try:
        return session, discover(session, model)
    finally:
        progress.clear()


def _write_exchanges(path: Path, sessions: "Sequence[Interview]", day: str, secrets: "Scrubber") -> None:
    from conformance.discovery.recording import write_exchanges

    write_exchanges(path, [each for session in sessions for each in session.exchanges], day, secrets)


def _report(found: "Sequence[Discovery]", sessions: "Sequence[Interview]") -> "Iterator[str]":
    from conformance.discovery.shipped import nearest
    from conformance.observations.collected import values

    for each, session in zip(found, sessions, strict=True):
        yield f"{each.model}: {plural(len(each.claims), 'claim')} from {plural(session.sent, 'request')}"
        like = nearest(values(each.claims), each.wire)
        yield (
            f"  most like the profile {like.provider} ({like.model}): {plural(len(like.same), 'claim')} the same, "
            f"{len(like.different)} different"
        )
        yield from (f"    different: {name}" for name in like.different[:_SHOWN])
        if len(like.different) > _SHOWN:
            yield f"    and {len(like.different) - _SHOWN} more: `conformance provider diff {like.provider} FILE`"
        yield from _by_reason("could not be determined", {name: (why, name) for name, why in each.open.items()})
        yield from _by_reason(
            "not played to its end", {case: (_cause(why), case) for case, why in each.skipped.items()}
        )
        yield from (f"  breaks a rule: {line}" for line in each.broken)


def _by_reason(title: str, found: "Mapping[str, tuple[str, str]]") -> "Iterator[str]":
    """Yield each reason once, with all that has it: one cause may end every scenario."""
    reasons: dict[str, list[str]] = {}
    for why, name in sorted(found.values()):
        reasons.setdefault(why, []).append(name)
    if reasons:
        yield f"  {title}:"
    for why, names in reasons.items():
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield f"    {', '.join(names[:_SHOWN])}{more}: {why}"


def _cause(note: str) -> str:
    """Return why a scenario ended, without the turn, which is not the same in all that ended so."""
    return re.sub(r"^ended at turn \d+: ", "", note)
