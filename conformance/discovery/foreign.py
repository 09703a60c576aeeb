"""An unknown text field of replies, tried as reasoning: sent back on its own, and with a tool turn."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.discovery.interview import Interview
from conformance.discovery.unread import UnreadText, holds, unread, without
from conformance.discovery.verdicts import refusal
from conformance.discovery.wires import bodies, max_tokens
from conformance.documents.pointer import parse
from conformance.judge import check
from conformance.observations.collected import LOW, MEDIUM, ObservedClaim, ObservedClaims
from conformance.observations.counts import reasoning_tokens
from conformance.observations.sights import digest
from conformance.scenarios import load, tool_definitions
from conformance.suite.probes import error_text
from conformance.wire.elements import Reply
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT, OWN
from conformance.wire.reasoning import ALL_KEYS, FOREIGN
from conformance.wire.values import objects
from conformance.wires import by_name

_RULE: Final = "response/no-unknown-text-fields"
_NAMED: Final = re.compile("reason|think|thought|chain_of|cot$|monologue|scratchpad|rationale|deliberat", re.IGNORECASE)
_ON: Final = "Thanks. Now answer with the one word: bye."

Body = dict[str, Any]


class Tried(NamedTuple):
    """What trying a field shows: claims, the exchanges, and a note in words; `key` is empty if there is no field.

    `thinks`: whether a text that no claim can place is reasoning.
    """

    key: str
    claims: ObservedClaims
    conversations: tuple[Conversation, ...]
    note: str
    thinks: bool = False


NOTHING: Final = Tried("", {}, (), "")


def key_with_text(exchanges: Iterable[Exchange]) -> str:
    """Return the key of a message that holds text in a reply and that no wire has; empty if there is none."""
    for exchange in exchanges:
        for outcome in check((exchange,), None, [_RULE]):
            for finding in outcome.findings:
                key = str(parse(finding.at)[-1])
                # The usual fields are found without this, also the one that is a departure from the canonical wire.
                if key not in ALL_KEYS:
                    return key
    return ""


def _without_text(exchange: Exchange) -> Iterator[str]:
    """Yield the keys of a message that no wire has, have a name of reasoning, and hold a list or an object."""
    for reply in Index((exchange,)).replies:
        for key, value in reply.message.items():
            if key not in ALL_KEYS and value and isinstance(value, (list, dict)) and _NAMED.search(key):
                yield key


def looks_like_reasoning(exchange: Exchange) -> bool:
    """Return whether a reply has text in an unknown field whose name is one of reasoning."""
    return _NAMED.search(key_with_text([exchange])) is not None


def tried(interview: Interview, model: str, length: str, answers: Sequence[Conversation]) -> Tried:
    """Send an unknown text field of a reply back: on its own, then with a tool turn, and without it there.

    It counts as reasoning if its name says so, if the reply counts tokens of reasoning and shows no other, or if a tool
    turn is accepted with it and rejected without it. `answers` begin with that to the plain question.
    """
    if not answers:
        return NOTHING
    if interview.wire != CHAT:
        return _tried_native(interview, model, length, answers[0][0])
    first = answers[0][0]
    base, asked = _bodies(interview, model, length)
    call = interview.any_answer(asked)
    key = key_with_text([first, *([call] if call is not None else [])])
    kept = tuple([(each,) for each in (first, call) if each is not None])
    if not key:
        odd = next((name for (each,) in kept for name in _without_text(each)), "")
        return Tried("", {}, kept, f"replies carry {odd}, which is not text and may be reasoning") if odd else NOTHING
    alone = _sent_back(interview, {**base, "messages": list((first.request or {})["messages"])}, first, key)
    with_it = without = None
    if call is not None:
        with_it = _sent_back(interview, asked, call, key)
        without = _sent_back(interview, asked, call, "")
    needed = _status(with_it) == 200 and 400 <= _status(without) < 500
    is_counted = reasoning_tokens(Index((first,))) > 0
    if not (needed or is_counted or _NAMED.search(key)):
        return Tried("", {}, kept, f"replies carry text in {key}, and nothing shows that it is reasoning")
    claims = _claims(key, first if call is None else call, alone, with_it)
    return Tried(key, claims, kept, f"replies carry reasoning in {key}, a field that no other provider has")


def _bodies(interview: Interview, model: str, length: str) -> tuple[Body, Body]:
    """Return the members of each request, and a request whose answer is a call."""
    base: Body = {"model": model, length: max_tokens(interview.wire)}
    scenario = load("one-tool-call")
    asked = {**base, "messages": [{"role": "user", "content": scenario.turns[0].user or ""}]}
    return base, {**asked, "tools": [tool_definitions()[name] for name in scenario.tools]}


def _tried_native(interview: Interview, model: str, length: str, first: Exchange) -> Tried:
    """Try a text that the wire has no name for: sent back alone, with a tool turn, and without it there.

    A profile can name no such place on these wires, so what was seen is said, and the field stays open.
    """
    base, asked = _bodies(interview, model, length)
    plain = {**base, "messages": list((first.request or {})["messages"])}
    call, streamed = interview.any_answer(asked), interview.any_answer({**plain, "stream": True})
    seen = [each for each in (first, call, streamed) if each is not None]
    kept = tuple([(each,) for each in seen])
    whole = [(each, found) for each in (first, call) if each is not None and (found := unread(each)) is not None]
    in_stream = unread(streamed) if streamed is not None else None
    if not whole:
        note = (
            f"streams carry text in {in_stream.name}, which replies that are no streams have not" if in_stream else ""
        )
        return Tried("", {}, kept, note) if in_stream else NOTHING
    name = whole[0][1].name
    alone = next((_returned(interview, plain, each, found, "alone") for each, found in whole if each is first), None)
    turns = [(each, found) for each, found in whole if each is call]
    with_it = without_it = None
    for each, found in turns:
        with_it = _returned(interview, asked, each, found, "with")
        without_it = _returned(interview, asked, each, found, "without")
    needed = _status(with_it) == 200 and 400 <= _status(without_it) < 500
    is_named = _NAMED.search(name) is not None
    is_reasoning = needed or is_named or reasoning_tokens(Index((first,))) > 0
    said = [
        f"replies carry {'reasoning' if is_reasoning else 'text'} in {name}, which the wire {interview.wire} has not"
    ]
    said += [f"streams carry it in {in_stream.name}" if in_stream else "streams carry none"]
    said += [f"sent back alone it is answered with HTTP {alone.status}"] if alone is not None else []
    said += [f"in a tool turn with HTTP {with_it.status}"] if with_it is not None else []
    said += (
        [f"a tool turn without it with HTTP {without_it.status}{_words(without_it)}"] if without_it is not None else []
    )
    if not is_reasoning:
        said.append("nothing shows that it is reasoning")
    return Tried("", {}, kept, "; ".join(said), thinks=is_reasoning)


def _words(refused: Exchange) -> str:
    return f" ({error_text(bodies(refused)[1]):.160})" if _status(refused) >= 400 else ""


def _returned(
    interview: Interview, body: Mapping[str, Any], exchange: Exchange, found: UnreadText, how: str
) -> Exchange | None:
    """Send a reply back as it came on its wire, or without a text, and what follows it."""
    native, replies = exchange.native, Index((exchange,)).replies
    if native is None or not replies:
        return None
    form = by_name(interview.wire).writing.own(native)
    if not holds(form, found.text):
        return None
    calls = [dict(call) for _, call in objects(replies[0].message.get("tool_calls"))]
    message: Body = {"role": "assistant", OWN: without(form, found.text) if how == "without" else form}
    message |= {"tool_calls": calls} if calls else {}
    return interview.any_answer({**body, "messages": [*body["messages"], message, *_following(calls)]})


def _following(calls: Sequence[Body]) -> list[Body]:
    if not calls:
        return [{"role": "user", "content": _ON}]
    return [{"role": "tool", "tool_call_id": call.get("id"), "content": "18"} for call in calls]


def _claims(key: str, shown: Exchange, alone: Exchange | None, with_it: Exchange | None) -> ObservedClaims:
    name, field = digest(shown), f"{FOREIGN}{key}"
    found = {"reasoning.response-field": ObservedClaim(field, name, MEDIUM)}
    accepted = [each for each in (alone, with_it) if each is not None and each.status == 200]
    if accepted:
        note = "reasoning was accepted there; whether it is read was not shown"
        found["reasoning.request-field"] = ObservedClaim(field, digest(accepted[-1]), LOW, note)
        found["request.known-message-fields"] = ObservedClaim([key], digest(accepted[-1]), LOW)
    elif alone is not None and with_it is not None:
        found["reasoning.request-field"] = ObservedClaim("none", digest(alone), MEDIUM, f"{key} is rejected")
    if alone is not None and 400 <= _status(alone) < 500:
        found["reasoning.on-plain-turn"] = ObservedClaim(refusal([alone]), digest(alone), LOW, "seen once")
    return found


def _sent_back(interview: Interview, body: Mapping[str, Any], exchange: Exchange, key: str) -> Exchange | None:
    """Send the reply of an exchange back, with the text under a key (empty: without), and what follows it."""
    replies: Sequence[Reply] = Index((exchange,)).replies
    if not replies:
        return None
    said = replies[0]
    message: Body = {"role": "assistant", "content": said.message.get("content") or ""}
    if key in said.message:
        message[key] = said.texts.get(key, said.message[key])
    calls = [dict(call) for call in said.message.get("tool_calls") or () if isinstance(call, dict)]
    if calls:
        message["tool_calls"] = [{name: value for name, value in call.items() if name != "index"} for call in calls]
    return interview.any_answer({**body, "messages": [*body["messages"], message, *_following(calls)]})


def _status(exchange: Exchange | None) -> int:
    return 0 if exchange is None else exchange.status or 0
