"""Report what a provider does differently today than when it was recorded, or than its profile claims.

It plays every scenario and probe, and compares what the answers show with recorded exchanges: those that `conformance
provider discover` wrote beside a profile of your own, the cassettes of a shipped provider, or those in --recorded.
Where there are none, it compares with the claims alone. Recordings of the simulator show nothing of a provider.

With --seen it asks nothing: recorded traffic, such as the cassettes of `conformance proxy --record`, shows what the
provider does today, and --recorded is traffic of an earlier day.

Returns exit code 1 if something has changed, and 2 if nothing could be compared.
"""

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from conformance import artifacts, profiles
from conformance.arguments import add_header, add_times, positive
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.reporting.text import plural, printable
from conformance.terminal import ProgressLine

if TYPE_CHECKING:
    from conformance.discovery.recording import Recorded
    from conformance.discovery.watching import Drift, Observed

EXAMPLES: Final = """\
  conformance provider watch --provider deepseek --live
  conformance provider watch --provider ./my-gateway.yaml --live --results drift/
  conformance provider watch --provider deepseek --seen recordings/deepseek --recorded recordings-of-may/deepseek
  conformance provider watch --provider llamacpp --base-url http://127.0.0.1:8080/v1 --recorded my-recordings/"""

_RECORDED: Final = (
    "a file or folder of recorded exchanges (default: those beside the profile, or the provider's cassettes)"
)
_PROTOCOL: Final = "the wire to watch, if the profile has claims about it (default: chat, or the provider's first one)"
_SHOWN: Final = 200
_SHOWN_MODELS: Final = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--provider", metavar="PROVIDER", required=True, help="the provider, or the path of a profile")
    add("--protocol", metavar="NAME", default="", help=_PROTOCOL)
    add("--live", action="store_true", help="send requests to the provider's API, with the key that the profile names")
    add("--base-url", metavar="URL", default="", help="send requests to this server instead")
    add_header(parser)
    add("--model", metavar="MODEL", default="", help="the model to request (default: the one that the profile names)")
    add("--seen", metavar="PATH", type=Path, help="compare this recorded traffic instead of asking")
    add("--recorded", metavar="PATH", type=Path, help=_RECORDED)
    add(
        "--results",
        metavar="DIR",
        type=Path,
        help="write what changed, with both exchanges, to DIR/<provider>.drift.json",
    )
    add("--max-requests", metavar="N", type=positive, default=600, help="send at most N requests (default: 600)")
    add_times(parser, "the whole comparison")


def run(arguments: argparse.Namespace) -> int:
    """Ask the endpoint, and print what has changed."""
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.discovery.watching import drifts
    from conformance.secrets import scrubber
    from conformance.suite.options import check_base_url, headers_of, key_for, on_wire

    if bool(arguments.live or arguments.base_url) is bool(arguments.seen):
        raise Unusable("watch compares with a real endpoint or its traffic: add --live, --base-url URL or --seen PATH")
    profile = on_wire(profiles.load_profile(arguments.provider), arguments.protocol)
    model = arguments.model or profile.model
    if not model:
        raise Unusable(f"{profile.title} has no default model; select one with --model")
    if arguments.seen is not None:
        return _compare_traffic(profile, model, arguments)
    url = arguments.base_url or profile.base_url
    check_base_url(url)
    key = key_for(profile, arguments.base_url)
    recorded = _recorded(profile, model, arguments.recorded)
    before = None if recorded is None else _observed(recorded.send, profile, model, 0)
    secrets = scrubber([key, *[value for _, value in headers_of(arguments.header)]], [url])
    now = _asked(url, key, secrets, profile, model, arguments)
    found = drifts(profile, model, before, now)
    day = "" if recorded is None else recorded.day
    for line in _report(profile, model, day, before, now, found):
        print(printable(secrets.text(line)))
    if arguments.results is not None:
        _write(arguments.results, profile, model, day, found, secrets.text)
    return int(bool(found))


def _compare_traffic(profile: Profile, model: str, arguments: argparse.Namespace) -> int:
    """Compare recorded traffic with that of an earlier day, or with the claims."""
    from conformance.discovery.recording import read_traffic
    from conformance.discovery.watching import drifts, observe_traffic

    traffic = read_traffic(arguments.seen)
    now = observe_traffic(traffic, profile, model)
    if not now.claims:
        models = ", ".join(sorted({exchange.model for each in traffic for exchange in each})[:_SHOWN_MODELS])
        raise Unusable(f"{arguments.seen} shows no claim about {model}; it holds exchanges with {models}")
    earlier = None if arguments.recorded is None else read_traffic(arguments.recorded)
    before = None if earlier is None else observe_traffic(earlier, profile, model)
    day = max([exchange.date for each in earlier or () for exchange in each], default="")
    found = drifts(profile, model, before, now)
    for line in _report(profile, model, day, before, now, found):
        print(printable(line))
    if arguments.results is not None:
        _write(arguments.results, profile, model, day, found, str)
    return int(bool(found))


def _recorded(profile: Profile, model: str, given: Path | None) -> "Recorded | None":
    """Return the exchanges to compare with; None if there are only those of the simulator, or none."""
    from conformance.discovery.recording import read_exchanges
    from conformance.resources import folder
    from conformance.results import Evidence
    from conformance.transport.shelf import CassetteFolder

    if given is not None:
        return read_exchanges(given, profile.wire)
    if profile.path:
        beside = Path(profile.path).with_suffix(".exchanges.jsonl")
        return read_exchanges(beside, profile.wire) if beside.is_file() else None
    cassettes = CassetteFolder(folder("cassettes"), profile.name)
    entry = cassettes.manifest().get(model)
    if entry is None or entry.evidence is Evidence.SIMULATED:
        return None
    return read_exchanges(cassettes.path(model, "any").parent, profile.wire)._replace(day=entry.date)


def _asked(url: str, key: str, secrets: Any, profile: Profile, model: str, arguments: argparse.Namespace) -> "Observed":
    from conformance.suite.options import headers_of
    from conformance.transport.client import Client, Endpoint

    headers = headers_of(arguments.header)
    endpoint = Endpoint(url, key, arguments.request_timeout, scrubber=secrets, wire=profile.wire, headers=headers)
    with Client(endpoint, until=time.monotonic() + arguments.max_time) as client:
        observed = _observed(client.send, profile, model, arguments.max_requests)
    if not observed.claims:
        reasons = "; ".join(dict.fromkeys(observed.ended.values())) or "no scenario could be played"
        raise Unusable(f"nothing could be compared: {reasons}")
    return observed


def _observed(ask: Any, profile: Profile, model: str, limit: int) -> "Observed":
    """Return what an endpoint shows, or what recorded exchanges show if there is no limit of requests."""
    from conformance.discovery.interview import Interview
    from conformance.discovery.watching import observe

    progress = ProgressLine(report_at_end=True)
    if not limit:
        return observe(Interview(ask, 10**9, patience=10**9, wire=profile.wire), profile, model)
    session = Interview(ask, limit, log=lambda sent: progress.show(f"{model}: {sent} requests"), wire=profile.wire)
    try:
        return observe(session, profile, model)
    finally:
        progress.clear()


def _report(
    profile: Profile, model: str, day: str, before: "Observed | None", now: "Observed", found: "tuple[Drift, ...]"
) -> Iterator[str]:
    with_what = (
        f"exchanges recorded on {day or 'an unknown day'}" if before is not None else "the claims of its profile"
    )
    yield f"{profile.name}, {model}: {plural(len(now.claims), 'claim')} observed, compared with {with_what}"
    for each in found:
        yield f"{each.claim}:"
        if each.recorded is not None:
            yield f"  before   {_short(each.recorded)} (recorded {day or 'on an unknown day'})"
        if each.claimed is not None:
            since = f", since {each.claimed.since}" if each.claimed.since else ""
            yield f"  claimed  {_short(each.claimed.value)} ({each.claimed.confidence} confidence{since})"
        yield f"  now      {_short(each.now)}"
        for name, exchange in (("before", each.before), ("now", each.after)):
            if exchange is not None:
                messages = (exchange.request or {}).get("messages", [])
                yield f"  {name}: the request ended with {_short(messages[-1:])}"
                yield f"  {name}: HTTP {exchange.status}: {_short(exchange.response)}"
    for case, why in sorted(now.ended.items()):
        yield f"not played to its end: {case}: {why}"
    yield f"{plural(len(found), 'change')}"


def _short(value: Any) -> str:
    text = orjson.dumps(value).decode() if not isinstance(value, str) else value
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _write(folder: Path, profile: Profile, model: str, day: str, found: "tuple[Drift, ...]", clean: Any) -> None:
    today = datetime.now(UTC).date().isoformat()
    about = {"provider": profile.name, "model": model, "recorded": day, "observed": today}
    text = orjson.dumps(about | {"changes": [each.to_json() for each in found]}, option=orjson.OPT_INDENT_2).decode()
    artifacts.write(folder / f"{profile.name}.drift.json", f"{clean(text)}\n", private=True)
