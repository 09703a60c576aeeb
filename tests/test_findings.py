"""Where each bad example is reported, and in which words: on its own wire, and rendered on the others.

`tests/golden/findings.txt` has a block for each bad example: its findings with level, side, place, message and the
predicted refusal. A place is marked `!` if it has nothing to do with an edited one, so that a wrong pointer shows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance import rules, wires
from conformance.documents import read_json
from conformance.documents.pointer import parse
from conformance.judge import check
from conformance.profiles import of
from conformance.resources import folder
from conformance.results import Finding
from conformance.rules import Example, Rule
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.native import CHAT
from conformance.wires import NATIVE


def findings(rule: Rule, conversation: Conversation, example: Example) -> list[Finding]:
    """Return what a rule alone finds."""
    outcomes = check(conversation, of(example.claims) if example.claims else None, [rule])
    return [found for outcome in outcomes for found in outcome.findings]


def rendered(conversation: Conversation, wire: str) -> Conversation:
    """Return a conversation of chat completions as another wire renders it; streamed replies are left out."""
    protocol = wires.by_name(wire)
    rendering = protocol.writing
    exchanges = []
    for each in conversation:
        body = each.request if isinstance(each.request, dict) else {}
        asked = rendering.request(body)
        is_reply = isinstance(each.response, dict) and "choices" in each.response
        reply = rendering.reply(each.response, asked) if is_reply else None
        exchanges.append(Exchange.of_plain(request=asked, response=reply, url=protocol.path(body), model=each.model))
    return tuple(exchanges)


def is_edited(place: str, example: Example) -> bool:
    """Return whether a place is an edited one, inside it, or around it in the same body."""
    tokens = parse(place)
    for edit in map(parse, example.edits):
        edited = edit[:-1] if edit[-1] == "-" else edit
        shared = min(len(tokens), len(edited))
        if tokens[:shared] == edited[:shared] and (shared > 1 or edit == edited):
            return True
    return False


def line(found: Finding, mark: str) -> str:
    refusal = found.refusal
    answer = "" if refusal is None else f" -> {refusal.status} {refusal.message or refusal.body or ''}".rstrip()
    return f"{mark} {found.level.value} {found.side or '?'} {found.at or '/'}: {found.message}{answer}"


def chat_blocks() -> Iterator[str]:
    for rule in rules.load():
        for number, example in enumerate(rule.bad, 1):
            found = findings(rule, example.conversation(), example)
            marks = [" " if is_edited(each.at, example) else "!" for each in found]
            lines = [line(each, mark) for each, mark in zip(found, marks, strict=True)]
            yield "\n".join([f"{rule.id} {number} ({example.base})", *lines])


def native_blocks(wire: str) -> Iterator[str]:
    """Yield the findings of the bad examples of chat completions that another wire can express."""
    for rule in rules.load():
        for number, example in enumerate(rule.bad if {CHAT, wire} <= {*rule.wires} else (), 1):
            if example.base.startswith(NATIVE):
                continue
            try:
                conversation = rendered(example.conversation(), wire)
            except (TypeError, AttributeError, KeyError, ValueError):  # The wire has no form of this fault.
                continue
            found = findings(rule, conversation, example)
            usual = findings(rule, rendered(Example(example.base).conversation(), wire), example) if found else []
            new = [each for each in found if each not in usual]
            if new:
                yield "\n".join([f"{rule.id} {number} ({example.base} on {wire})", *[line(each, " ") for each in new]])


REFUSED = {"status": 400, "message": "{index}.{position} {role} {field} {kind} {id} {other} {name} {count} {limit}"}
VALUES = {"verdict-claim": ("accepted", "damaged", REFUSED), "flag-claim": (False, True)}
"""What each kind of claim may say of a deviation."""


def claimed_blocks() -> Iterator[str]:
    """Yield how each claim that a rule reads changes what it finds in its first bad example."""
    kinds = {name: each.get("$ref", "").rpartition("/")[2] for name, each in claim_schemas().items()}
    for rule in rules.load():
        example = rule.bad[0]
        conversation = example.conversation()
        usual = findings(rule, conversation, example)
        lines = []
        for name in rule.reads:
            for value in VALUES.get(kinds[name], ()):
                given = example._replace(claims={**example.claims, name: value})
                found = findings(rule, conversation, given)
                if found != usual:
                    shown = "; ".join(sorted({line(each, "").strip() for each in found})) or "nothing"
                    lines.append(f"  {name} {value if isinstance(value, str | bool) else 'refused'}: {shown}")
        if lines:
            yield "\n".join([rule.id, *lines])


def claim_schemas() -> dict[str, Any]:
    """Return the schema of each claim, by its name."""
    document: Any = read_json(folder("schemas") / "files" / "profile.json")
    properties: dict[str, Any] = document["$defs"]["claims"]["properties"]
    return properties


def test_a_claim_changes_what_a_rule_finds_as_it_says(golden: Callable[[str, str], None]) -> None:
    golden("findings-claims.txt", "\n\n".join(claimed_blocks()) + "\n")


def test_each_bad_example_is_reported_at_its_place_and_in_its_words(golden: Callable[[str, str], None]) -> None:
    golden("findings.txt", "\n\n".join(chat_blocks()) + "\n")


@pytest.mark.parametrize("wire", NATIVE)
def test_each_bad_example_is_reported_in_the_native_body(wire: str, golden: Callable[[str, str], None]) -> None:
    golden(f"findings-{wire}.txt", "\n\n".join(native_blocks(wire)) + "\n")
