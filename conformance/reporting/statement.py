"""Compatibility statements: what a project states about its results, made from them and verified by them.

`schemas/files/statement.json` describes them: in-toto statements whose subjects are the files of results. Everything in
one but the date, the version and the names of the project follows from the results, so that whoever has both can make
it again and compare.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any, Final

import orjson

from conformance import profiles
from conformance.core_facts import core_facts
from conformance.documents import parse_json
from conformance.documents.pointer import render
from conformance.errors import InvalidDocument, Unusable
from conformance.gate import check_results
from conformance.profiles import Profile
from conformance.reporting.matrix.counts import count
from conformance.results import PUBLIC_RECORDINGS, TRAFFIC, Evidence
from conformance.results.runs import Results
from conformance.schemas import validator
from conformance.suite.run_claims import with_run_claims

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://wire-conformance.example/statement/v1"

_OF_RUN: Final = ("date", "host", "requests", "exchanges")


def make(
    found: Sequence[tuple[Path, Results]], own_profiles: Mapping[str, Profile], about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the statement about results with their files; raises Unusable if one of them checked nothing.

    `about` has the date, the version of this package and, if they are given, the project, its URL, and why results that
    do not prove a whole run were accepted. Raises Unusable as well if two files have the same name.
    """
    digests: dict[str, str] = {}
    for path, _ in found:
        if path.name in digests:
            raise Unusable(f"two files of results have the name {path.name}; a statement names each once")
        digests[path.name] = sha256(path.read_bytes()).hexdigest()
    runs = [_run(path, results, own_profiles) for path, results in found]
    return {
        "_type": TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())],
        "predicateType": PREDICATE_TYPE,
        "predicate": {**about, "runs": sorted(runs, key=lambda each: str(each["name"]))},
    }


def read(payload: bytes, file: str) -> dict[str, Any]:
    """Return the statement in a payload; raises InvalidDocument with a pointer if it is not a statement."""
    value: Any = parse_json(payload, file)
    for error in validator("files/statement").errors(value):
        raise InvalidDocument(error.message, file, None, render(error.place))
    runs = ("predicate", "runs")
    for place, each in ((("subject",), value["subject"]), (runs, value["predicate"]["runs"])):
        names = [each["name"] for each in each]
        for number, name in enumerate(names):
            if name in names[:number]:
                message = f"expected each name once, got {name!r} again"
                raise InvalidDocument(message, file, None, render((*place, number, "name")))
    statement: dict[str, Any] = value
    return statement


def differences(stated: Mapping[str, Any], shown: Mapping[str, Any], today: str) -> Iterator[str]:
    """Yield what differs between a statement and the one that the results give; nothing if it holds.

    `today` is an ISO 8601 day, after which no statement can have been made.
    """
    theirs, ours = stated["predicate"], shown["predicate"]
    if theirs["date"] > today:
        yield f"date: the statement was made on {theirs['date']}, and today is {today}"
    yield from _different("SHA-256", _digests(stated), _digests(shown))
    yield from _different("partial", theirs.get("partial"), ours.get("partial"))
    yield from _of_runs({each["name"]: each for each in theirs["runs"]}, {each["name"]: each for each in ours["runs"]})
    for each in theirs["runs"]:
        if (each["run"]["date"] or "") > theirs["date"]:
            yield f"{each['name']}: its replies came on {each['run']['date']}, after the statement of {theirs['date']}"


def _digests(statement: Mapping[str, Any]) -> dict[str, str]:
    return {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}


def _of_runs(stated: Mapping[str, Any], shown: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{name}: stated, but there are no results of it" for name in stated if name not in shown)
    yield from (f"{name}: not stated, but there are results of it" for name in shown if name not in stated)
    for name in (each for each in stated if each in shown):
        yield from _different(name, stated[name], shown[name], ": ")


def _different(place: str, stated: Any, shown: Any, below: str = ".") -> Iterator[str]:
    if isinstance(stated, Mapping) and isinstance(shown, Mapping):
        for key in sorted(stated.keys() | shown.keys()):
            yield from _different(f"{place}{below}{key}", stated.get(key), shown.get(key))
    elif isinstance(stated, list) and isinstance(shown, list):
        found = [f"{place}: {each} is stated, and the results do not show it" for each in stated if each not in shown]
        found += [f"{place}: the results show {each}, which is not stated" for each in shown if each not in stated]
        if stated != shown and not found:
            found = [f"{place}: stated in another order or number than the results show"]
        yield from found
    elif stated != shown:
        yield f"{place}: stated {_words(stated)}, and the results show {_words(shown)}"


def _words(value: Any) -> str:
    return "nothing" if value is None else orjson.dumps(value).decode()


def _run(path: Path, results: Results, own_profiles: Mapping[str, Profile]) -> dict[str, Any]:
    counted = count([results])
    if not counted.observed and not counted.declared:
        raise Unusable(f"{path}: nothing was checked, so there is nothing to state")
    shown: dict[str, Any] = {"name": results.name, "model": results.model}
    if results.versions:
        shown["versions"] = dict(sorted(results.versions.items()))
    if results.claims:
        shown["claims"] = {name: claim.value for name, claim in sorted(results.claims.items())}
    record = results.run.to_json()
    shown["evidence"] = [kind.value for kind in evidence(results)]
    shown["results"] = path.name
    shown["complete"] = not results.run.ended
    shown["run"] = {name: record[name] for name in _OF_RUN}
    shown["checks"] = {"conforms": counted.conforms, "fails": counted.fails, "declared": counted.declared}
    shown["fails"] = sorted({each.check for each in check_results(results) if each.is_bad})
    if results.run.problems:
        shown["problems"] = list(results.run.problems)
    if not results.provider:
        shown["core_facts"] = _core_facts(results, own_profiles)
    return shown | {"command": _command(results)}


def evidence(results: Results) -> list[Evidence]:
    """Return the kinds of evidence of what was checked, the strongest first."""
    kinds = {case.evidence for case in results.cases if case.outcomes}
    return [kind for kind in Evidence if kind in kinds]


def _core_facts(results: Results, own_profiles: Mapping[str, Profile]) -> dict[str, str]:
    profile = own_profiles.get(results.profile) or profiles.load(results.profile)
    claims = {name: claim.value for name, claim in results.claims.items()}
    found = core_facts(results.cases, profile.with_claims(claims).at(results.model, ""))
    is_live = any(case.evidence is Evidence.LIVE for case in results.cases)
    return {
        fact.name: fact.verdict.value for fact in with_run_claims(found, results.cases, results.claims, is_live=is_live)
    }


def _command(results: Results) -> str:
    played = {case.scenario for case in results.cases}
    if played == {TRAFFIC}:
        return f"conformance proxy --upstream URL --provider {quote(results.profile)} --results results"
    if results.provider:
        named = quote(results.subject) if "@" in results.subject else "--driver COMMAND"
        return f"conformance adapter run {named} --provider {quote(results.provider)} --results results"
    if played == {PUBLIC_RECORDINGS}:
        return f"pytest --provider={quote(results.subject)} --evidence recorded --results results"
    is_live = any(case.evidence is Evidence.LIVE for case in results.cases)
    live = " --live --base-url URL" if is_live else ""
    return f"pytest --provider={quote(results.subject)} --model {quote(results.model)}{live} --results results"
