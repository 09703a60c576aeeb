"""A simulator that no run can recognise: other words than the script, ids and dates of now, and no mark."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import count
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final

import orjson

from conformance import scenarios
from conformance.profiles import Profile
from conformance.scenarios import Scenario
from conformance.simulator import Simulator, members, script
from conformance.simulator.responder import GENERIC_HEADER
from conformance.transport.http import HttpReply, HttpRequest

_MARKS: Final = frozenset({"server", *GENERIC_HEADER})
_ID: Final = re.compile(rb'"(?:id|call_id|item_id|tool_use_id|responseId)": ?"([^"\\]+)"')
_RANDOM: Final = re.compile(r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{8,}")
"""The part of an id that is drawn, not counted or named: long, and with a digit in it."""

# Letters of hexadecimal numbers stay such letters, so that an id keeps its format.
_KINDS: Final = (
    digits,
    *[part for letters in (ascii_lowercase, ascii_uppercase) for part in (letters[:6], letters[6:])],
)
_OTHER_WORDS: Final = {"degrees": "°C", "because": "since", "so": "and thus", "Both": "The two", "both": "the two"}


def in_other_words(text: str, before: str, after: str) -> str:
    """Return a text that says the same: each number, name and placeholder stands in it, between other words."""
    if not text or _is_json(text):
        return text
    words = [_OTHER_WORDS.get(word, word) for word in text.split(" ")]
    return f"{before} {' '.join(words)} {after}"


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


@cache
def _told_otherwise(name: str) -> Scenario:
    scenario = scenarios.load(name)
    return replace(scenario, turns=tuple([
        replace(
            turn,
            says=in_other_words(turn.says, "I had a look at it.", "Ask me if there is more."),
            thinks=in_other_words(turn.thinks, "Okay, let me see.", "That seems right to me."),
        )
        for turn in scenario.turns
    ]))  # fmt: skip


def find(body: Mapping[str, Any]) -> Scenario | None:
    """Return the scenario of a request in other words."""
    found = script.find_scenario(body)
    return None if found is None else _told_otherwise(found.name)


class Hidden:
    """Answers as the simulator of a profile, with nothing by which the replies could be known for simulated.

    `clean` are the replies of the simulator by path and body, which may be shared by many of the same profile.
    """

    def __init__(self, profile: Profile, clean: dict[tuple[str, bytes], HttpReply]) -> None:
        self._simulator = Simulator(profile, find=find)
        self._clean = clean
        self._known: dict[bytes, bytes] = {}
        self._numbers = count(1)

    def answer(self, request: HttpRequest) -> HttpReply:
        """Return the reply to a request."""
        said = {shown: own for shown, own in self._known.items() if shown in request.body}
        body = _replaced(request.body, said)
        key = (request.path, body)
        if key not in self._clean:
            self._clean[key] = self._simulator.answer(replace(request, body=body))
        reply = self._clean[key]
        # A refusal may name an id that the request should have had.
        named = said if reply.status == 200 else self._known
        return self._as_of_now(reply, {own: shown for shown, own in named.items()})

    def _as_of_now(self, reply: HttpReply, said: Mapping[bytes, bytes]) -> HttpReply:
        """Return a reply with ids and dates of its own; `said` are the ids of the request, by those of the script."""
        whole = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
        number = next(self._numbers)
        fresh = {own: other_id(own, number) for own in {found[1] for found in _ID.finditer(whole)}}
        self._known |= {shown: own for own, shown in fresh.items() if shown != own}
        changes = {str(members.CREATED).encode(): str(int(time.time())).encode(), **fresh, **said}
        headers = {name: value for name, value in reply.headers.items() if name not in _MARKS}
        if isinstance(reply.body, bytes):
            return replace(reply, headers=headers, body=_replaced(reply.body, changes))
        return replace(reply, headers=headers, body=tuple([_replaced(each, changes) for each in reply.body]))


def _replaced(content: bytes, changes: Mapping[bytes, bytes]) -> bytes:
    for own, shown in changes.items():
        content = content.replace(own, shown)
    return content


def other_id(identity: bytes, number: int) -> bytes:
    """Return another id of the same format, by the number of the reply."""
    return _RANDOM.sub(lambda found: _shifted(found[0], number), identity.decode()).encode()


def _shifted(text: str, number: int) -> str:
    steps = sha256(f"{number} {text}".encode()).digest() * (len(text) // 32 + 1)
    return "".join(map(_shift, text, steps))


def _shift(letter: str, step: int) -> str:
    kind = next(each for each in _KINDS if letter in each)
    return kind[(kind.index(letter) + step) % len(kind)]


def hidden(profile: Profile, clean: dict[tuple[str, bytes], HttpReply]) -> Callable[[HttpRequest], HttpReply]:
    """Return what answers the requests of one session."""
    return Hidden(profile, clean).answer
