"""Fact: each prompt ends with what the model said last."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._session import Prompt
from conformance.adapters.loop._views import prompts


@fact(Level.MUST, on=prompts, source=Source("https://platform.openai.com/docs/guides/function-calling"))
def judge(prompt: Prompt, played: Played) -> Iterator[Fault]:
    """Each prompt ends with what the model said last.

    A loop that stops early, loses a call or goes on after the answer gives its user something else, or an error. What
    stands before the last words, such as those of earlier turns, is not minded, nor is white space. To fix it, run the
    loop until a reply has no calls, and return the text of that reply.
    """
    expected = " ".join(prompt.expected.split())
    texts, error = played.answer.texts or (), played.answer.error
    if prompt.number >= len(texts):
        if error is None:
            got = "no text, and no error"
        elif prompt.number > len(texts):
            got = "nothing, since an earlier prompt ended with an error"
        else:
            got = f"the error {error.type}: {error.message:.300}{_refusal(played)}"
        yield Fault(f"expected the answer {expected!r} to prompt {prompt.number + 1}, got {got}")
        return
    text = texts[prompt.number]
    if text is None or not " ".join(text.split()).endswith(expected):
        got = "none" if text is None else repr(text[-300:])
        yield Fault(f"expected the answer {expected!r} to prompt {prompt.number + 1}, got {got}")


def _refusal(played: Played) -> str:
    refusals = [f"request {number} was refused by {rule}" for number, rule in played.refused.items()]
    return f" ({refusals[-1]})" if refusals else ""
