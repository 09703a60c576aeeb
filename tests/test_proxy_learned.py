"""The proxy learns the secrets of a history once, and knows them for every request that repeats it."""

import json
from typing import Any

from conformance.documents import GrowingTexts, parse_json
from conformance.errors import InvalidDocument
from conformance.proxy import learned
from conformance.proxy.learned import LearnedTexts
from conformance.secrets import learning
from tests.loops import every

KEY = "sk-" + "A1b2C3d4" * 5
OTHER = "ghp_" + "Zz9Yy8Xx" * 5
LONG = "word " * 3000


def _body(*contents: Any, **members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": each} for each in contents], **members}


def _secrets(known: LearnedTexts, text: str, texts: GrowingTexts | None = None) -> set[str]:
    """Return what is learned from the text of a request; `texts` parse it, by default apart from all others."""
    try:
        asked: Any = parse_json(text) if texts is None else texts.parse(text.encode())
    except InvalidDocument:
        asked = None
    return set(known.of_request(text.encode(), asked))


@every(
    "body",
    [
        _body(LONG, f"my key is {KEY}"),
        _body(LONG, [{"type": "text", "text": f"password={OTHER}"}], user=KEY),
        _body(LONG, json.dumps({"api_key": "correct-horse-battery-staple", "headers": {"Authorization": KEY}})),
        {
            "input": [
                {"type": "message", "content": LONG},
                {"type": "function_call", "arguments": f'{{"token": "{KEY}"}}'},
            ]
        },
        {"contents": [{"parts": [{"text": LONG}, {"text": f"export GITHUB_TOKEN={OTHER}"}]}], "key": KEY},
        _body(LONG, metadata={"authorization": f"Bearer {KEY}"}),
    ],
)
def test_the_secrets_of_a_long_body_are_those_of_its_text(body: dict[str, Any]) -> None:
    text = json.dumps(body)
    known = LearnedTexts()
    expected = set(learning.of_text(text))
    assert expected
    assert [expected, expected] == [_secrets(known, text) for _ in range(2)]


def test_a_key_that_occurs_twice_hides_nothing() -> None:
    text = json.dumps(_body(LONG)).replace('"model": "m"', f'"user": "{KEY}", "user": "none", "model": "m"')
    assert KEY in _secrets(LearnedTexts(), text)


def _counted(monkeypatch: Any) -> list[str]:
    """Return the list of all texts in which secrets are looked for from now on."""
    read: list[str] = []
    of_text = learning.of_text

    def counting(text: str) -> Any:
        read.append(text)
        return of_text(text)

    monkeypatch.setattr(learning, "of_text", counting)
    return read


def test_a_message_is_read_once_and_forgotten_when_many_follow(monkeypatch: Any) -> None:
    read = _counted(monkeypatch)
    # Three messages fit, of which one holds a key; four do not.
    monkeypatch.setattr(learned, "MAX_BYTES", 3 * 256 + 2 * len(KEY))
    known, first = LearnedTexts(), json.dumps(_body(LONG, f"my key is {KEY}"))
    assert KEY in _secrets(known, first)
    assert (3, KEY in _secrets(known, first), 3) == (len(read), True, len(read))
    _secrets(known, json.dumps(_body(LONG + "a", "b", "c")))
    assert KEY in _secrets(known, first)
    assert 7 < len(read)


def test_messages_that_a_request_repeats_are_not_read_again(monkeypatch: Any) -> None:
    read = _counted(monkeypatch)
    # Nothing is remembered by the texts of messages.
    monkeypatch.setattr(learned, "MAX_BYTES", 0)
    known, texts = LearnedTexts(), GrowingTexts()
    contents = [LONG, f"my key is {KEY}"]
    for number in range(4):
        contents.append(f"password={OTHER[:-1]}{number}")
        found = _secrets(known, json.dumps(_body(*contents)), texts)
        assert {KEY, *[f"{OTHER[:-1]}{each}" for each in range(number + 1)]} <= found
    # The head of each request, and each of its messages once.
    assert 4 + 6 == len(read)
    assert KEY in _secrets(known, json.dumps(_body(f"{LONG}!", *contents[1:])), texts)
