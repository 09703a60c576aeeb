"""Which layer should have taken leaked markup out: a server's parser, with the option that starts it, or the model."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from conformance.markup.families import Family, model_family
from conformance.markup.signs import REASONING

if TYPE_CHECKING:
    from conformance.markup.detection import Leak

ENGINES: Final = {"vllm": "vLLM", "sglang": "SGLang"}


def layer_of(leak: "Leak", model: str, engines: Collection[str] = tuple(ENGINES)) -> str:
    """Return which layer did not take out a call or reasoning, and the options that start its parser.

    Only the options of some engines are named, and no parser that its engine does not document for the model.
    """
    kind = "reasoning" if leak.kind == REASONING else "tool-call"
    if is_text(leak, model):
        return f"the model wrote it as text: no server has a {kind} parser for it"
    words, own = f"the server's {kind} parser did not take it", _served(leak, model)
    families = leak.families if own is None else (own,)
    options = [_options(each, kind, model, engines) for each in families]
    known = [each for each in options if each]
    if len(set(known)) > 1:
        return f"{words}; start the server with the {kind} parser of the model's family"
    return f"{words}; start {', '.join(known[0])}" if known else words


def is_text(leak: "Leak", model: str) -> bool:
    """Return whether a model wrote markup that no server takes out, as Claude does with `<thinking>`."""
    own = _served(leak, model)
    writers = (own,) if own in leak.families else leak.families
    return bool(writers) and all([each.is_written_as_text for each in writers if each is not None])


def is_habit(leak: "Leak", model: str) -> bool:
    """Return whether a model's vendor documents that it writes such markup as text."""
    own = _served(leak, model)
    return own is not None and own.is_written_as_text


def _served(leak: "Leak", model: str) -> Family | None:
    """Return the family of the model that replied; None if its name does not show it.

    A name such as Claude's in front of markup that only other models write is an alias of the server. A name with two
    families in it (`Hermes-3-Llama-3.1`) is of the one that writes the markup.
    """
    own, writer = model_family(model), model_family(model, leak.families)
    if own is None or own is writer or writer is None:
        return None if own is not None and own.is_written_as_text and own is not writer else own
    return own if own.name_in(model).startswith(writer.name_in(model)) else writer


def _options(family: Family, kind: str, model: str, engines: Collection[str]) -> tuple[str, ...]:
    parsers = family.reasoning_parsers(model) if kind == "reasoning" else family.call_parsers(model)
    return tuple(
        [f"{ENGINES[each]} with `--{kind}-parser {name}`" for each, name in parsers.items() if each in engines]
    )
