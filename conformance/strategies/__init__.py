"""Strategies of hypothesis for what crosses the wire, for the tests of other projects too.

- `transcripts`: the messages that an agent loop keeps, with ids that collide, reasoning of every kind, failed results;
- `requests`: bodies that break no rule, for nobody in particular or for one provider;
- `replies`: a reply's message; `streams`: the bytes of an event stream, and the message that it puts together;
- `faults`: a conversation with one fault, and the rule that has to find it.

Each is a function whose options have names, and whose docstring says what may come. What is drawn is plain JSON, the
caller's own to change, and shrinks towards one short message. A project that stores transcripts, parses streams and
checks what it sends is held to all of them so:

    from hypothesis import given
    from conformance.strategies import faults, streams, transcripts
    from my_client import is_sound, load, parse, save

    @given(transcripts(ids=["unique", "colliding across turns"]))
    def test_a_transcript_comes_back_from_the_store_as_it_was(messages):
        assert messages == load(save(messages))

    @given(streams())
    def test_a_stream_is_read_to_the_message_that_was_sent(drawn):
        data, message = drawn
        assert message == parse(data)

    @given(faults("transcript/results-*"))
    def test_a_faulty_history_is_never_sent(fault):
        assert is_sound(fault.sound[-1].request["messages"])
        assert not is_sound(fault.conversation[-1].request["messages"])

`message` has its text in `content` (a string always), its reasoning in `reasoning_content` and its calls in
`tool_calls`; a parser with other names compares those. A stream is cut into pieces for a client that reads them as
they come: `data[:n]` and `data[n:]` for any n.
"""

from conformance.strategies.fault import Planted, faults
from conformance.strategies.request import requests
from conformance.strategies.stream import replies, streams
from conformance.strategies.transcript import transcripts

__all__ = ["Planted", "faults", "replies", "requests", "streams", "transcripts"]
