"""Explains an error that somebody pasted: its cause, whose side it is, who says so, the fix, and SDKs that cause it."""

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import orjson

from conformance import profiles, rules
from conformance.error_texts import CauseSide, ErrorCause, Explanation, GenericError, explain, generic_error, said
from conformance.errors import Unusable
from conformance.files.recognition import detected_provider
from conformance.formats import Input
from conformance.judge import judge
from conformance.reporting.text import labelled
from conformance.resources import folder
from conformance.results import Finding
from conformance.rules.refused import rules_about
from conformance.wire.exchange import Exchange
from conformance.wires import translate

STDIN: Final = "-"

_DATA: Final = ("-d", "--data", "--data-raw", "--data-binary", "--json")
_CURL: Final = re.compile(r"^[$>% ]*(?=curl\s)", re.MULTILINE)
_URL: Final = re.compile(r"https?://\S+")
_LINK: Final = re.compile(r"\[([^]]+)\]\(([^)]+)\)")
_ADDRESS: Final = r"\2"
_COLUMNS: Final = 5
"""Of the table of known bugs: bug, report, release, case, rule; and the release without it, if there is one."""
_UNKNOWN: Final = "no name, and no known text, code or status of an error"
_NAMES_NONE: Final = "unknown: hosts send this text for many causes, and it names none"
_NO_BODY: Final = "unknown: this is only the status; what the host says is in the body of its answer, which is not here"
_SHOWN: Final = 6
_SOURCES: Final = 4
_SIDES: Final = {
    CauseSide.CLIENT: "client: the request has to change",
    CauseSide.PROVIDER: "provider: the server has to change",
    CauseSide.ACCOUNT: "account: the key, its quota or its rights have to change",
    CauseSide.MODEL: "model: what it wrote was rejected; another attempt may succeed",
}


class _CurlRequest(NamedTuple):
    """What a pasted curl command sends."""

    url: str
    body: object


def from_stdin() -> str:
    """Return what was pasted on standard input, as text."""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def is_error_text(name: str) -> bool:
    """Return whether a name is rather an error: no name has white space, braces or a sentence, nor is it a number."""
    return (
        bool(re.search(r"[\s{]|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}", name.strip())) or name.strip().isdigit()
    )


def is_known(text: str) -> bool:
    """Return whether a text is a known error, or has the code or status of one."""
    found = explain(text)
    return not found.is_likely if found is not None else generic_error(text) is not None


def explained(text: str, width: int) -> Iterator[str]:
    """Yield the lines of what an error means; and, of a curl command, what is wrong with its request.

    `text`: an error text, a JSON body, a log line, a traceback, a curl command, its output, or both. A text that no
    known error fits is said to be unknown, not guessed at; without a curl command, that raises Unusable.
    """
    start = _CURL.search(text)
    end = 0 if start is None else _end_of_command(text, start.end())
    sent = None if start is None else _sent(text[start.end() : end])
    rest = text if start is None else text[: start.start()] + text[end:]
    if sent is not None:
        yield from _about_request(sent, rest.strip(), width)
    if not rest.strip():
        return
    found = explain(rest)
    unclear = generic_error(rest) if found is None else None
    if found is not None:
        yield from _about(found, width)
    elif unclear is not None:
        yield from _about_generic(unclear, width)
    elif sent is not None:
        yield from labelled("error", _UNKNOWN, width, 0, 7)
    else:
        raise Unusable(f"{_UNKNOWN}: {said(text)}")


def _about(found: Explanation, width: int) -> Iterator[str]:
    yield from labelled("error", found.text, width, 0, 7)
    if found.status is not None:
        yield f"status   {found.status}"
    for number, cause in enumerate(found.causes):
        yield from labelled("cause" if not number else "or", f"{cause.id}: {_meaning(found, cause)}", width, 0, 7)
    yield from labelled("side", _SIDES[found.cause.side], width, 0, 7)
    yield from labelled("fix", found.fix, width, 0, 7)
    if found.hosts:
        yield from labelled("said by", ", ".join(found.hosts), width, 0, 7)
    if found.since:
        yield from labelled("since", found.since, width, 0, 7)
    about = [rule.id for rule in rules_about(found.cause)]
    if about:
        yield from labelled("rules", ", ".join(about[:_SHOWN]), width, 0, 7)
    for number, bug in enumerate(_known_bugs(found, about)[:_SHOWN]):
        yield from labelled("" if number else "SDKs", bug, width, 9 if number else 0, 7)
    sources = list(dict.fromkeys([url for each in found.sayings for url in each.sources]))
    for number, url in enumerate(sources[:_SOURCES]):
        yield f"{'' if number else 'sources':7}  {url}"
    if note := _note(found):
        yield from labelled("note", note, width, 0, 7)


def _note(found: Explanation) -> str:
    """Return what makes an explanation less sure; empty for a known text that is whole."""
    if found.is_part:
        return "the text is cut; what is left of it fits this"
    if found.is_likely:
        return "no host is known to say this text; the cause is what its words say"
    return "" if found.sayings else "the text is not known; its code or status says this on every host"


def _about_generic(found: GenericError, width: int) -> Iterator[str]:
    """Yield who says a text that does not say its cause, and what to look for."""
    yield from labelled("error", found.text, width, 0, 7)
    if found.status is not None:
        yield f"status   {found.status}"
    yield from labelled("cause", _NO_BODY if found.is_bare and not found.hosts else _NAMES_NONE, width, 0, 7)
    if found.hosts:
        yield from labelled("said by", ", ".join(found.hosts), width, 0, 7)
    for number, cause in enumerate(found.causes[:_SHOWN]):
        said_by = ", ".join(dict.fromkeys([each.host for each in found.sayings if each.cause == cause.id]))
        text = f"{cause.id}, seen at {said_by}: {cause.meaning} To fix it: {cause.fix}"
        yield from labelled("" if number else "look for", text, width, 9 if number else 0, 7)
    about = list(dict.fromkeys([rule.id for cause in found.causes for rule in rules_about(cause)]))
    if about:
        yield from labelled("rules", ", ".join(about[:_SHOWN]), width, 0, 7)
    host = next((each for each in found.hosts if each in profiles.names()), "HOST")
    advice = f"`conformance check --provider {host} FILE` looks for these and all other causes in the request itself"
    yield from labelled("next", advice, width, 0, 7)


def _meaning(found: Explanation, cause: ErrorCause) -> str:
    return found.meaning if cause is found.cause else cause.meaning


def _known_bugs(found: Explanation, about: Sequence[str]) -> list[str]:
    """Return the releases of SDKs that are known to break one of some rules, as docs/known-bugs.md lists them.

    Only SDKs that speak a wire on which a host says this text.
    """
    wires = {each.wire for each in found.sayings if each.cause == found.cause.id}
    listed = []
    for line in (folder("docs") / "known-bugs.md").read_text("utf-8").splitlines():
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if len(cells) >= _COLUMNS and cells[4] in about and (not wires or _wire_of(cells[2]) in wires):
            bug, reported, release, _, _, *fixed = cells
            state = f"fixed in {fixed[0]}" if fixed else "open"
            listed.append(f"{release}, {state}: {bug} ({_LINK.sub(_ADDRESS, reported)})")
    return listed


def _wire_of(release: str) -> str:
    """Return the wire that an SDK speaks, by its name with a version."""
    # Imported here because most errors are no SDK's.
    from conformance.adapters import definition

    return definition.load(release.partition("@")[0]).protocol


def _end_of_command(text: str, start: int) -> int:
    """Return where a shell command ends: at the first end of line that is neither quoted nor escaped."""
    quote, at = "", start
    while at < len(text):
        letter = text[at]
        if letter == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "\n":
            return at
        at += 1
    return len(text)


def _sent(command: str) -> _CurlRequest | None:
    """Return what a curl command sends; None if it has no JSON body, or is cut."""
    try:
        words = shlex.split(command.replace("\\\n", " "))
        bodies = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _DATA]
        body = orjson.loads(bodies[0]) if bodies else None
    except ValueError:
        return None
    url = next((found[0] for word in words if (found := _URL.match(word))), "")
    return None if not isinstance(body, dict) else _CurlRequest(url, body)


def _about_request(sent: _CurlRequest, answer: str, width: int) -> Iterator[str]:
    """Yield what is wrong with the request of a curl command, by the claims of its host if that has a profile."""
    reply = answer[answer.find("{") :] if "{" in answer else answer
    failed = Exchange(sent.body, reply or None, 400 if reply else None, url=sent.url)
    (exchange,) = translate((failed,))
    name = detected_provider(Input("", None, "exchange", (failed,)))
    judgement = judge((exchange,), profiles.load_profile(name) if name else None, rules.load())
    found = [
        (each.rule, finding) for each in judgement.found() for finding in each.findings if finding.side == "client"
    ]
    yield from labelled("request", f"to {name or 'a host without a profile'}, {len(found)} findings", width, 0, 7)
    for rule, finding in found[:_SHOWN]:
        yield from labelled("", _line(rule, finding), width, 9)


def _line(rule: str, finding: Finding) -> str:
    answered = f"; it is answered with {finding.refusal.status}" if finding.refusal is not None else ""
    return f"{finding.at.removeprefix('/0/request')}: {rule}: {finding.message}{answered}"
