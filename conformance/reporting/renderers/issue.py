"""A bug report about an adapter, as Markdown to paste into the tracker of its project."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from shlex import quote
from typing import Any, Final

import orjson

from conformance.adapters import plain_code
from conformance.adapters.issue import Issue
from conformance.profiles import UNKNOWN, Source
from conformance.reporting.matrix import brief
from conformance.reporting.text import code, fenced, link, markdown_table, plural, prose
from conformance.rules import Rule, advice

_MAX_LINES: Final = 60
"""How many lines of a request stand open; a longer one is folded."""

_MAX_CASES: Final = 8
_MAX_SOURCES: Final = 2
_PROJECT: Final = "https://github.com/wire-conformance/wire-conformance"


def render(issue: Issue) -> str:
    """Return the report; what came over the wire stands in code spans and blocks only."""
    return "\n".join(_lines(issue)) + "\n"


def _lines(issue: Issue) -> Iterator[str]:
    results, finding, rule = issue.results, issue.finding, issue.rule
    why, fix = advice(rule.doc)
    yield f"# {prose(results.subject)} on {prose(issue.profile.title)}: {_title(rule.title)}"
    yield ""
    what = "request" if issue.number else "session"
    yield f"A {what} of {code(results.subject)} with {prose(issue.profile.title)} breaks this rule: {prose(rule.title)}"
    yield f"At {code(finding.at or '/')} of the session: {code(finding.message)}."
    yield ""
    yield f"It happens in {len(issue.broken)} of {plural(issue.played, 'test case')}: {_names(issue)}."
    yield from ("", "## Versions", "", markdown_table(["software", "version"], list(_versions(issue))))
    yield from ("", "## The scenario", "", *_scenario(issue))
    yield from ("", "## The request that shows it", "", *_request(issue))
    yield from ("", f"## What {prose(issue.profile.title)} does", "", *_answer(issue))
    yield from ("", "## The rule", "", f"{code(rule.id)} ({_level(issue)}): {prose(rule.title)}", "")
    yield from (prose(each) + "\n" for each in why.split("\n\n") if each)
    yield f"Source: {_cited(rule.source)}"
    if fix:
        yield from ("", f"A fix: {prose(fix)}")
    yield from _plain_code(issue)
    yield from ("", "## To repeat it", "", fenced("\n".join(_commands(issue)), "sh"), "")
    yield f"The provider is simulated as its [profile]({_PROJECT}/blob/main/reports/providers/{issue.profile.name}.md)"
    yield "claims, with sources; the requests are those that the software really sent."


def _title(text: str) -> str:
    """Return the title of a rule as what is reported: that it does not hold."""
    return f"not met: {prose(text.rstrip('.'))}"


def _level(issue: Issue) -> str:
    """Return the level of the finding, and that of the rule if it is another one."""
    general = issue.rule.level
    return issue.level.value if general is issue.level else f"{issue.level.value} here, {general.value} in general"


def _plain_code(issue: Issue) -> Iterator[str]:
    plain = plain_code.of_issue(issue)
    if plain is None:
        return
    yield from (
        "",
        "## Without this project",
        "",
        f"{code('server.py')} answers as the scenario says, and prints each request:",
    )
    yield from ("", fenced(plain.server, "python"), "", f"{code(plain.name)} talks to it, or to any other server:", "")
    yield fenced(plain.program, plain.language)
    if issue.number:
        yield from ("", f"Line {issue.number} that the server prints shows it.")


def _names(issue: Issue) -> str:
    shown = ", ".join([code(each) for each in issue.broken[:_MAX_CASES]])
    more = len(issue.broken) - _MAX_CASES
    return f"{shown} and {more} more" if more > 0 else shown


def _versions(issue: Issue) -> Iterator[tuple[str, str]]:
    name, _, pinned = issue.results.subject.partition("@")
    own = dict(sorted(issue.results.versions.items())) or {name: pinned or "unknown"}
    yield from ((code(each), code(number)) for each, number in own.items())
    yield "provider, model", f"{prose(issue.profile.title)}, {code(issue.results.model)}"
    yield code("wire-conformance"), code(_own_version())


def _own_version() -> str:
    try:
        return version("wire-conformance")
    except PackageNotFoundError:
        return "unknown"


def _scenario(issue: Issue) -> Iterator[str]:
    scenario = issue.scenario
    kind = "streamed" if issue.case.variant == "stream" else "plain"
    yield f"{code(scenario.name)}, {kind} replies, {plural(len(scenario.turns), 'exchange')}: {prose(scenario.title)}"
    if scenario.expects:
        yield f"A conforming client: {prose(scenario.expects)}"
    yield ""
    if scenario.tools:
        yield f"- tools: {', '.join(map(code, scenario.tools))}"
    for turn in scenario.turns:
        if turn.user is not None:
            yield f"- the user says {code(turn.user)}"
        parts = [*(["thinks"] if turn.thinks else []), *(f"calls {code(name)}" for name, _ in turn.calls)]
        parts += [f"says {code(turn.says)}"] if turn.says else []
        yield f"- the model {', '.join(parts) or 'answers nothing'}"


def _request(issue: Issue) -> Iterator[str]:
    number = f"Request {issue.number} of the session" if issue.number else "The session"
    sent = issue.proof.request
    if sent is None:
        yield f"{number}, the part at {code(issue.finding.at or '/')}; the commands below write the whole session:"
        yield from ("", fenced(issue.finding.excerpt or issue.finding.message))
        return
    smallest = issue.smallest()
    if smallest is not None and smallest != sent.body:
        yield "Without all that the fault does not need, this request breaks the rule:"
        yield from ("", fenced(_json(smallest), "json"), "")
    body = _json(sent.body)
    folds = body.count("\n") >= _MAX_LINES
    yield f"{number}, {code(f'POST {sent.path}')}; look at {code(issue.finding.at)}:"
    yield ""
    yield from ["<details><summary>the whole request</summary>", ""] if folds else []
    yield fenced(body, "json")
    yield from ["", "</details>", "", fenced(issue.finding.excerpt)] if folds else []


def _answer(issue: Issue) -> Iterator[str]:
    refusal, handling = issue.finding.refusal, issue.finding.handling
    if refusal is not None:
        members = {name: getattr(refusal, name) for name in ("message", "type", "code", "param")}
        error = {"error": {name: value for name, value in members.items() if value is not None}}
        yield f"It answers HTTP {refusal.status}:"
        yield from ("", fenced(_json(error), "json"), "")
    elif handling and handling != UNKNOWN:
        yield f"It does not reject the request; what is claimed of it: {prose(handling)}."
    elif isinstance(issue.rule, Rule):
        yield "It is not known to reject this: the rule holds because content is lost or changed, or is not portable."
    else:
        yield "The fault is the client's alone; no answer of the provider shows it."
    for claim in issue.claims:
        sources = "; ".join([_cited(source) for source in claim.source[:_MAX_SOURCES]])
        yield f"- {code(claim.name)} is {code(brief(claim.value))}, confidence {claim.confidence}: {sources}"


def _cited(source: Source) -> str:
    read = f", read {source.read}" if source.read else ""
    quoted = f" “{prose(source.quote)}”" if source.quote else ""
    return f"{link(source.link, source.text)}{read}{quoted}"


def _commands(issue: Issue) -> Iterator[str]:
    results, case = issue.results, issue.case
    yield "pip install wire-conformance"
    named = f"{quote(results.subject)} --install" if "@" in results.subject else "--driver COMMAND"
    yield f"conformance adapter run {named} --provider {quote(results.provider)} --model {quote(results.model)} \\"
    yield f"    --scenario {case.scenario} --variant {case.variant} --keep sessions"
    yield f"conformance check sessions --provider {quote(results.provider)}"
    yield f"conformance explain {issue.rule.id}"


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
