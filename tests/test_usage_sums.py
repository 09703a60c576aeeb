"""Token counts that are sums of a session are found on every wire, whichever count it is, and honest ones are not."""

from itertools import accumulate
from typing import Any

from conformance.judge import check
from conformance.rules import by_id
from conformance.wire.exchange import Conversation, Exchange
from conformance.wires import NAMES, as_sent
from tests import scripted
from tests.loops import every

RULE = by_id()["usage/not-cumulative"]
TEXT = "The station in Oslo reports 14 degrees, light rain and a breeze from the south-west. "
TURNS, TOKENS = 4, 60
KEYS = {
    "chat": {"prompt": "prompt_tokens", "completion": "completion_tokens", "total": "total_tokens"},
    "messages": {"prompt": "input_tokens", "completion": "output_tokens", "cached": "cache_read_input_tokens"},
    "responses": {"prompt": "input_tokens", "completion": "output_tokens", "total": "total_tokens"},
    "gemini": {
        "prompt": "promptTokenCount",
        "completion": "candidatesTokenCount",
        "total": "totalTokenCount",
        "cached": "cachedContentTokenCount",
    },
}
DETAILS = {"chat": "prompt_tokens_details", "responses": "input_tokens_details"}


def usage(wire: str, turn: int, kind: str) -> dict[str, Any]:
    """Return the usage of a turn; the count of a kind is the sum of all turns so far."""
    counts = {
        "prompt": [900 + (TOKENS + 20) * each for each in range(TURNS)],
        "completion": [TOKENS] * TURNS,
        "cached": [(500, 896)[bool(each)] + (TOKENS + 20) * max(0, each - 1) for each in range(TURNS)],
    }
    if wire == "messages":
        # There, the prompt is without what the cache held.
        counts["prompt"] = [one - other for one, other in zip(counts["prompt"], counts["cached"], strict=True)]
    counts["total"] = [one + other for one, other in zip(counts["prompt"], counts["completion"], strict=True)]
    counts |= {kind: list(accumulate(counts[kind]))} if kind else {}
    shown: dict[str, Any] = {key: counts[name][turn] for name, key in KEYS[wire].items()}
    if wire in DETAILS:
        shown[DETAILS[wire]] = {"cached_tokens": counts["cached"][turn]}
    return shown | ({"output_tokens_details": {"reasoning_tokens": 0}} if wire == "responses" else {})


def reply(wire: str, text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    made: dict[str, dict[str, Any]] = {
        "chat": scripted.chat(content=text),
        "messages": scripted.messages([{"type": "text", "text": text}]),
        "responses": scripted.responses([item]),
        "gemini": scripted.gemini([{"text": text}]),
    }
    return made[wire]


def session(wire: str, kind: str, *, streamed: bool) -> Conversation:
    """Return a session of which each request repeats the one before, and goes on."""
    messages: list[dict[str, Any]] = []
    exchanges = []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": f"{turn}: and tomorrow?"})
        sent = as_sent({"model": "m", "messages": list(messages), "max_tokens": 999}, wire)
        said = f"{turn}: {TEXT}"
        answer = reply(wire, said) | {"usageMetadata" if wire == "gemini" else "usage": usage(wire, turn, kind)}
        request = sent.request if sent.native is None else sent.native.request
        response = scripted.streamed(wire, answer) if streamed else answer
        exchanges.append(Exchange(request=request, response=response, url=sent.url))
        messages.append({"role": "assistant", "content": said})
    return tuple(exchanges)


NAMED = {"prompt": "prompt tokens", "completion": "completion tokens", "total": "total", "cached": "cached tokens"}
CASES = [
    (wire, streamed, kind)
    for wire in NAMES
    for streamed in (False, True)
    for kind in ("", *NAMED)
    # A total that the wire does not have is made of the other counts.
    if kind in ("", *KEYS[wire]) or kind != "total"
]


@every(("wire", "streamed", "kind"), CASES)
def test_a_sum_of_the_session_is_found_and_an_honest_count_is_not(
    wire: str,
    streamed: bool,  # noqa: FBT001 — drawn
    kind: str,
) -> None:
    outcomes = check(session(wire, kind, streamed=streamed), None, (RULE,))
    found = [each.message for outcome in outcomes for each in outcome.findings]
    # What the cache held is a part of the prompt there, which is then a sum as well.
    name = NAMED["prompt"] if (wire, kind) in (("messages", "prompt"), ("messages", "cached")) else NAMED.get(kind)
    assert [True] * bool(kind) == [each.endswith(str(name)) for each in found]
