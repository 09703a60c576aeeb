"""What a run records: who may be recorded as a provider, which cases are whole, and what the manifest says of them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from importlib.metadata import version
from shlex import quote
from typing import TypeVar
from urllib.parse import urlsplit

from conformance.errors import InvalidDocument, Unusable
from conformance.profiles import Profile
from conformance.results import Evidence
from conformance.results.runs import Case, RunClaim
from conformance.secrets.urls import shown_url
from conformance.suite.options import OFF, ON, Options
from conformance.transport.cassette import LOOPBACK, replaying
from conformance.transport.client import SIMULATOR
from conformance.transport.recording import CaseRecorder, Take, Terms
from conformance.transport.shelf import CassetteFolder, ManifestEntry
from conformance.wire.native import CHAT

T = TypeVar("T")


def begin(options: Options, profile: Profile, model: str, shelf: CassetteFolder) -> CaseRecorder:
    """Return the recording of a run.

    Raises Unusable if it would replace real replies by simulated ones, hold those of a foreign host, or follow links.
    """
    # First, since to read a manifest that is a pipe takes forever.
    shelf.refuse_links()
    old = shelf.manifest().get(model)
    if old is not None and old.evidence is not Evidence.SIMULATED and not options.has_endpoint:
        raise Unusable(f"the cassettes of {model} hold real replies ({old.evidence}); add --live to record them again")
    _refuse_foreign_host(options, profile)
    about = {
        "host": host_of(options, profile),
        "thinking": options.thinking,
        "claims": options.claims,
        "versions": {**(options.engine or {}).get("versions", {}), "wire-conformance": version("wire-conformance")},
    }
    private = options.has_endpoint and options.engine is None
    return CaseRecorder(shelf, model, Terms(about, options.hidden, private, options.has_endpoint, options.resume))


def _refuse_foreign_host(options: Options, profile: Profile) -> None:
    """Raise Unusable if the replies of a host would be recorded as those of a provider that it does not belong to.

    Servers that anyone can run have no hosts of their own.
    """
    own = urlsplit(profile.base_url).hostname
    if not options.base_url or options.engine is not None or own is None or own in LOOPBACK:
        return
    parts = urlsplit(options.base_url)
    if not any(
        fnmatchcase(name, each) for name in (parts.hostname or "", parts.netloc) for each in (own, *profile.hosts)
    ):
        known = ", ".join(dict.fromkeys([own, *profile.hosts]))
        raise Unusable(
            f"{parts.hostname} is not a host of {profile.title} ({known}), so its replies cannot be recorded as "
            f"{profile.name}'s; omit --record, or name the profile of that server with --provider"
        )


def record(recording: CaseRecorder, name: str, use: Callable[[Take | None], T]) -> T:
    """Return what `use` makes of a case while it is recorded; what an interrupted recording holds is not sent again."""
    if name in recording.staged:
        try:
            with replaying(recording.path(name)):
                return use(None)
        except InvalidDocument:
            # The scenario has changed since, or the file was damaged: the case is recorded again.
            recording.path(name).unlink()
    with closing(recording.start()) as take:
        result = use(take)
        problem = take.problem or _problem(result)
        if take.count or take.lost:
            recording.take(name, take, problem)
    return result


def _problem(result: object) -> str:
    """Return why the results of a case are not whole; empty if they are."""
    if not isinstance(result, Case):
        return ""
    probes = [f"probe {probe.name}: {probe.observed}" for probe in result.probes if probe.is_inconclusive]
    return result.note if result.is_inconclusive else next(iter(probes), "")


def entry(
    options: Options,
    profile: Profile,
    model: str,
    cases: Iterable[Case],
    claims: Mapping[str, RunClaim],
    old: ManifestEntry | None,
) -> ManifestEntry:
    """Return what the manifest states of the recorded cases; raises Unusable if the simulator poses as an engine."""
    engine = options.engine
    is_simulated = not options.has_endpoint or any(case.evidence is Evidence.SIMULATED for case in cases)
    thinking = options.thinking if options.thinking in (ON, OFF) else ""
    versions = {"wire-conformance": version("wire-conformance")}
    if engine is not None:
        if is_simulated:
            raise Unusable(
                f"{options.base_url} answers like this project's simulator, which is not an engine; "
                "nothing was recorded"
            )
        wire = "" if profile.wire == CHAT else f" --protocol {profile.wire}"
        again = f"conformance engine record {engine['name']} --template {engine['template']}{wire}"
        versions = {**engine["versions"], **versions}
        return ManifestEntry(Evidence.ENGINE, options.today, versions, again, "", engine, thinking, claims)
    again = _again(options, profile, model)
    if is_simulated:
        versions[SIMULATOR] = versions["wire-conformance"]
        is_same = old is not None and (old.evidence, old.versions) == (Evidence.SIMULATED, versions)
        day = old.date if old is not None and is_same else options.today
        return ManifestEntry(Evidence.SIMULATED, day, versions, again, "", None, thinking, claims)
    host = host_of(options, profile)
    return ManifestEntry(Evidence.RECORDED, options.today, versions, again, host, None, thinking, claims)


def host_of(options: Options, profile: Profile) -> str:
    """Return the host that replies; an address of this machine has no port, which differs from run to run."""
    if not options.has_endpoint:
        return ""
    parts = urlsplit(options.base_url or profile.base_url)
    return "localhost" if parts.hostname in LOOPBACK else parts.netloc.rpartition("@")[2]


def _again(options: Options, profile: Profile, model: str) -> str:
    """Return the command that records the cassettes again."""
    live = " --live" if options.live else ""
    own = f" --thinking={options.thinking}" if options.thinking in (ON, OFF) else ""
    own += "".join([f" --claim {quote(text)}" for text in options.claims])
    own += f" --base-url={quote(shown_url(options.base_url))}" if options.base_url else ""
    if own:
        return f"pytest --provider={profile.name} --model={model}{live} --record{own}"
    return f"conformance provider record --provider {profile.name} --model {model}{live}"
