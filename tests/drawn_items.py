"""Sessions on Responses, drawn by a seed: items of replies with ids, blobs and phases, sent back whole and not."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from conformance import Exchange

Item = dict[str, Any]

TEXTS = ("It is warm.", "OK", "Done.")
BLOBS = ("YmxvYg==", "b3RoZXI=", "dGhpcmQ=")


class _Session:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.input: list[Any] = [{"role": "user", "content": "What is the weather?"}]
        self.pool = source.choice((6, 200))
        self.store = source.choice((True, False, None))

    def identity(self, prefix: str) -> str:
        """Return an id; of a small pool, ids come again."""
        return f"{prefix}_{self.source.randrange(self.pool)}"

    def reply(self) -> list[Item]:
        """Return the items of a reply: reasoning, then calls or a message."""
        source, items = self.source, []
        for _ in range(source.choice((1, 1, 2))):
            if source.random() < 0.6:
                items.append(
                    {"type": "reasoning", "id": self.identity("rs"), "summary": []}
                    | ({"encrypted_content": source.choice(BLOBS)} if source.random() < 0.5 else {})
                )
            items.append(source.choice((self._call, self._call, self._message, self._search, self._shell))())
        return items

    def _call(self) -> Item:
        name, arguments = "get_weather", f'{{"city": {self.source.randrange(self.pool)}}}'
        ids = {"id": self.identity("fc"), "call_id": self.identity("call")}
        return {"type": "function_call", **ids, "name": name, "arguments": arguments, "status": "completed"}

    def _message(self) -> Item:
        text = {"type": "output_text", "text": self.source.choice(TEXTS), "annotations": []}
        phase = self.source.choice(({}, {"phase": "commentary"}, {"phase": "final_answer"}))
        return {"type": "message", "id": self.identity("msg"), "role": "assistant", "content": [text], **phase}

    def _search(self) -> Item:
        return {"type": "tool_search_call", "call_id": self.identity("call"), "execution": "client", "arguments": {}}

    def _shell(self) -> Item:
        ids = {"id": self.identity("lsh"), "call_id": self.identity("call")}
        return {"type": "local_shell_call", **ids, "action": {"type": "exec", "command": ["ls"]}}

    def go_on(self, items: list[Item]) -> None:
        """Append what comes back of the items of a reply, the outputs of its calls, and the next question."""
        source = self.source
        for item in copy.deepcopy(items):
            if source.random() < 0.15:
                continue
            self.input.append(_altered(item, source) if source.random() < 0.3 else item)
            output = {"function_call": "function_call_output", "tool_search_call": "tool_search_output"}.get(
                item["type"], "local_shell_call_output" if item["type"] == "local_shell_call" else ""
            )
            if output and source.random() < 0.85:
                self.input.append({"type": output, "call_id": item["call_id"], "output": source.choice(TEXTS)})
        if source.random() < 0.5:
            self.input.append({"role": "user", "content": source.choice(TEXTS)})

    def spoil(self) -> None:
        """Change what was sent before, as clients do that edit, cut, mark or reorder their history."""
        source, at = self.source, self.source.randrange(len(self.input))
        match source.randrange(6):
            case 0:
                self.input[at] = _altered(copy.deepcopy(self.input[at]), source)
            case 1 if len(self.input) > 1:
                del self.input[at]
            case 2:
                self.input = [*self.input[:1], *self.input[len(self.input) // 2 :]]
            case 3:
                other = source.randrange(len(self.input))
                self.input[at], self.input[other] = self.input[other], self.input[at]
            case 4:
                self.store = source.choice((True, False, None))
            case _:
                self.input[at] = source.choice((7, "text", {"type": "item_reference", "id": self.identity("msg")}))


def _altered(item: Any, source: random.Random) -> Any:
    """Return an item as a client sends it that changes it: without its id, with another, as a reference …"""
    if type(item) is not dict:
        return item
    key = source.choice(("id", "call_id", "encrypted_content", "phase", "status"))
    match source.randrange(4):
        case 0:
            return {name: value for name, value in item.items() if name != key}
        case 1:
            return {**item, key: source.choice(("msg_1", "rs_1", "fc_2", "call_3", "YmxvYg==", None))}
        case 2 if "id" in item:
            return {"type": "item_reference", "id": item["id"]}
        case _:
            return {name: value for name, value in item.items() if name not in ("id", "phase")}


def drawn_items(seed: int, most: int = 14) -> Iterator[Exchange]:
    """Yield the exchanges of a session on Responses, `most` at most, with branches and faults of its client."""
    source = random.Random(seed)  # noqa: S311 — repeatable, not secret
    session, saved = _Session(source), list[_Session]()
    faults, previous = source.choice((0.0, 0.1, 0.4)), ""
    for number in range(source.randint(2, most)):
        if saved and source.random() < faults / 2:
            session = copy.copy(source.choice(saved))
            session.input = copy.deepcopy(session.input)
        if source.random() < faults:
            session.spoil()
        items = session.reply()
        body: Item = {"model": "gpt-5", "input": copy.deepcopy(session.input)}
        body |= {} if session.store is None else {"store": session.store}
        if previous and source.random() < faults / 4:
            body["previous_response_id"] = previous
        previous = f"resp_{number}"
        answer = {"id": previous, "object": "response", "status": "completed", "model": "gpt-5"}
        yield Exchange(body, {**answer, "output": copy.deepcopy(items)}, 200, url="https://api.openai.com/v1/responses")
        saved.append(copy.copy(session))
        saved[-1].input = copy.deepcopy(session.input)
        session.go_on(items)
