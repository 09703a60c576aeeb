"""Targets whose inputs reach the rules, on all wires: the judge, command, proxy, simulator and converter."""

import io
import json
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from conformance import cli, profiles, rules, wires
from conformance.convert import from_canonical, parse_reply, prepare, to_canonical
from conformance.documents.pointer import parse
from conformance.errors import InvalidDocument, Unusable
from conformance.judge import check
from conformance.proxy.checking import Checking, Settings
from conformance.proxy.copies import Copy, Frame
from conformance.results import Outcome, Status
from conformance.simulator import Simulator
from conformance.transport.http import HttpRequest
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from tests.fuzz import grammar, seeds, twins, wired
from tests.fuzz.own_files import assert_judged, message
from tests.fuzz.seeds import Pool
from tests.hostile.test_simulator_fuzz import assert_sound

FORMATS: Final = ("console", "json", "jsonl", "github", "junit", "sarif")
CODES: Final = (0, 1, 2, 5)
INPUT: Final = "<input>"
_DAY: Final = "2026-11-22"


def pool(seed: int, corpus: Path | None) -> Pool:
    """Return the conversations of all wires, each with what its mutations need to be found again."""
    return (json.dumps([seed, None if corpus is None else str(corpus)]), *wired.pool(seed, corpus))


def drawn(rng: Random, given: Pool) -> Any:
    """Draw a conversation, and change it in nine of ten cases."""
    seed, corpus = json.loads(given[0])
    conversation = json.loads(given[rng.randrange(1, len(given))])
    if rng.random() < 0.1:
        return conversation
    return grammar.mutated(rng, conversation, grammar.bank(seed, None if corpus is None else Path(corpus)))


def provider_of(rng: Random, wire: str) -> str | None:
    """Draw a provider that has claims for a wire; none for one of three inputs."""
    return None if rng.random() < 0.33 else rng.choice(_serving(wire))


@cache
def _serving(wire: str) -> tuple[str, ...]:
    known = profiles.names()
    return tuple([name for name in known if wire == CHAT or wire in profiles.load(name).protocols]) or known


def make_conversation(rng: Random, given: Pool) -> Any:
    """Draw a conversation and a provider."""
    conversation = drawn(rng, given)
    return {"provider": provider_of(rng, conversation["wire"]), "conversation": conversation}


def make_claimed(rng: Random, given: Pool) -> Any:
    """Draw a conversation, and a provider or the claims of an example: some rules need claims that few make."""
    made = make_conversation(rng, given)
    return {**made, "claims": rng.choice(_claims())} if rng.random() < 0.2 else made


@cache
def _claims() -> tuple[dict[str, Any], ...]:
    found = [dict(bad.claims) for rule in rules.load() for bad in rule.bad if bad.claims]
    return tuple([json.loads(text) for text in dict.fromkeys(json.dumps(each, sort_keys=True) for each in found)])


def exchanges_of(given: Any) -> list[Exchange] | str:
    """Return the exchanges of an input, or why there are none: they hold what JSON cannot."""
    try:
        return wired.exchanges(given["conversation"])
    except (TypeError, InvalidDocument) as error:
        return str(error)


def check_wires(given: Any, _folder: Path) -> Any:
    """Check a conversation: no rule breaks, nothing is changed, and every finding is at a place of it."""
    exchanges, same = exchanges_of(given), exchanges_of(given)
    if isinstance(exchanges, str):
        return exchanges
    outcomes = judged(exchanges, profiles.of(given["claims"]) if given.get("claims") else given["provider"])
    assert same == exchanges, "check changed an exchange"
    return outcomes


def judged(exchanges: Sequence[Exchange], provider: profiles.Profile | str | None) -> tuple[Outcome, ...] | str:
    """Return the outcomes of all rules, each of which is sound; or what a conversation of another API is called."""
    try:
        outcomes = check(exchanges, provider, "*")
    except Unusable as error:
        return str(error)
    assert_judged(outcomes)
    for outcome in outcomes:
        for finding in outcome.findings:
            assert _is_placed(exchanges, finding.at), f"{outcome.rule} points beside the conversation: {finding.at}"
    return outcomes


def _is_placed(exchanges: Sequence[Exchange], at: str) -> bool:
    """Return whether a place begins with an exchange, and goes on with one of its fields."""
    place = parse(at)
    if not place:
        return True
    known = place[0].isdecimal() and int(place[0]) < len(exchanges)
    return known and (len(place) == 1 or place[1] in seeds.FIELDS)


def make_twins(rng: Random, given: Pool) -> Any:
    """Draw a reply of a wire."""
    while True:
        conversation = drawn(rng, given)
        last = conversation["exchanges"][-1] if conversation["exchanges"] else None
        if isinstance(last, dict) and isinstance(last.get("response"), dict):
            wire = conversation["wire"]
            request = last.get("request") if isinstance(last.get("request"), dict) else None
            return {"provider": provider_of(rng, wire), "wire": wire, "request": request, "reply": last["response"]}


def check_twins(given: Any, _folder: Path) -> Any:
    """Check a reply plain and streamed: a rule that looks at both finds the same in both."""
    try:
        plain, streamed = twins.both(given["wire"], given["request"], given["reply"])
    except (TypeError, InvalidDocument, *wired.UNWRITABLE) as error:
        return repr(error)
    one, other = [judged([each], given["provider"]) for each in (plain, streamed)]
    if isinstance(one, str) or isinstance(other, str):
        return one, other
    if twins.are_comparable(given["wire"], given["reply"]):
        differences = twins.differences(one, other)
        assert not differences, f"plain and streamed differ: {differences[0]}"
    return one, other


class _Silent:
    """Takes what the proxy prints; what goes wrong in the check itself is a fault."""

    def finding(self, *given: object) -> None: ...
    def more(self, *given: object) -> None: ...
    def change(self, *given: object) -> None: ...
    def loss(self, *given: object) -> None: ...

    def warn(self, message: str) -> None:
        raise AssertionError(message)


def check_proxied(given: Any, folder: Path) -> Any:
    """Let the proxy check what passed it: it takes every exchange, and finds what the judge finds."""
    profile = None if given["provider"] is None else profiles.load(given["provider"])
    checking = Checking(Settings((("proxy", wired.HOST),), _DAY, results=str(folder)), profile, _Silent())
    taken = 0
    for exchange in records(given):
        copy = _copied(exchange)
        checking.take(Frame("copy", {**_head(copy)}, copy.sent, copy.received))
        taken += 1
    checking.finish()
    tally = checking.tally
    assert not tally.broken, f"rules broke: {tally.broken}"
    counted = sum(sum(each.exchanges.values()) for each in tally.models.values()) + sum(tally.unchecked.values())
    assert taken == counted, f"{taken} exchanges passed, {counted} are counted"
    for path in folder.glob("*.json"):
        path.unlink()
    return sorted(tally.unchecked.items()), sorted((str(side), n) for side, n in tally.sides.items())


def records(given: Any) -> list[Any]:
    """Return the records of an input that the wire could carry, with their URL."""
    conversation = given["conversation"]
    found = [each for each in wired.records_of(conversation["exchanges"]) if "request" in each]
    return [
        {
            **each,
            "url": each.get("url") or wired.url_of(conversation["wire"], each["request"], streams="events" in each),
        }
        for each in found
    ]


def _copied(record: Any) -> Copy:
    streams = "events" in record
    received = wired.stream_text(record["events"]) if streams else json.dumps(record.get("response"))
    kind = "text/event-stream" if streams else "application/json"
    status = record.get("status")
    return Copy(
        tap=0,
        method="POST",
        url=str(record["url"]),
        sent_headers=[("content-type", "application/json")],
        sent=json.dumps(record["request"]).encode("utf-8", "replace"),
        status=status if isinstance(status, int) and 200 <= status < 600 else 200,
        headers=[("content-type", kind)],
        received=received.encode("utf-8", "replace"),
    )


def _head(copy: Copy) -> dict[str, Any]:
    names = ("tap", "method", "url", "sent_headers", "status", "reason", "headers", "cut", "lost", "missing")
    return {name: getattr(copy, name) for name in names}


def make_command(rng: Random, given: Pool) -> Any:
    """Draw a conversation, a format of the report, and how the file holds it."""
    made = make_conversation(rng, given)
    words = rng.choice(([], [], ["--fix"], ["--everywhere"], ["--all"], ["--known"], ["--level", "SHOULD"]))
    # A fix is printed, and of all providers a table.
    format_ = "console" if set(words) & {"--fix", "--everywhere"} else rng.choice(FORMATS)
    return {**made, "options": [*words, "--format", format_], "lines": rng.random() < 0.5}


def command(given: Any, folder: Path) -> Any:
    """Run `conformance check` on a file: it ends with one of its codes, no rule breaks, and JSON can be read."""
    held = [_held(each) for each in records(given)]
    name = "session.jsonl" if given["lines"] else "session.json"
    (folder / name).write_text("\n".join(map(json.dumps, held)) if given["lines"] else json.dumps(held), "utf-8")
    provider = ("--provider", given["provider"]) if given["provider"] is not None else ()
    printed, said = io.StringIO(), io.StringIO()
    # Some formats identify a finding by the path of its file.
    with chdir(folder), redirect_stdout(printed), redirect_stderr(said):
        try:
            code = cli.main(["check", name, *provider, *given["options"]])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    assert code in CODES, f"exit code {code}"
    assert "Traceback" not in said.getvalue(), said.getvalue()
    assert "errored" not in said.getvalue(), said.getvalue()
    if "json" in given["options"] and code in (0, 1):
        document = json.loads(printed.getvalue())
        assert not document.get("errored"), document["errored"]
    return code, printed.getvalue(), said.getvalue()


def _held(record: Any) -> Any:
    rest = {name: each for name, each in record.items() if name != "events"}
    return {**rest, "response": wired.stream_text(record["events"])} if "events" in record else rest


def make_request(rng: Random, given: Pool) -> Any:
    """Draw a request to the simulator, at the path of its wire."""
    conversation = drawn(rng, given)
    wire = conversation["wire"]
    bodies = [each["request"] for each in wired.records_of(conversation["exchanges"]) if "request" in each]
    return {"provider": provider_of(rng, wire) or _serving(wire)[0], "wire": wire, "bodies": bodies}


def simulate(given: Any, _folder: Path) -> Any:
    """Send requests to the simulator: it answers each, and refuses what `check` calls a MUST."""
    simulator, wire = Simulator(profiles.load(given["provider"])), given["wire"]
    replies = []
    for body in given["bodies"]:
        streams = isinstance(body, dict) and body.get("stream") is True
        path = "/v1" + wired.url_of(wire, body, streams=streams).removeprefix(wired.HOST)
        request = HttpRequest("POST", path, {"content-type": "application/json"}, json.dumps(body).encode())
        reply = simulator.answer(request)
        assert_sound(given["provider"], request, reply)
        replies.append(reply)
    return replies


def make_native(rng: Random, given: Pool) -> Any:
    """Draw a body of a wire that is not the canonical one: a request, a reply, or a stream."""
    while True:
        made = make_conversation(rng, given)
        records_ = list(wired.records_of(made["conversation"]["exchanges"]))
        if made["conversation"]["wire"] != CHAT and records_:
            record = rng.choice(records_)
            bodies = [record[name] for name in ("request", "response") if name in record]
            bodies += [wired.stream_text(record["events"])] if "events" in record else []
            if bodies:
                wire = made["conversation"]["wire"]
                return {"provider": made["provider"], "wire": wire, "value": rng.choice(bodies)}


def canonical(given: Any, _folder: Path) -> Any:
    """Read a body of a wire into the canonical transcript, whose messages break no schema; and check that."""
    try:
        converted = to_canonical(given["wire"], given["value"])
    except InvalidDocument as error:
        return message(error, INPUT)
    except TypeError as error:
        return _not_plain(error)
    outcomes = judged([Exchange({"model": "m", "messages": converted.value})], given["provider"])
    return converted, outcomes


def make_transcript(rng: Random, given: Pool) -> Any:
    """Draw the messages of a request of chat completions, a wire to write them for, and a provider."""
    while True:
        conversation = drawn(rng, given)
        bodies = [each.get("request") for each in wired.records_of(conversation["exchanges"])]
        found = [
            each["messages"] for each in bodies if isinstance(each, dict) and isinstance(each.get("messages"), list)
        ]
        if conversation["wire"] == CHAT and found:
            wire = rng.choice(wires.NATIVE)
            return {"provider": provider_of(rng, wire), "wire": wire, "messages": rng.choice(found)}


def native(given: Any, _folder: Path) -> Any:
    """Write a transcript for a wire, check it there, and read it back: nothing is lost that was not named."""
    try:
        converted = from_canonical(given["wire"], given["messages"])
    except InvalidDocument as error:
        return message(error, INPUT)
    except TypeError as error:
        return _not_plain(error)
    url = wired.url_of(given["wire"], converted.value, streams=False)
    outcomes = judged([Exchange(converted.value, url=url)], given["provider"])
    again = to_canonical(given["wire"], converted.value)
    return converted, outcomes, again


def prepared(given: Any, _folder: Path) -> Any:
    """Prepare a transcript for a provider: what comes out is accepted there, unless it is said to be unfixed."""
    # What is prepared here is a request of chat completions; `native` writes those of other wires.
    name = given["provider"] or "deepseek"
    name = name if CHAT in profiles.load(name).wires else "deepseek"
    model = profiles.load(name).model
    try:
        found = prepare({"model": model, "messages": given["messages"]}, name)
    except InvalidDocument as error:
        return message(error, INPUT)
    except TypeError as error:
        return _not_plain(error)
    outcomes = judged([Exchange({"model": model, "messages": found.messages})], name)
    refused = [
        outcome.rule
        for outcome in (outcomes if not isinstance(outcomes, str) else ())
        if outcome.status is Status.FAILED and any(each.refusal is not None for each in outcome.findings)
    ]
    assert found.unfixed or not refused, f"prepared for {name}, and refused by {refused[0]}"
    return found, outcomes


def make_reply(rng: Random, given: Pool) -> Any:
    """Draw a conversation of chat completions that has a reply."""
    while True:
        made = make_conversation(rng, given)
        records_ = list(wired.records_of(made["conversation"]["exchanges"]))
        if made["conversation"]["wire"] == CHAT and any("response" in each or "events" in each for each in records_):
            return made


def replied(given: Any, _folder: Path) -> Any:
    """Read replies into messages, put each into a request, and check that."""
    exchanges = exchanges_of(given)
    found: list[Any] = []
    for exchange in exchanges if not isinstance(exchanges, str) else ():
        if exchange.response is None:
            continue
        try:
            said = parse_reply(exchange.response, given["provider"])
        except (InvalidDocument, Unusable) as error:
            found.append(str(error))
            continue
        found.append((said, judged([Exchange({"model": "m", "messages": [said]})], given["provider"])))
    return found


def _not_plain(error: TypeError) -> str:
    """Return the message of an error about a value that JSON cannot hold; any other one is a fault."""
    if not any(each in str(error) for each in ("expected", "JSON", "nested deeper")):
        raise error
    return str(error)
