"""Content in the form that the provider takes: no words beside calls, parts, empty parts, results without words."""

from typing import Any, Final

from conformance.convert.egress.notes import Demands, Draft
from conformance.convert.egress.reasoning import unfolded
from conformance.wire.text import content_text

_NOTHING: Final = ("", None, ...)
"""What stands for no words beside calls, in the order in which it is tried; `...` is no key at all."""

_FORMS: Final = {"": "empty", None: "null", ...: "absent"}
_AS_PARTS: Final = {
    "system": "content.parts-on-system",
    "developer": "content.parts-on-system",
    "user": "content.parts-on-user",
    "tool": "results.content-parts",
}
_MEDIA: Final = {
    "image_url": "request.image-parts",
    "input_audio": "request.audio-parts",
    "file": "request.file-parts",
}
_NO_OUTPUT: Final = "The tool gave no output."
_INSTEAD: Final = ("refusal", "audio")


def worded(draft: Draft, demands: Demands) -> None:
    """Write the content of a message in a form that the provider takes."""
    content = draft.message.get("content")
    if isinstance(content, list) and content:
        _without_empty_parts(draft, demands)
        _joined(draft, demands)
        _media(draft, demands)
    if draft.calls:
        _beside_calls(draft, demands)
    elif draft.role == "tool" and draft.message.get("content") == "" and demands.bites("results.content-empty"):
        draft.message["content"] = _NO_OUTPUT
        demands.note((draft.origin, "content"), f"sent as {_NO_OUTPUT!r}: it is empty", "results.content-empty")


def is_sent(draft: Draft, demands: Demands) -> bool:
    """Say whether a message goes out; an assistant's without words, calls or a refusal does where that is borne.

    It goes out in its own form where that is borne, else in another that is.
    """
    message = unfolded(draft.message)
    says = message.get("content") or draft.calls or any(message.get(key) for key in _INSTEAD)
    if draft.role != "assistant" or says:
        return True
    own = message.get("content", ...)
    for form in (own, *_NOTHING):
        claim = f"content.{_FORMS.get(form if form != [] else '', 'empty')}-on-plain-turn"
        if form != [] and demands.bears(claim):
            _write(draft, form)
            if form != own:
                words = f"sent {_FORMS[form]}: a message without words is taken in that form"
                demands.note((draft.origin, "content"), words, claim)
            return True
    name = f"content.{_FORMS.get(own if own != [] else '', 'empty')}-on-plain-turn"
    demands.note((draft.origin,), "left out: it says nothing and calls nothing", name if demands.bites(name) else "")
    return False


def _beside_calls(draft: Draft, demands: Demands) -> None:
    own = draft.message.get("content", ...)
    claim = f"content.{_form(own)}-on-tool-turn"
    if not demands.bites(claim):
        return
    forms = [form for form in _NOTHING if not demands.bites(f"content.{_FORMS[form]}-on-tool-turn")]
    if content_text(own) or not forms:
        demands.note((draft.origin, "content"), f"no other form of {own!r:.40} is taken", claim, fixed=False)
        return
    _write(draft, forms[0])
    demands.note((draft.origin, "content"), f"sent {_FORMS[forms[0]]}: it has no words", claim)


def _form(content: Any) -> str:
    """Return the word that claims about a tool turn's content use."""
    if isinstance(content, list):
        return "parts" if content else "empty-list"
    return "text" if content and content is not ... else _FORMS[content]


def _write(draft: Draft, form: Any) -> None:
    if form is ...:
        draft.message.pop("content", None)
    else:
        draft.message["content"] = form


def _without_empty_parts(draft: Draft, demands: Demands) -> None:
    claim = "content.empty-text-part"
    parts = draft.message["content"]
    kept = [part for part in parts if part.get("type") != "text" or part.get("text") != ""]
    if len(kept) == len(parts) or not demands.bites(claim):
        return
    draft.message["content"] = kept or ""
    demands.note((draft.origin, "content"), "text parts without text are left out", claim)


def _joined(draft: Draft, demands: Demands) -> None:
    """Make one text of text parts where the provider takes no parts."""
    claim = "content.parts-on-tool-turn" if draft.calls else _AS_PARTS.get(draft.role, "")
    parts = draft.message["content"]
    if not parts or not demands.bites(claim) or any(part.get("type") != "text" for part in parts):
        return
    draft.message["content"] = content_text(parts)
    demands.note((draft.origin, "content"), "text parts are joined to one text", claim)


def _media(draft: Draft, demands: Demands) -> None:
    content = draft.message["content"]
    for position, part in enumerate(content if isinstance(content, list) and draft.role == "user" else ()):
        claim = _MEDIA.get(part.get("type"), "")
        if demands.bites(claim):
            words = f"a part of type {part['type']} is not taken"
            demands.note((draft.origin, "content", position), words, claim, fixed=False)
