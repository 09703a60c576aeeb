"""Pass requests to a provider unchanged, and check a copy of each exchange.

Use the printed URL as the base URL of a client, or give a command after --, which gets OPENAI_BASE_URL,
ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL and the like. Paths, queries, headers and bodies pass as they are. Each
finding is printed as it is found, with the side that has to fix it; a summary follows at the end, on Ctrl-C or when the
command ends. The exit code is that of the command if it fails, and 5 if nothing was checked.

Keys pass to the provider, and are never stored or printed. With --tap twice, before and behind a gateway, what the
gateway loses is a finding with both places, findings of the rules name the party at fault, the fields that the gateway
changes are listed, and --record keeps both sides, that of the client in the folder tap-NAME.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from conformance import artifacts, profiles
from conformance.errors import Unusable
from conformance.terminal import is_terminal, print_error
from conformance.urls import is_url

if TYPE_CHECKING:
    from conformance.profiles import Profile
    from conformance.proxy.running import Tap

EXAMPLES: Final = """\
  conformance proxy --provider deepseek -- python my_agent.py
  conformance proxy --upstream http://localhost:8000 --provider vllm --port 4000
  conformance proxy --provider deepseek --record recordings/ --results results/
  conformance proxy --tap front:4001=http://localhost:4000 --tap back:4002=https://api.deepseek.com"""

_UPSTREAM: Final = "the URL of the provider; default: that of the profile"
_PROVIDER: Final = """\
check against this provider's claims, too (default: the provider that the upstream host belongs to, if there is one)"""
_TAP: Final = """\
listen at PORT (default: a free one) and pass to URL; give it twice, first for the requests of the client to a \
gateway, then for those of the gateway to the provider"""
_FAIL_ON: Final = "the lowest level of findings to return exit code 1 for (default: %(default)s)"
_OPEN: Final = "warning: anyone who can reach {host} can send requests through this proxy"
_TAPS: Final = 2
_TAP_FORM: Final = re.compile(r"(?P<name>[\w-]+)(?::(?P<port>\d{1,5}))?=(?P<url>.+)")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--upstream", metavar="URL", help=_UPSTREAM)
    add("--provider", metavar="PROVIDER", default="", help=_PROVIDER)
    add("--tap", metavar="NAME[:PORT]=URL", action="append", default=[], help=_TAP)
    add("--port", type=int, default=0, help="the port to listen on (default: a free one)")
    add("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1, loopback only)")
    add("--record", metavar="DIR", default="", help="write a cassette of each conversation, without keys")
    add("--results", metavar="DIR", default="", help="write the results, as `conformance report` reads them")
    add("--fail-on", choices=("must", "should", "never"), default="must", help=_FAIL_ON)
    add("--conversation-header", metavar="NAME", default="", help="the request header that identifies the conversation")
    add("--correlation-header", metavar="NAME", default="", help="the request header that a gateway passes on")
    add("command", nargs="*", metavar="-- COMMAND", help="run this command, and end when it ends")


def run(arguments: argparse.Namespace) -> int:
    """Run the proxy to its end."""
    # Imported here because aiohttp takes long to import, and --help does not need it.
    from conformance.proxy.running import ProxyPlan
    from conformance.proxy.running import run as run_proxy
    from conformance.proxy.variables import base_path, variables

    taps = _taps(arguments)
    profile = _profile(arguments, taps[-1].url)
    if arguments.results and profile is None:
        raise Unusable("--results needs --provider: results are those of a provider")
    path = base_path(taps[0].url, profile)

    def announce(urls: Sequence[str]) -> None:
        _announce(arguments, taps, [url + path for url in urls], profile)

    def environment(urls: Sequence[str]) -> Mapping[str, str]:
        named = {f"CONFORMANCE_TAP_{tap.name.upper()}": url for tap, url in zip(taps, urls, strict=True)}
        return {**variables(urls[0], path, profile), **(named if len(taps) > 1 else {})}

    settings = _settings(arguments, taps, profile)
    _check_targets(settings, taps[-1].url, profile)
    return run_proxy(ProxyPlan(taps, arguments.host, settings, announce, arguments.command, environment, print_error))


def _check_targets(settings: Mapping[str, Any], upstream: str, profile: "Profile | None") -> None:
    """Raise Unusable if what the run finds cannot be written: nobody must send traffic to learn that."""
    for folder in filter(None, (settings["record"], settings["results"])):
        artifacts.check_writable(Path(folder))
    if settings["results"] and profile is not None:
        artifacts.check_replaceable(Path(settings["results"], f"{profile.name}.json"))
    if settings["record"]:
        # Imported here because only a recording needs it.
        from conformance.proxy.tape import Tape

        with Tape(Path(settings["record"]), upstream, settings["folder"], settings["today"], print_error) as tape:
            artifacts.check_writable(tape.home)


def _taps(arguments: argparse.Namespace) -> "tuple[Tap, ...]":
    """Return the listening points; raises Unusable if the arguments do not say where requests go."""
    from conformance.proxy.running import Tap

    if arguments.tap:
        if len(arguments.tap) != _TAPS or arguments.upstream is not None or arguments.port:
            raise Unusable("--tap is given twice, and instead of --upstream and --port")
        taps = tuple([_tap(text) for text in arguments.tap])
        if taps[0].name.upper() == taps[1].name.upper():
            raise Unusable(f"expected two names for --tap, got {taps[0].name!r} twice")
        return taps
    url = arguments.upstream
    if url is None:
        if not arguments.provider:
            raise Unusable("--upstream or --provider is required")
        url = profiles.load_profile(arguments.provider).base_url
    return (Tap("", _checked(url), arguments.port),)


def _tap(text: str) -> "Tap":
    from conformance.proxy.running import Tap

    found = _TAP_FORM.fullmatch(text)
    if found is None:
        raise Unusable(f"expected NAME=URL or NAME:PORT=URL for --tap, got {text!r}")
    return Tap(found["name"], _checked(found["url"]), int(found["port"] or 0))


def _checked(url: str) -> str:
    """Return the URL of an upstream; raises Unusable for one that requests cannot be sent to."""
    parts = urlsplit(url) if is_url(url) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", url):
        raise Unusable(f"expected a URL that begins with http:// or https://, got {url!r:.100}")
    if "@" in parts.netloc or parts.query:
        raise Unusable("expected a URL without user, password and query; keys come from the client")
    return url


def _profile(arguments: argparse.Namespace, url: str) -> "Profile | None":
    # Imported here because only a running proxy needs it.
    from conformance.profiles.texts import by_host

    name = arguments.provider or by_host(urlsplit(url).netloc)
    return profiles.load_profile(name) if name else None


def _settings(arguments: argparse.Namespace, taps: "Sequence[Tap]", profile: "Profile | None") -> dict[str, Any]:
    """Return what the process that checks has to know."""
    from datetime import UTC, datetime

    return {
        "taps": [[tap.name, tap.url] for tap in taps],
        "provider": "" if profile is None else arguments.provider or profile.name,
        "today": datetime.now(UTC).date().isoformat(),
        "header": arguments.conversation_header,
        "correlate": arguments.correlation_header,
        "record": str(Path(arguments.record).absolute()) if arguments.record else "",
        "results": str(Path(arguments.results).absolute()) if arguments.results else "",
        "folder": profile.name if profile is not None and _belongs_to(taps[-1].url, profile) else "",
        "fail_on": arguments.fail_on,
        "table": is_terminal(sys.stderr) and not arguments.command,
        "command": bool(arguments.command),
    }


def _belongs_to(url: str, profile: "Profile") -> bool:
    """Return True if the host of a URL is one of the provider's own, under whose name its replies are recorded."""
    own = [urlsplit(profile.base_url).hostname or "", *profile.hosts]
    parts = urlsplit(url)
    return any(fnmatchcase(name, each) for name in (parts.hostname or "", parts.netloc) for each in own)


def _announce(
    arguments: argparse.Namespace, taps: "Sequence[Tap]", urls: Sequence[str], profile: "Profile | None"
) -> None:
    """Print the base URLs; with a command on standard error, since standard output is the command's."""
    # Imported here because it loads the profiles of URLs and hosts.
    from conformance.transport.http import is_loopback

    # Scripts read the URL from the first line of standard output.
    output = sys.stderr if arguments.command else sys.stdout
    for tap, url in zip(taps, urls, strict=True):
        print(f"{tap.name}: {url}" if tap.name else url, file=output, flush=True)
    against = f"the claims of {profile.name}" if profile is not None else "the canonical wire"
    print(f"conformance: checking against {against}", file=sys.stderr, flush=True)
    if not is_loopback(arguments.host):
        print(_OPEN.format(host=arguments.host), file=sys.stderr, flush=True)
