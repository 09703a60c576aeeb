"""Fact: each tool message bears the result of its own call."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._session import Batch, bears, is_malformed
from conformance.adapters.loop._views import batches


@fact(Level.MUST, on=batches, source=Source("https://github.com/can1357/oh-my-pi/issues/11179"))
def judge(batch: Batch, _played: Played) -> Iterator[Fault]:
    """Each tool message bears the result of its own call.

    Ids may come twice or be empty, and tools finish in any order; a loop that keeps results by id, or as they come in,
    tells the model the weather of the wrong city. A result is told by the call it stands for: by its id where the ids
    of the message are distinct, else by its position. What a client says of a call that failed, was denied or had
    arguments that cannot be read is its own affair. To fix it, keep one slot a call, fill it in place, and append
    the slots in the order of the calls.
    """
    texts = [str(each["text"]) for each in batch.behaviours]
    for position, slot in enumerate(batch.slots):
        if slot.text is None:
            continue
        call = f"call {position + 1} ({batch.calls[position].name})"
        others = [at for at, text in enumerate(texts) if text and text != texts[position] and bears(slot.text, text)]
        own = bears(slot.text, texts[position])
        if others and not own:
            message = f"expected the result of {call}, {texts[position]!r}, got that of call {others[0] + 1}"
            yield Fault(f"{message}: {slot.text[:200]!r}", place=(*slot.place, "content"))
        elif not own and not _is_free(batch, position):
            message = f"expected the result of {call}, {texts[position]!r}, got {slot.text[:200]!r}"
            yield Fault(message, place=(*slot.place, "content"))


def _is_free(batch: Batch, position: int) -> bool:
    """Say whether the words of a result are the client's own: of what failed, was denied or could not be read."""
    behaviour = batch.behaviours[position]
    return behaviour["fails"] or behaviour["denied"] or is_malformed(batch.calls[position].arguments)
