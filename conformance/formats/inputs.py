"""What one judged input is: where it was found, what it was taken for, and the conversation in it."""

from typing import Final, NamedTuple

from conformance.errors import InvalidDocument
from conformance.wire.exchange import Conversation

KINDS: Final = {
    "request": "a request body",
    "messages": "a list of messages",
    "response": "a reply body",
    "chunks": "the chunks of a stream",
    "stream": "the text of an event stream",
    "exchange": "an exchange",
    "exchanges": "a session of exchanges",
    "cassette": "a recording of HTTP interactions",
    "har": "an HTTP archive",
    "jsonl": "a line of JSON Lines that cannot be read",
    "native": "an exchange on another wire",
    "unrecognized": "nothing that is judged",
}
"""What an input can be taken for, and how to say so."""

ACCEPTED: Final = (
    "expected a request body, a list of messages, a reply body, an exchange (an object with `request` and `response`),"
    " a list of exchanges, the SSE text of a stream, a list of its chunks, a VCR cassette, a HAR, an httprr trace,"
    " or JSON Lines of these"
)


class Input(NamedTuple):
    """One conversation, as it was found in a file.

    `line` (1-based): where it begins in a file of lines or a cassette; None where the file is the conversation.
    `lines`: where each exchange begins, or empty. `kind`: what it was taken for, one of `KINDS`. `provider`,
    `session`: as the file tells them, else empty. `notes`: what was left out or assumed, each a sentence.
    `problem`: why nothing can be judged here; the conversation is empty then, and the inputs after it still follow.
    """

    path: str
    line: int | None
    kind: str
    conversation: Conversation = ()
    provider: str = ""
    session: str = ""
    lines: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    problem: InvalidDocument | None = None
