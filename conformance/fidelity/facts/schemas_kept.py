"""Fact: the parameters of a tool arrive with everything that their schema says."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import render
from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._schemas import NOTES, SchemaLoss, losses
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind, SpokenPiece
from conformance.wire.values import as_object
from conformance.wires import by_name

_TO_GEMINI: Final = {"type": "OBJECT", "properties": {"unit": {"type": "STRING", "enum": ["celsius", "fahrenheit"]}}}
_KEYWORDS: Final = "tools.schema-keywords"


@fact(
    Level.MUST,
    element="tool with parameters",
    on=kept(Kind.TOOL),
    of=REQUESTS,
    source=Source("https://json-schema.org/understanding-json-schema/reference"),
    bad=[
        example("settings", {"/0/backs/0/request/tools/0/function/parameters/required": REMOVE}),
        example("tool-to-gemini", {"/0/backs/0/request/tools/0/functionDeclarations/0/parameters": _TO_GEMINI}),
    ],
    good=[
        example("settings", {"/0/backs/0/request/tools/0/function/parameters/additionalProperties": False}),
        example("tool-to-gemini"),
    ],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """The parameters of a tool arrive with everything that their schema says.

    A model fills in what the schema names: without a property, a list of values or `required`, it guesses. To fix it,
    pass schemas on as they are, and change only what the other wire cannot hold. What only describes is a SHOULD, and
    so is a keyword that the provider refuses there and takes in another member, as Gemini does in
    `parametersJsonSchema`. One that it refuses everywhere must go, and is not missed.
    """
    before, after = each.before, each.after
    if after is None:
        return
    member = _other_member(passage, after)
    refused = _RefusedKeywords(passage, member)
    schema, got = as_object(before.value.get("parameters")), as_object(after.value.get("parameters"))
    for loss in losses(schema, got, is_part=bool(member)):
        is_refused = refused.holds(loss)
        if is_refused and not member:
            continue
        text = f"expected {render(loss.place)} of the parameters of {before.name} {loss.message}"
        if is_refused:
            text += f"; {by_name(passage.after.exchange.protocol).title} takes it in {member} alone"
        level = Level.SHOULD if is_refused or loss.keyword in NOTES else None
        yield PassageLoss(text, passage.at(before), passage.at_after(after), level)


def _other_member(passage: Passage, tool: SpokenPiece) -> str:
    """Return the member in which the wire after takes any JSON Schema, if the tool has its parameters in another."""
    wire = by_name(passage.after.exchange.protocol)
    return wire.schema_member if "parameters" in as_object(passage.after.native_at(tool.place)) else ""


class _RefusedKeywords:
    """The keywords that the provider refuses in the parameters of tools, by its wire and by what is claimed of it."""

    def __init__(self, passage: Passage, member: str) -> None:
        """Look up what is known; `member`: another one of the tool, which takes what this place refuses."""
        exchange, profile = passage.after.exchange, passage.profile
        wire = by_name(exchange.protocol)
        self._known = wire.schema_keywords if member else frozenset[str]()
        claims: Mapping[str, Any] = {} if profile is None else profile.at(exchange.model)
        limits = claims.get(_KEYWORDS)
        # A tool that has its parameters in the other member already is limited by neither.
        listed = limits if isinstance(limits, list) and (member or not wire.schema_member) else []
        self._limits = [each for each in listed if each["verdict"] != "accepted"]

    def holds(self, loss: SchemaLoss) -> bool:
        """Return whether the keyword of a loss is refused where it stood."""
        if self._known and loss.keyword not in self._known:
            return True
        return any(
            [loss.keyword in each["keywords"] and (each["at"] != "root" or loss.is_at_root) for each in self._limits]
        )
