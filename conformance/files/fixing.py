"""The fixes of checked inputs: patches for each finding, a diff for people, and the corrected records."""

import difflib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents import parse_json
from conformance.documents.patch import Operation, apply
from conformance.documents.pointer import parse
from conformance.errors import InvalidDocument
from conformance.files.by_model import claimed_rules, refusals
from conformance.files.request_diff import diff
from conformance.fixes import Fix, fix
from conformance.fixes.corrected import Correction, corrected
from conformance.fixes.excerpt import shared_length, units
from conformance.fixes.needs import needed
from conformance.fixes.trial import Scenes
from conformance.formats import Input
from conformance.formats.compression import open_file
from conformance.formats.records import record_of
from conformance.judge import judge, judge_by_models
from conformance.profiles import Profile, load_profile, naming
from conformance.results import Finding, Outcome
from conformance.rules import Rule, of_traffic
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side

MAX_JUDGED: Final = 2000
"""How many forms of requests are judged for the findings of one input; the report says how many it left."""

MAX_FILE: Final = 64 * 1024 * 1024
"""The largest file whose records are written as they are; those of a larger one are written as exchanges."""

_INDENTS: Final = (2, 4, "\t", None)


class FixMode(NamedTuple):
    """What to add to a report: the patch of `each` finding, the `whole` input corrected, and the `lines` of patches."""

    each: bool
    whole: bool
    lines: bool


def add_fixes(
    given: Input,
    profile: Profile | None,
    rules: Sequence[Rule],
    as_of: str,
    found: Sequence[Outcome],
    report: dict[str, Any],
    mode: FixMode,
) -> Sequence[bytes]:
    """Add the fixes of what was found about the client to a report; return the corrected input, if it is wanted."""
    notes: list[str] = []
    host = None if profile is not None else refusing(report["outcomes"])
    if mode.each and (found or host is not None):
        scenes = Scenes(given.conversation, found) if len(rules) == len(of_traffic()) else Scenes()
        fixes = Fixing(given, profile, as_of, scenes)
        fixes.add_all(found, report["outcomes"], lines=mode.lines)
        if host is not None:
            Fixing(given, host, as_of).add_for_hosts(report["outcomes"], lines=mode.lines)
        notes += fixes.notes()
    fixed = given.conversation
    if mode.whole and (host is not None or any(each.side == Side.CLIENT for one in found for each in one.findings)):
        # Judged again for a host: what it rejects is not among the findings of the canonical wire.
        correction = corrected(fixed, host or profile, tuple(rules), as_of, found if host is None else None)
        fixed = correction.conversation
        notes += correction_notes(correction)
        if text := "".join(diff(given, fixed)):
            report["diff"] = text
            notes += host_notes(fixed, report["outcomes"], tuple(rules), as_of)
        if not mode.each:
            _add_needs(report["outcomes"], correction)
    if notes:
        report["notes"] = [*report.get("notes", ()), *notes]
    return tuple(records(given, fixed)) if mode.whole else ()


def _add_needs(reported: Sequence[Mapping[str, Any]], correction: Correction) -> None:
    """Add to each finding about a client that is left what its fix needs to know."""
    for outcome in reported:
        own = [each for each in outcome["findings"] if each["side"] == Side.CLIENT]
        numbers = Counter([each["at"].split("/")[1] for each in own if each["at"]])
        for shown in own:
            at = shown["at"].split("/")
            if at[2:3] == ["request"] and correction.needs_more(outcome["rule"], shown, numbers[at[1]]):
                shown["needs"] = needed(outcome["rule"])


class Fixing:
    """The fixes for one input. `judged`: how many forms of requests were judged. `left`: findings not looked at."""

    def __init__(self, given: Input, profile: Profile | None, as_of: str, scenes: Scenes | None = None) -> None:
        self.given = given
        self.profile = profile
        self.as_of = as_of
        self.judged = 0
        self.left = 0
        self._scenes = Scenes() if scenes is None else scenes
        self._seen: dict[tuple[str, str, str], tuple[int, Fix | None]] = {}

    def add(self, rule: str, finding: Finding, shown: dict[str, Any], *, lines: bool) -> None:
        """Add the `fixes` of a finding to its JSON object, or what they would need; `lines` as for a task."""
        if self.judged >= MAX_JUDGED:
            self.left += 1
            return
        found = self._fix(rule, finding)
        if found is None:
            return
        if not found.patch:
            shown["needs"] = found.needs
            return
        at = "/".join(finding.at.split("/")[:3])
        shown["fixes"] = [found.to_json(at)]
        if lines and (changes := self._changes(int(at.split("/")[1]), found.patch)):
            shown["fixes"][0]["changes"] = changes

    def _fix(self, rule: str, finding: Finding) -> Fix | None:
        """Return the fix of a finding; that of an earlier request whose history this one repeats is the same."""
        first, _, inside = finding.at[1:].partition("/")
        conversation = self.given.conversation
        if not first.isdecimal():
            return None
        number, key = int(first), (rule, inside, finding.message)
        seen, known = self._seen.get(key, (None, None))
        if known is not None and seen is not None and _repeats(conversation[number], conversation[seen], known.patch):
            return known
        found = fix(conversation, rule, finding, self.profile, self.as_of, seen, self._scenes)
        self._seen.setdefault(key, (number, found))
        self.judged += 0 if found is None else found.trials
        return found

    def add_all(self, outcomes: Sequence[Outcome], reported: Sequence[Mapping[str, Any]], *, lines: bool) -> None:
        """Add fixes to the findings in the JSON objects of outcomes."""
        found = {(each.rule, one.at, one.message): one for each in outcomes for one in each.findings}
        for outcome in reported:
            for shown in outcome["findings"]:
                finding = found.get((outcome["rule"], shown["at"], shown["message"]))
                if finding is not None:
                    self.add(outcome["rule"], finding, shown, lines=lines)

    def add_for_hosts(self, reported: Sequence[Mapping[str, Any]], *, lines: bool) -> None:
        """Add fixes to findings that only some hosts of the model have: those by the claims of the first such host."""
        found = {(rule, one.at): one for rule, one in _found_by(self.given.conversation, self.profile, self.as_of)}
        for outcome in reported:
            for shown in outcome["findings"]:
                finding = found.get((outcome["rule"], shown["at"])) if "hosts" in shown else None
                if finding is not None and not {"fixes", "needs"} & set(shown):
                    self.add(outcome["rule"], finding, shown, lines=lines)
                    for each in shown.get("fixes", ()):
                        each["for"] = self._hosts(outcome["rule"], shown, each["patch"])

    def _hosts(self, rule: str, shown: Mapping[str, Any], patch: Sequence[Operation]) -> list[str]:
        """Return which of the hosts that reject a request accept it with a patch."""
        number = int(shown["at"].split("/")[1])
        exchange = self.given.conversation[number]
        fixed = (*self.given.conversation[:number], replace(exchange, request=apply(exchange.request, patch)))
        names = [host["provider"] for host in shown["hosts"]]
        return [name for name in names if (rule, shown["at"]) not in rejected(fixed, name, of_traffic(), self.as_of)]

    def notes(self) -> list[str]:
        """Return what was not looked at, in words."""
        return [f"no fix was looked for in {self.left} more findings"] if self.left else []

    def _changes(self, number: int, patch: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the lines of the file that a patch changes: the first and the last one, and the new text."""
        given = self.given
        request = apply(given.conversation[number].request, patch)
        conversation = tuple([_with_request(each, request, at == number) for at, each in enumerate(given.conversation)])
        values, texts = _values(given), _texts(given.path)
        if not values:
            return []
        line = given.lines[number] if number < len(given.lines) else given.line
        if line is None:
            made = _in_style("\n".join(texts), _record(values[0], given, conversation))
            return list(_line_changes(texts, made.splitlines()))
        value = values[number] if len(values) > 1 else values[0]
        if len(values) > 1:
            given, conversation = given._replace(conversation=(given.conversation[number],)), (conversation[number],)
        made = orjson.dumps(_record(value, given, conversation)).decode()
        return [{"first": line, "last": line, "text": f"{made}\n"}]


def refusing(reported: Iterable[Mapping[str, Any]]) -> Profile | None:
    """Return the profile of the first host that rejects a request of which only the model is known."""
    hosts = [host for outcome in reported for finding in outcome["findings"] for host in finding.get("hosts", ())]
    return load_profile(hosts[0]["provider"]) if hosts else None


def host_notes(
    fixed: Conversation, reported: Iterable[Mapping[str, Any]], rules: Sequence[Rule], as_of: str
) -> Iterator[str]:
    """Yield for which hosts of the model an input was corrected, and which of them reject it all the same."""
    findings = [finding for outcome in reported for finding in outcome["findings"]]
    hosts = list(dict.fromkeys([host["provider"] for each in findings for host in each.get("hosts", ())]))
    left = [name for name in hosts if rejected(fixed, name, rules, as_of)]
    helped = [name for name in hosts if name not in left]
    if helped:
        yield f"the changes are for {', '.join(helped)}, which reject the request as it is"
    if left:
        yield f"{', '.join(left)} reject the request with these changes, too: name the host with --provider"


def rejected(conversation: Conversation, host: str, rules: Sequence[Rule], as_of: str) -> set[tuple[str, str]]:
    """Return what a host rejects in a conversation, by its own name for the model: rules and places."""
    model = next((each.model for each in conversation if each.model), "")
    own = naming.serving(model, as_of or max(each.date for each in conversation)).get(host, model)
    (found,) = judge_by_models(conversation, [(load_profile(host), own)], claimed_rules(tuple(rules)), as_of)
    return {(each.rule, each.finding.at) for each in refusals([(host, found.found())])}


def _found_by(conversation: Conversation, profile: Profile | None, as_of: str) -> Iterator[tuple[str, Finding]]:
    for outcome in judge(conversation, profile, of_traffic(), as_of).found():
        yield from [(outcome.rule, finding) for finding in outcome.findings if finding.side == Side.CLIENT]


def _repeats(later: Exchange, earlier: Exchange, patch: Sequence[Operation]) -> bool:
    """Return whether a request repeats all that a patch changes in an earlier one, so that the patch holds for it."""
    key, listed = units((later, earlier))
    places = [parse(each["path"]) for each in patch]
    same = shared_length(*listed) if key else 0
    return all(place[:1] == (key,) and place[1:2] and int(place[1]) < same for place in places)


def records(given: Input, fixed: Conversation) -> Iterator[bytes]:
    """Yield the lines of JSON that hold an input with corrected requests; everything else in them is as it was."""
    values = _values(given)
    numbers = given.lines or ((given.line,) if given.line else ())
    if values and numbers and fixed == given.conversation:
        texts = _texts(given.path)
        yield from (texts[number - 1].encode() for number in numbers)
        return
    if len(values) == len(fixed) > 1:
        for number, value in enumerate(values):
            one = given._replace(conversation=(given.conversation[number],))
            yield orjson.dumps(_record(value, one, (fixed[number],)))
    elif len(values) == 1:
        yield orjson.dumps(_record(values[0], given, fixed))
    else:
        yield from (orjson.dumps(record_of(each, given.session)) for each in fixed)


def correction_notes(correction: Correction) -> Iterator[str]:
    """Yield what was not corrected, in words."""
    if correction.left:
        yield f"the session is corrected up to a bound: no fix was looked for in {correction.left} more findings"
    if correction.undone:
        yield f"{correction.undone} changes were taken back: each led to another finding in the session"


def _with_request(exchange: Exchange, request: Any, is_it: bool) -> Exchange:  # noqa: FBT001 — one caller
    return replace(exchange, request=request) if is_it else exchange


def _record(value: Any, given: Input, fixed: Conversation) -> Any:
    """Return a value of the file with corrected requests in it; an exchange if its form is not known."""
    requests = [each.request for each in fixed]
    own = [record_of(each, given.session) for each in fixed]
    if isinstance(value, list) and given.kind == "messages":
        return requests[0]["messages"]
    if isinstance(value, list) and len(value) == len(fixed):
        return [_one(each, request, made) for each, request, made in zip(value, requests, own, strict=True)]
    if isinstance(value, dict) and isinstance(value.get("exchanges"), list) and len(value["exchanges"]) == len(fixed):
        pairs = zip(value["exchanges"], requests, own, strict=True)
        return {**value, "exchanges": [_one(each, request, made) for each, request, made in pairs]}
    if len(fixed) == 1:
        return requests[0] if value == given.conversation[0].request else _one(value, requests[0], own[0])
    return own


def _one(value: Any, request: Any, own: dict[str, Any]) -> Any:
    if isinstance(value, dict) and "request" in value and isinstance(value["request"], (dict, str)):
        is_body = isinstance(value["request"], str) or not {"method", "body", "headers"} & set(value["request"])
        if is_body:
            text = orjson.dumps(request).decode() if isinstance(value["request"], str) else request
            return {**value, "request": text}
    return own


def _values(given: Input) -> list[Any]:
    """Return the values of the file that hold an input; none if it is not JSON, or not JSON Lines."""
    return _parsed(given.path, given.lines or ((given.line,) if given.line else ()))


def _parsed(path: str, numbers: tuple[int, ...]) -> list[Any]:
    return _parsed_since(path, _version(path), numbers)


@lru_cache(maxsize=1)
def _parsed_since(path: str, _since: tuple[int, ...], numbers: tuple[int, ...]) -> list[Any]:
    try:
        texts = _texts(path)
        if numbers and texts:
            return [parse_json(texts[number - 1], path) for number in numbers]
        return [parse_json("\n".join(texts), path)] if texts else []
    except (InvalidDocument, OSError):
        return []


def _version(name: str) -> tuple[int, ...]:
    """Return what changes with a file, which a process may write again between two checks; empty without a file."""
    path = Path(name)
    if not path.is_file():
        return ()
    known = path.stat()
    return known.st_ino, known.st_mtime_ns, known.st_size


def _texts(name: str) -> tuple[str, ...]:
    """Return the lines of a file; none if it is large, or holds no text."""
    version = _version(name)
    return _texts_since(name, version) if version else ()


@lru_cache(maxsize=2)
def _texts_since(name: str, _since: tuple[int, ...]) -> tuple[str, ...]:
    path = Path(name)
    with open_file(path) as file:
        data = file.read(MAX_FILE + 1)
    try:
        return () if len(data) > MAX_FILE else tuple(data.decode().split("\n"))
    except UnicodeDecodeError:
        return ()


def _in_style(text: str, value: Any) -> str:
    """Return a value as JSON with the indent that a text has."""
    old = json.loads(text)
    for indent in _INDENTS:
        if json.dumps(old, indent=indent, ensure_ascii=False).splitlines() == text.rstrip("\n").splitlines():
            return json.dumps(value, indent=indent, ensure_ascii=False)
    return json.dumps(value, indent=2, ensure_ascii=False)


def _line_changes(before: Sequence[str], after: Sequence[str]) -> Iterator[dict[str, Any]]:
    for tag, start, end, new, new_end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield {"first": start + 1, "last": end, "text": "".join(f"{each}\n" for each in after[new:new_end])}
