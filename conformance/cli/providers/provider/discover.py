"""Ask an endpoint that no profile describes, and write the profile of what it answers.

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
from conformance.wire.native import CHAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.discovery.discovering import Discovery
    from conformance.discovery.interview import Interview
    from conformance.secrets import Scrubber
    from conformance.suite.rehearsal import Plan

EXAMPLES: Final = """\
  conformance provider discover --base-url http://127.0.0.1:8000/v1 --out my-server.yaml
  conformance provider discover --base-url https://gateway.example/v1 --protocol messages --out my-gateway.yaml
  conformance provider discover --base-url https://gateway.example/v1 --key-env GATEWAY_KEY --model m --yes
  pytest --provider=./my-gateway.yaml --base-url https://gateway.example/v1"""

_PROTOCOL: Final = "the wire that the endpoint speaks: chat (default), or another one that the suites play"
_REQUESTS: Final = 600
_VARIABLE: Final = re.compile("[A-Z][A-Z0-9_]*")
_SHOWN: Final = 12


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--base-url", metavar="URL", required=True, help="the URL that the path of the wire is appended to")
    add_header(parser)
    add("--protocol", metavar="NAME", default=CHAT, help=_PROTOCOL)
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
    import time

    from conformance.discovery.writing import profile_text
    from conformance.secrets import scrubber
    from conformance.suite.options import check_base_url, headers_of
    from conformance.transport.client import Client, Endpoint
    from conformance.wires import by_name

    url, wire = arguments.base_url.rstrip("/"), arguments.protocol
    check_base_url(url)
    by_name(wire)  # An unknown name is reported before anything is asked.
    _check_target(arguments.out)
    key = _key(arguments.key_env)
    headers = headers_of(arguments.header)
    secrets = scrubber([key, *[value for _, value in headers]], [url])
    models = arguments.model or _models(url, key, arguments.request_timeout, wire, headers)
    _show_plan(models, arguments, wire)
    _confirm(arguments)
    today = datetime.now(UTC).date().isoformat()
    found: list[Discovery] = []
    failed: list[str] = []
    sessions: list[Interview] = []
    endpoint = Endpoint(url, key, arguments.request_timeout, scrubber=secrets, wire=wire, headers=headers)
    with Client(endpoint, until=time.monotonic() + arguments.max_time) as client:
        for model in models:
            try:
                session, discovery = _discovered(client.send, model, arguments.max_requests, wire)
            except Unusable as error:
                if not found:
                    raise
                failed.append(f"{model}: {error}")
                continue
            sessions.append(session)
            found.append(discovery)
    text = secrets.text(profile_text(_title(arguments.out, url), _safe_url(url), arguments.key_env, found, today))
    if arguments.out is None:
        print(text, end="")
    else:
        artifacts.write(arguments.out, text)
        _write_exchanges(arguments.out.with_suffix(".exchanges.jsonl"), sessions, today, secrets)
        profiles.load_profile(arguments.out)
    for line in _report(found, sessions):
        print(printable(secrets.text(line)), file=sys.stderr if arguments.out is None else sys.stdout)
    if arguments.out is not None:
        print(f"wrote {arguments.out}")
    for line in failed:
        print_error(secrets.text(line))
    return 2 if failed else int(any(each.broken for each in found))


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


def _models(url: str, key: str, timeout: float, wire: str, headers: "Sequence[tuple[str, str]]") -> list[str]:
    """Return the only model that an endpoint lists; raises Unusable if there is not exactly one."""
    import httpx

    from conformance.wires import by_name

    sent = {**by_name(wire).headers(key), **dict(headers)}
    try:
        reply = httpx.get(f"{url}/models", headers=sent, timeout=min(timeout, 15.0))
        listed: Any = reply.json() if len(reply.content) < 1_000_000 else None
    except (httpx.HTTPError, ValueError):
        listed = None
    entries = listed.get("data") if isinstance(listed, dict) else None
    names = [each["id"] for each in entries or () if isinstance(each, dict) and isinstance(each.get("id"), str)]
    if len(names) != 1:
        known = printable(f"; it lists {', '.join(names[:20])}") if names else "; it lists none"
        raise Unusable(f"--model is required, since {_safe_url(url)} does not list exactly one model{known}")
    return names


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
        if each.open:
            yield "  could not be determined:"
            yield from (f"    {name}: {why}" for name, why in sorted(each.open.items()))
        for case, why in sorted(each.skipped.items()):
            yield f"  not played to its end: {case}: {why}"
        for line in each.broken:
            yield f"  breaks a rule: {line}"
