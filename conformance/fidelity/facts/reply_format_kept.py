"""Fact: the form that the reply has to have arrives."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.documents.pointer import render
from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._schemas import NOTES, losses
from conformance.fidelity.facts._views import setting
from conformance.fidelity.passages import Passage
from conformance.fidelity.translations import newly_broken
from conformance.wire.values import as_object
from conformance.wires import by_name

_NAME: Final = "reply format"
_SCHEMAS_ALONE: Final = ("messages",)
"""The wires on which a reply can have the form of a schema, and not that of any JSON."""


def _forms(passage: Passage) -> Sequence[tuple[Any, str]]:
    is_held = _schema(passage.before.body) or passage.after.exchange.protocol not in _SCHEMAS_ALONE
    return setting(_NAME)(passage) if is_held else []


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a request of chat completions has for its reply; empty if it has none."""
    form = as_object(body.get("response_format"))
    return as_object(as_object(form.get("json_schema")).get("schema"))


@fact(
    Level.MUST,
    element="request with reply format",
    on=_forms,
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("settings", {"/0/backs/0/request/response_format": REMOVE}),
        example("settings", {"/0/backs/0/request/response_format": {"type": "json_object"}}),
        example("settings", {"/0/backs/0/request/response_format/json_schema/schema/required": REMOVE}),
    ],
    good=[example("settings", {"/0/backs/0/request/response_format/json_schema/strict": True})],
)
def judge(given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """The form that the reply has to have arrives, with everything that its schema says.

    Without it, the reply is prose where a client parses JSON. To fix it, send it under the name that the other wire has
    for it, as a schema where it is one. What the provider does not take, such as a keyword or any schema, is a SHOULD.
    """
    value, pointer = given
    found = passage.after.setting(_NAME)
    at, became = passage.pointer_before(pointer), passage.at_setting_after(_NAME)
    schema, got = _schema(passage.before.body), _schema(passage.after.body)
    if found is None or (schema and not got):
        text = f"expected reply format {value!r:.60}, got {'none' if found is None else f'{found[0]!r:.60}'}"
        is_refused = found is not None and _is_refused(passage)
        yield PassageLoss(text, at, became, Level.SHOULD if is_refused else None)
        return
    keywords = by_name(passage.after.exchange.protocol).schema_keywords
    is_part = bool(keywords) and "responseSchema" in became
    for loss in losses(schema, got, is_part=is_part):
        is_left = loss.keyword in NOTES or (is_part and loss.keyword not in keywords)
        text = f"expected {render(loss.place)} of the reply format {loss.message}"
        yield PassageLoss(text, at, became, Level.SHOULD if is_left else None)


def _is_refused(passage: Passage) -> bool:
    """Return whether the provider is known to refuse the form as a schema."""
    wanted = {**passage.after.body, "response_format": passage.before.body["response_format"]}
    return bool(newly_broken(wanted, passage.after.exchange, passage.profile))
