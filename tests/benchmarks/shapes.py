"""Conversations that grow in one respect, from anything that an input may have many of.

A shape is a function from a number to a conversation and the provider to check it against.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.sse import render
from conformance.wires import by_name

MODEL = "example-model"
DONE = "data: [DONE]\n\n"
MakeId = Callable[[int], Any]


class Shape(NamedTuple):
    """A conversation that grows with a number, and the provider whose claims matter for it.

    `repeats`: whether each request repeats those before it.
    """

    build: Callable[[int], Conversation]
    provider: str | None = None
    repeats: bool = False


def size(conversation: Conversation) -> int:
    """Return the number of bytes of the bodies."""
    bodies = [body for each in conversation for body in (each.request, each.response) if body is not None]
    return sum([len(body.encode() if isinstance(body, str) else orjson.dumps(body)) for body in bodies])


def new_size(conversation: Conversation) -> int:
    """Return the number of bytes of the last request and of all replies: those of a history are there once."""
    replies = [replace(each, request=None) for each in conversation]
    return size((*replies, replace(conversation[-1], response=None)))


def distinct(number: int) -> str:
    return f"call_{number:08}"


def one(_number: int) -> str:
    return "call_1"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def call(identity: Any, name: str = "read", arguments: str = '{"path": "a"}') -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn(calls: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(identity: Any, text: str = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": text}


def request(*messages: dict[str, Any], tools: Iterable[str] = ("read",), **members: Any) -> dict[str, Any]:
    declared = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in tools]
    return {"model": MODEL, "messages": list(messages), "tools": declared, **members}


def reply(message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}


def exchange(body: dict[str, Any] | None, response: Any = None) -> Exchange:
    return Exchange.of_plain(body, response, 200, streamed=isinstance(response, str), model=MODEL)


def chunk(delta: dict[str, Any], index: int = 0, reason: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}


def stream(deltas: Iterable[dict[str, Any]]) -> str:
    return render([*map(chunk, deltas), chunk({}, reason="tool_calls"), DONE])


def history(number: int, answered: Callable[[int], bool], identity: MakeId, *, back: bool = False) -> Conversation:
    """Return a request with one turn of so many calls, and their results, in order or from the last to the first."""
    ids = [identity(each) for each in range(number)]
    results = [result(each) for position, each in enumerate(ids) if answered(position)]
    return (exchange(request(user("Go."), turn(map(call, ids)), *(results[::-1] if back else results))),)


def replied(number: int, identity: MakeId, tools: Iterable[str] = ("read",), name: str = "read") -> Conversation:
    calls = [call(identity(each), name) for each in range(number)]
    return (exchange(request(user("Go."), tools=tools), reply({"tool_calls": calls})),)


def streamed(number: int, identity: MakeId, index: Callable[[int], Any]) -> Conversation:
    """Return a stream of so many calls, each in two fragments; an index of None is left out."""
    deltas = []
    for each in range(number):
        place = {} if index(each) is None else {"index": index(each)}
        deltas.append({"tool_calls": [{**place, **call(identity(each), arguments="{")}]})
        deltas.append({"tool_calls": [{**place, "function": {"arguments": "}"}}]})
    return (exchange(request(user("Go."), stream=True), stream([{"role": "assistant"}, *deltas])),)


def legacy(number: int) -> Conversation:
    deltas = [{"function_call": {"name": "read", "arguments": "x" * 20}} for _ in range(number)]
    return (exchange(request(user("Go."), stream=True), stream([{"role": "assistant"}, *deltas])),)


def unfinished(number: int) -> Conversation:
    chunks = [chunk({"role": "assistant", "reasoning_text": "Let me see."}, index) for index in range(number)]
    return (exchange(request(user("Go."), stream=True, n=number), render([*chunks, DONE])),)


def listed(number: int) -> Conversation:
    deltas = [{"content": "a", "annotations": [{"type": "url"}]} for _ in range(number)]
    return (exchange(request(user("Go."), stream=True), stream([{"role": "assistant"}, *deltas])),)


def unrelated(number: int, identity: MakeId) -> Conversation:
    """Return exchanges that share nothing but, with one id, the ids of their calls."""
    return tuple(
        exchange(
            request(
                user(f"Question {each}"),
                turn([call(identity(2 * each), arguments=f"[{each}]")]),
                result(identity(each)),
            ),
            reply(turn([call(identity(2 * each + 1), arguments=f"[{each}, 1]")])),
        )
        for each in range(number)
    )


def interactions(number: int) -> Conversation:
    return tuple(
        exchange(request(user(f"What is {each}?")), reply({"content": f"It is {each}."})) for each in range(number)
    )


def grown(
    number: int, identity: MakeId, resent: MakeId, tagged: str = "", arguments: str = '{{"path": "file {}"}}'
) -> Conversation:
    """Return a session whose history grows by a call each time; `resent` makes the ids in the history."""
    messages = [user("Go.")]
    exchanges = []
    for each in range(number):
        made = arguments.format(each)
        answer = turn([call(identity(each), arguments=made)]) | {"content": f"{tagged}{each}"}
        exchanges.append(exchange(request(*messages), reply(answer)))
        messages += [answer | {"tool_calls": [call(resent(each), arguments=made)]}]
        messages += [result(resent(each), f"The text of file {each}.")]
    return tuple(exchanges)


def chatted(number: int) -> Conversation:
    """Return a conversation without tools: each request repeats what was said, and asks one more thing."""
    messages: list[dict[str, Any]] = []
    exchanges = []
    for each in range(number):
        messages.append(user(f"Question {each}"))
        answer = {"role": "assistant", "content": f"Answer {each}."}
        exchanges.append(exchange(request(*messages), reply(answer)))
        messages.append(answer)
    return tuple(exchanges)


def _foreign(number: int) -> str:
    return f"other_{number:08}"


def side_by_side(number: int) -> Conversation:
    """Return two sessions whose exchanges alternate, as of an agent with a second one that helps it."""
    one, other = grown(number // 2, distinct, distinct), grown(number // 2, _foreign, _foreign, "Helped: ")
    first = replace(other[0], request={**other[0].request, "messages": [user("Help.")]})
    helped = [first, *[_asked_for(each, "Help.") for each in other[1:]]]
    return tuple([each for pair in zip(one, helped, strict=True) for each in pair])


def _asked_for(each: Exchange, text: str) -> Exchange:
    return replace(each, request={**each.request, "messages": [user(text), *each.request["messages"][1:]]})


def grown_on(wire: str, made_by: Callable[[int], Conversation] | None = None) -> Callable[[int], Conversation]:
    """Return what makes a session on another wire: one whose history grows, or one as a function makes it."""
    written = by_name(wire).writing

    def build(number: int) -> Conversation:
        made: list[Exchange] = []
        for each in grown(number, distinct, distinct) if made_by is None else made_by(number):
            body = {**each.request, "max_tokens": 1000}
            asked = written.request(body)
            if made:
                _share(asked, made[-1].request)
            url = f"https://api.example.com/v1{by_name(wire).path(body)}"
            made.append(Exchange.of_plain(asked, written.reply(each.response, asked), 200, url=url, model=MODEL))
        return tuple(made)

    return build


def _one_id(number: int) -> Conversation:
    return grown(number, one, one)


def _other_ids(number: int) -> Conversation:
    return grown(number, distinct, _foreign)


def searching(number: int, kind: str) -> Conversation:
    """Return a request of Responses with so many items of a search for tools: calls without outputs, or the reverse."""
    made = {"type": f"tool_search_{kind}", "execution": "client", "status": "completed"}
    listed = [{**made, "call_id": distinct(each)} for each in range(number)]
    return (Exchange.of_plain({"model": MODEL, "input": listed}, url="https://api.example.com/v1/responses"),)


def _share(body: dict[str, Any], before: Any) -> None:
    """Let a request have the very messages of the one before, as if both were read from one file."""
    (key,) = [key for key in ("messages", "input", "contents") if key in body]
    shared = [old if old == new else new for old, new in zip(before[key], body[key], strict=False)]
    body[key][: len(shared)] = shared


def faulty(number: int) -> Conversation:
    broken = render([chunk({"role": 1}), chunk({"content": "a"}), DONE])
    return tuple(exchange(request(user(f"Question {each}"), stream=True), broken) for each in range(number))


def details(number: int) -> Conversation:
    given = [{"type": "reasoning.encrypted", "data": f"data {each}", "index": each} for each in range(number)]
    sent = [{**detail, "data": f"other {each}"} for each, detail in enumerate(given)]
    answer = turn([call("call_1")])
    body = request(user("Go."), answer | {"reasoning_details": sent}, result("call_1"))
    return exchange(request(user("Go.")), reply(answer | {"reasoning_details": given})), exchange(body)


def misshapen(number: int) -> Conversation:
    return (exchange(request(*[{"role": "user", "content": each, "timestamp": each} for each in range(number)])),)


SHAPES: dict[str, Shape] = {
    "unanswered calls": Shape(lambda number: history(number, lambda _: False, distinct)),
    "every other call answered": Shape(lambda number: history(number, lambda each: each % 2 == 0, distinct)),
    "answered calls": Shape(lambda number: history(number, lambda _: True, distinct), "mistral"),
    "answered calls, thinking": Shape(lambda number: history(number, lambda _: True, distinct), "deepseek"),
    "answered calls, one id": Shape(lambda number: history(number, lambda _: True, one), "deepseek"),
    "reversed results": Shape(lambda number: history(number, lambda _: True, distinct, back=True)),
    "calls of a reply": Shape(lambda number: replied(number, distinct)),
    "calls of a reply, one id": Shape(lambda number: replied(number, one)),
    "calls of a reply, many tools": Shape(
        lambda number: replied(number, distinct, [f"tool_{each}" for each in range(number)], "other")
    ),
    "calls of a stream": Shape(lambda number: streamed(number, distinct, lambda each: each)),
    "calls of a stream, all at index 0": Shape(lambda number: streamed(number, distinct, lambda _: 0)),
    "calls of a stream, one id": Shape(lambda number: streamed(number, one, lambda each: each)),
    "calls of a stream, no index": Shape(lambda number: streamed(number, distinct, lambda _: None)),
    "fragments of a function call": Shape(legacy),
    "fragments of a list": Shape(listed),
    "unfinished choices of a stream": Shape(unfinished),
    "interactions of a cassette": Shape(interactions, "openai"),
    "exchanges that share nothing": Shape(lambda number: unrelated(number, distinct), "openai"),
    "exchanges that share only an id": Shape(lambda number: unrelated(number, one)),
    "faulty streams of a session": Shape(faulty),
    "a history that grows": Shape(lambda number: grown(number, distinct, distinct), "deepseek", repeats=True),
    "a history that grows, one id": Shape(_one_id, repeats=True),
    "a history that grows, other ids": Shape(_other_ids, repeats=True),
    "a history that grows, equal calls": Shape(
        lambda number: grown(number, distinct, distinct, arguments="{{}}"), "openai", repeats=True
    ),
    "a history that grows, with tags": Shape(
        lambda number: grown(number, distinct, distinct, "<think>So.</think>"), repeats=True
    ),
    "a history that grows, Messages": Shape(grown_on("messages"), "anthropic", repeats=True),
    "a history that grows, Responses": Shape(grown_on("responses"), "openai", repeats=True),
    "a history that grows, Gemini": Shape(grown_on("gemini"), "gemini", repeats=True),
    "a chat that grows": Shape(chatted, "openai", repeats=True),
    "a chat that grows, Messages": Shape(grown_on("messages", chatted), "anthropic", repeats=True),
    "a chat that grows, Responses": Shape(grown_on("responses", chatted), "openai", repeats=True),
    "a chat that grows, Gemini": Shape(grown_on("gemini", chatted), "gemini", repeats=True),
    "two histories that grow": Shape(side_by_side, "openai", repeats=True),
    "a history that grows, one id, Messages": Shape(grown_on("messages", _one_id), "anthropic", repeats=True),
    "a history that grows, one id, Responses": Shape(grown_on("responses", _one_id), "openai", repeats=True),
    "a history that grows, one id, Gemini": Shape(grown_on("gemini", _one_id), "gemini", repeats=True),
    "a history that grows, other ids, Messages": Shape(grown_on("messages", _other_ids), "anthropic", repeats=True),
    "a history that grows, other ids, Responses": Shape(grown_on("responses", _other_ids), "openai", repeats=True),
    "unanswered items": Shape(lambda number: searching(number, "call"), "openai"),
    "outputs of no item": Shape(lambda number: searching(number, "output"), "openai"),
    "altered details": Shape(details, "openrouter"),
    "misshapen messages": Shape(misshapen, "openai"),
}  # fmt: skip
