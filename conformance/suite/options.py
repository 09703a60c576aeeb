"""The options of a run of the suites, and what the environment says about the server of a live one."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from conformance.documents import parse_json
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.secrets.urls import shown_url
from conformance.transport.limits import MAX_TIME, REQUEST_TIMEOUT

ON, OFF, AUTO = "on", "off", "auto"
THINKING: Final = (ON, OFF, AUTO)
"""The values of --thinking."""

KEY = "CONFORMANCE_API_KEY"
"""The environment variable with the key for a --base-url that is not the provider's own."""

BASE_URL = "CONFORMANCE_BASE_URL"
"""The environment variable with the server of a live run without --base-url."""

MODEL = "CONFORMANCE_MODEL"
"""The environment variable with the model of a live run without --model."""

ENGINE = "CONFORMANCE_ENGINE"
"""The environment variable that describes, as JSON, the engine behind that server.

`conformance engine run` sets all three. The members are those of `Options` with the same names: `engine`, `hidden`.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    `today` is the ISO day that is recorded in the manifest. `plan`: nothing is sent. `max_requests` limits the
    requests to a real endpoint. `engine` is what the manifest states of the engine that replies. `hidden` maps texts
    of this machine that its replies may contain to what is recorded instead. `expected` is the file of expected
    failures; without one, it is the project's own if the project's cassettes are replayed. `repeat` is how often each
    case runs. `thinking` is on, off, auto or empty, which in a live run means auto. `claims` are texts NAME=VALUE.
    `request_timeout` is how many seconds a request may take, to the last byte of its reply; `max_time` is how many the
    whole run may take: nothing is sent after that. `resume`: go on with an interrupted recording. `protocol` names the
    wire; empty means chat completions, or the first wire of a provider that does not serve them. `variant`: play only
    plain or only streamed replies. `allow_wide_baseline`: expected failures may match more than a tenth of the checks.
    `only_unknown`: play only what settles an unknown or contested claim of a core fact.
    `headers`: further headers of each request to a real endpoint, whose values are secret.
    """

    provider: str
    cassettes: Path
    today: str
    model: str = ""
    live: bool = False
    record: bool = False
    base_url: str = ""
    plan: bool = False
    max_requests: int | None = None
    engine: Mapping[str, Any] | None = None
    hidden: Mapping[str, str] = field(default_factory=dict)
    expected: Path | None = None
    repeat: int = 1
    strict: bool = False
    thinking: str = ""
    claims: tuple[str, ...] = ()
    request_timeout: float = REQUEST_TIMEOUT
    max_time: float = MAX_TIME
    resume: bool = False
    protocol: str = ""
    variant: str = ""
    allow_wide_baseline: bool = False
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    only_unknown: bool = False

    @property
    def is_live(self) -> bool:
        """Return True if the run sends requests to a real endpoint."""
        return not self.plan and self.has_endpoint

    @property
    def has_endpoint(self) -> bool:
        """Return True if the requests of the run, sent or only planned, are for a real endpoint."""
        return self.live or bool(self.base_url)


def on_wire(profile: Profile, protocol: str) -> Profile:
    """Return the profile of the wire that a run speaks; raises Unusable if nothing is claimed about that wire."""
    if not protocol and not profile.claims and profile.protocols:
        return next(iter(profile.protocols.values()))
    if protocol in ("", profile.wire):
        return profile
    if protocol not in profile.protocols:
        known = ", ".join(profile.wires)
        raise Unusable(f"--protocol: the profile {profile.name} has no claims about {protocol!r}; it has {known}")
    return profile.protocols[protocol]


def check_base_url(url: str, argument: str = "--base-url") -> None:
    """Raise Unusable if requests cannot be sent to a base URL, which is the value of an argument."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise Unusable(f"{argument}: expected a URL such as http://127.0.0.1:8000/v1, got {shown_url(url)}")


def headers_of(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the headers that --header options name; their values are secret. Raises Unusable for one that is none."""
    found = []
    for text in given:
        name, colon, value = text.partition(":")
        if not colon or not name.strip() or not text.isprintable() or not text.isascii():
            raise Unusable("--header: expected NAME:VALUE, in characters that a header can hold")
        found.append((name.strip(), value.strip()))
    return tuple(found)


def key_for(profile: Profile, base_url: str) -> str:
    """Return the key to send to a base URL (empty: the profile's own); a provider's key goes only to its own hosts.

    Raises Unusable if the provider needs a key and there is none.
    """
    own = (*profile.hosts, urlsplit(profile.base_url).hostname)
    if not profile.key or (base_url and urlsplit(base_url).hostname not in own):
        return os.environ.get(KEY, "")
    key = os.environ.get(profile.key, "")
    if not key:
        message = (
            f"{profile.title} needs a key for a live run: set {profile.key}, or omit --live to replay the cassettes"
        )
        raise Unusable(message)
    return key


def with_environment(options: Options) -> Options:
    """Return the options of a live run, with what the environment says about the server unless the user says it."""
    if not options.live or options.base_url or not os.environ.get(BASE_URL):
        return options
    described: Any = parse_json(os.environ.get(ENGINE) or "{}", ENGINE)
    model = options.model or os.environ.get(MODEL, "")
    engine, hidden = described.get("engine"), described.get("hidden", {})
    return replace(options, base_url=os.environ[BASE_URL], model=model, engine=engine, hidden=hidden)
