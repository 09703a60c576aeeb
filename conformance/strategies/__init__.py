"""Hypothesis strategies for what crosses the wire, for the tests of other projects too.

- `transcripts`: the messages of an agent loop, with colliding ids, reasoning of every kind, failed results;
- `requests`: bodies that break no rule, for any provider or for one;
- `replies`: the message of a reply; `streams`: the bytes of an event stream, and the message that they add up to;
- `faults`: a conversation with one fault, and the rule that has to find it.

Each is a function with keyword options, documented in its docstring. The values are plain JSON, may be changed by the
caller, and shrink towards one short message. A project that stores transcripts, parses streams and checks what it sends
can use them like this:

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

`message` has its text in `content` (always a string), its reasoning in `reasoning_content` and its calls in
`tool_calls`; a parser with other names compares those. To test a client that reads a stream as it arrives, cut it:
`data[:n]` and `data[n:]` for any n.

It needs hypothesis, which the extra `strategies` installs: `pip install 'wire-conformance[strategies]'`.
"""

try:
    from conformance.strategies.fault import FaultyConversation, faults
    from conformance.strategies.request import requests
    from conformance.strategies.stream import replies, streams
    from conformance.strategies.transcript import transcripts
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    # Not a dependency of the package: its pytest plugin costs every test run of an environment that has it.
    message = "conformance.strategies needs hypothesis; install it with pip install 'wire-conformance[strategies]'"
    raise ModuleNotFoundError(message, name=error.name) from None

__all__ = ["FaultyConversation", "faults", "replies", "requests", "streams", "transcripts"]
