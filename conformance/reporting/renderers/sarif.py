"""Report as SARIF 2.1.0, which code scanning reads: results with places, rules with help, excuses as suppressions.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, and for what GitHub takes of it
https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from posixpath import normpath
from typing import Any, Final
from urllib.parse import quote

import orjson

from conformance import rules
from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.reporting.matrix.annotations import TITLES, Kind, Remark, of_inputs
from conformance.results import Level
from conformance.rules import Rule, advice

LINES: Final = True
"""A result stands on a line."""

MOST: Final = 5000
"""How many results code scanning shows of a run; of more, the gravest stay and the others are counted."""

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_LEVELS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "note"}


def render_inputs(
    inputs: Iterable[Mapping[str, Any]],
    _summary: Callable[[], Mapping[str, Any]],
    _paint: Callable[[str, str], str],
) -> Iterator[str]:
    """Yield the log of judged inputs, at their end."""
    yield from render(of_inputs(inputs))


def render(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield the log: one run, its results by gravity."""
    found: dict[Level, list[Remark]] = {level: [] for level in Level}
    errored: list[Remark] = []
    left = 0
    for remark in remarks:
        held = errored if remark.kind is Kind.ERRORED else found[remark.level]
        if remark.kind is not Kind.PASSED:
            left += len(held) >= MOST
            held.extend([remark] if len(held) < MOST else [])
    every = [remark for level in Level for remark in found[level]]
    left += max(0, len(every) - MOST)
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(every[:MOST], errored, left)]}
    yield orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _run(shown: Sequence[Remark], errored: Sequence[Remark], left: int) -> dict[str, Any]:
    ids = sorted({remark.fact for remark in shown})
    met: Counter[str] = Counter()
    notes = [_notification("error", _told(each), each) for each in errored]
    if left:
        notes.append(_notification("warning", f"{left} more results are left out, of which none is graver"))
    invocation = {"executionSuccessful": not errored, "toolExecutionNotifications": notes}
    return {
        "tool": {"driver": _driver(ids)},
        "invocations": [invocation],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder in which the command was run."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(remark, ids.index(remark.fact), met) for remark in shown],
    }


def _driver(ids: Sequence[str]) -> dict[str, Any]:
    every: list[Rule | Fact] = [*rules.load(), *loop.load()]
    known = {each.id: each for each in every}
    return {
        "name": "wire-conformance",
        "version": version("wire-conformance"),
        "rules": [_rule(known[each]) if each in known else _other(each) for each in ids],
    }


def _rule(rule: Rule | Fact) -> dict[str, Any]:
    why, mend = advice(rule.doc)
    sections = {"Why": why, "To fix it": mend, "Source": rule.source.quote and f"“{rule.source.quote}”"}
    told = {heading: text for heading, text in sections.items() if text}
    text = "\n\n".join([f"{heading}: {section}" for heading, section in told.items()])
    marked = "\n\n".join([f"**{heading}**\n\n{section}" for heading, section in told.items()])
    link = f"[{rule.source.url}]({rule.source.url})"
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": why or rule.title},
        "help": {"text": f"{text}\n\n{rule.source.url}".strip(), "markdown": f"{marked}\n\n{link}".strip()},
        "helpUri": rule.source.url,
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
        "properties": {"tags": [rule.id.partition("/")[0]]},
    }


def _other(fact: str) -> dict[str, Any]:
    """Return the rule of what is no rule of the wire: a probe, or the gate's own."""
    title = TITLES.get(fact, "A provider does with a deviating request what its profile claims.")
    return {
        "id": fact,
        "shortDescription": {"text": title},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": [fact.partition("/")[0]]},
    }


def _result(remark: Remark, index: int, met: Counter[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": remark.fact,
        "ruleIndex": index,
        "level": _LEVELS[remark.level],
        "message": {"text": _told(remark)},
        "locations": _locations(remark),
        "partialFingerprints": {"conformance/v1": _fingerprint(remark, met)},
    }
    if remark.kind is Kind.EXPECTED:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": remark.excuse}]
    return result


def _told(remark: Remark) -> str:
    at = f" at {remark.at}" if remark.at else ""
    return f"{remark.suite}{at}: {remark.message}"


def _locations(remark: Remark) -> list[dict[str, Any]]:
    if not remark.place.path:
        return []
    physical: dict[str, Any] = {"artifactLocation": _artifact(remark.place.path)}
    if remark.place.line is not None:
        physical["region"] = {"startLine": remark.place.line}
    logical = {"fullyQualifiedName": remark.suite + remark.at}
    return [{"physicalLocation": physical, "logicalLocations": [logical]}]


def _artifact(path: str) -> dict[str, str]:
    """Return where a file is: below the root where its path is relative, else by its full URI."""
    if path.startswith("/"):
        return {"uri": f"file://{quote(path)}"}
    return {"uri": quote(normpath(path)), "uriBaseId": _ROOT}


def _fingerprint(remark: Remark, met: Counter[str]) -> str:
    """Return what tells a result again when lines have moved: rule, file or case, pointer, and which one of these."""
    path = remark.place.path
    suite = path if path and remark.suite.startswith(f"{path}:") else remark.suite
    digest = hashlib.sha256("\0".join((remark.fact, suite, remark.at)).encode()).hexdigest()[:32]
    met[digest] += 1
    return f"{digest}:{met[digest]}"


def _notification(level: str, text: str, remark: Remark | None = None) -> dict[str, Any]:
    where = {} if remark is None else {"locations": _locations(remark)}
    return {"level": level, "message": {"text": text}, **where}
