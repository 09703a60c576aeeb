"""Fact: each prompt ends with the model's final text."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import Prompt
from conformance.adapters.loop._views import prompts


@fact(Level.MUST, on=prompts, source=Source("https://platform.openai.com/docs/guides/function-calling"))
def judge(prompt: Prompt, session: ClientSession) -> Iterator[Fault]:
    """Each prompt ends with the model's final text.

    A loop that stops early, loses a call or continues after the answer gives its user something else, or an error.
    White space and text before the final text, such as that of earlier turns, are ignored. To fix it, run the loop
    until a reply has no calls, and return the text of that reply.
    """
    expected = " ".join(prompt.expected.split())
    texts, error = session.answer.texts or (), session.answer.error
    if prompt.number >= len(texts):
        if error is None:
            got = "no text, and no error"
        elif prompt.number > len(texts):
            got = "nothing, since an earlier prompt ended with an error"
        else:
            got = f"the error {error.type}: {error.message:.300}{_refusal(session)}"
        yield Fault(f"expected the answer {expected!r} to prompt {prompt.number + 1}, got {got}")
        return
    text = texts[prompt.number]
    if text is None or not " ".join(text.split()).endswith(expected):
        got = "none" if text is None else repr(text[-300:])
        yield Fault(f"expected the answer {expected!r} to prompt {prompt.number + 1}, got {got}")


def _refusal(session: ClientSession) -> str:
    refusals = [f"request {number} was refused by {rule}" for number, rule in session.refused.items()]
    return f" ({refusals[-1]})" if refusals else ""
