"""Annotations as SARIF 2.1.0 for code scanning: results with locations, rules with help, suppressed expected failures.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, and for what GitHub supports
https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from posixpath import normpath
from typing import Any, Final
from urllib.parse import quote

import orjson

from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.reporting.matrix.annotations import TITLES, Annotation, AnnotationKind, inputs_as, of_input
from conformance.reporting.text import printable_json
from conformance.results import Level
from conformance.rules import Rule, advice

LINES: Final = True
"""A result needs a line."""

FIXES: Final = True
"""A result about a client has its fix."""

MAX_RESULTS: Final = 5000
"""How many results code scanning shows per run; the most severe are kept and the others are counted."""

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_RANKS: Final = {1: 100.0, 2: 50.0, 3: 10.0}
"""The priorities, of 0 to 100, of what stops the loop of an agent, of what loses content, and of form."""

_LEVELS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "note"}


def render(annotations: Iterable[Annotation]) -> Iterator[str]:
    """Yield the log: one run, with its results by severity."""
    found: dict[Level, list[Annotation]] = {level: [] for level in Level}
    errored: list[Annotation] = []
    left = 0
    for annotation in annotations:
        held = errored if annotation.kind is AnnotationKind.ERRORED else found[annotation.level]
        if annotation.kind is not AnnotationKind.PASSED:
            left += len(held) >= MAX_RESULTS
            held.extend([annotation] if len(held) < MAX_RESULTS else [])
    every = [annotation for level in Level for annotation in found[level]]
    # Each level was bounded alone above, so that memory stays bounded; together they may still be too many.
    left += max(0, len(every) - MAX_RESULTS)
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(every[:MAX_RESULTS], errored, left)]}
    yield printable_json(orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())


part: Final = of_input
render_inputs: Final = inputs_as(render)


def _run(shown: Sequence[Annotation], errored: Sequence[Annotation], left: int) -> dict[str, Any]:
    ids = sorted({annotation.check for annotation in shown})
    met: Counter[str] = Counter()
    notes = [_notification("error", each.text, each) for each in errored]
    if left:
        notes.append(_notification("warning", f"{left} more results of the same or lower severity are omitted"))
    invocation = {"executionSuccessful": not errored, "toolExecutionNotifications": notes}
    return {
        "tool": {"driver": _driver(ids)},
        "invocations": [invocation],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder in which the command was run."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(annotation, ids.index(annotation.check), met) for annotation in shown],
    }


def _driver(ids: Sequence[str]) -> dict[str, Any]:
    known = loop.with_rules()
    return {
        "name": "wire-conformance",
        "version": version("wire-conformance"),
        "rules": [_rule(known[each]) if each in known else _other(each) for each in ids],
    }


def _rule(rule: Rule | Fact) -> dict[str, Any]:
    why, fix = advice(rule.doc)
    sections = {"Why": why, "To fix it": fix, "Source": rule.source.quote and f"“{rule.source.quote}”"}
    given = {heading: text for heading, text in sections.items() if text}
    text = "\n\n".join([f"{heading}: {section}" for heading, section in given.items()])
    marked = "\n\n".join([f"**{heading}**\n\n{section}" for heading, section in given.items()])
    link = f"[{rule.source.text}]({rule.source.link})"
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": why or rule.title},
        "help": {"text": f"{text}\n\n{rule.source.text}".strip(), "markdown": f"{marked}\n\n{link}".strip()},
        "helpUri": rule.source.link,
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
        "properties": {"tags": [rule.id.partition("/")[0]]},
    }


def _other(check: str) -> dict[str, Any]:
    """Return the SARIF rule for a check that is not a rule of the wire: a probe, or a check of the gate."""
    title = TITLES.get(check, "A provider handles a deviating request as its profile claims.")
    return {
        "id": check,
        "shortDescription": {"text": title},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": [check.partition("/")[0]]},
    }


def _result(annotation: Annotation, index: int, met: Counter[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": annotation.check,
        "ruleIndex": index,
        "level": _LEVELS[annotation.level],
        "message": {"text": annotation.text},
        "locations": _locations(annotation),
        "partialFingerprints": {"conformance/v1": _fingerprint(annotation, met)},
    }
    properties: dict[str, Any] = {"side": annotation.side, "protocol": annotation.protocol}
    if annotation.fixes:
        # The patch is for the request, wherever it is; the object of SARIF is for a file of text.
        properties["patches"] = [{"at": each["at"], "patch": each["patch"]} for each in annotation.fixes]
        if fixes := [_fix(each, annotation) for each in annotation.fixes if each.get("changes")]:
            result["fixes"] = fixes
    if any(properties.values()):
        result["properties"] = {name: value for name, value in properties.items() if value}
    if annotation.rank:
        result["rank"] = _RANKS[annotation.rank]
    if annotation.kind is AnnotationKind.EXPECTED:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": annotation.reason}]
    return result


def _fix(fix: Mapping[str, Any], annotation: Annotation) -> dict[str, Any]:
    """Return a fix as the lines of the file that it replaces."""
    replacements = [
        {
            "deletedRegion": {
                "startLine": change["first"],
                "startColumn": 1,
                "endLine": change["last"] + 1,
                "endColumn": 1,
            },
            "insertedContent": {"text": change["text"]},
        }
        for change in fix["changes"]
    ]
    change = {"artifactLocation": _artifact(annotation.location.path), "replacements": replacements}
    return {"description": {"text": fix["title"]}, "artifactChanges": [change]}


def _locations(annotation: Annotation) -> list[dict[str, Any]]:
    if not annotation.location.path:
        return []
    physical: dict[str, Any] = {"artifactLocation": _artifact(annotation.location.path)}
    if annotation.location.line is not None:
        physical["region"] = {"startLine": annotation.location.line}
    logical = {"fullyQualifiedName": annotation.suite + annotation.at}
    return [{"physicalLocation": physical, "logicalLocations": [logical]}]


def _artifact(path: str) -> dict[str, str]:
    """Return the location of a file: relative to the root if its path is relative, otherwise its full URI."""
    if path.startswith("/"):
        return {"uri": f"file://{quote(path)}"}
    # normpath: code scanning does not match `./` with files of the repository.
    return {"uri": quote(normpath(path)), "uriBaseId": _ROOT}


def _fingerprint(annotation: Annotation, met: Counter[str]) -> str:
    """Return a fingerprint that survives moved lines: of check, file or case, pointer, and a count of equal ones."""
    path = annotation.location.path
    # Without the line, which moves when a file is edited above it.
    suite = path if path and annotation.suite.startswith(f"{path}:") else annotation.suite
    digest = hashlib.sha256("\0".join((annotation.check, suite, annotation.at)).encode()).hexdigest()[:32]
    # Equal findings need different fingerprints, or code scanning merges them.
    met[digest] += 1
    return f"{digest}:{met[digest]}"


def _notification(level: str, text: str, annotation: Annotation | None = None) -> dict[str, Any]:
    where = {} if annotation is None else {"locations": _locations(annotation)}
    return {"level": level, "message": {"text": text}, **where}
