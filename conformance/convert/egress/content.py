"""Content in a form that the provider accepts: no text beside calls, parts, empty parts, empty results."""

from typing import Any, Final

from conformance.convert.egress.drafts import Demands, Outbound
from conformance.convert.egress.reasoning import without_thinking_parts
from conformance.wire.text import content_text

_EMPTY_FORMS: Final = ("", None, ...)
"""The forms of empty content, in the order in which they are tried; `...` means without the key."""

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
NO_OUTPUT: Final = "The tool gave no output."
"""The content of an empty result where the provider rejects that: what is true of it, and nothing else."""

NO_IMAGE: Final = "(An image is left out here.)"
"""What stands for an image in a result where the provider is not known to take one."""

_OTHER_CONTENT: Final = ("refusal", "audio")


def fix_content(draft: Outbound, demands: Demands) -> None:
    """Bring the content of a message into a form that the provider accepts."""
    content = draft.message.get("content")
    if isinstance(content, list) and content:
        _drop_empty_parts(draft, demands)
        _replace_images_of_results(draft, demands)
        _join_texts(draft, demands)
        _note_media(draft, demands)
    if draft.calls:
        _fix_beside_calls(draft, demands)
    elif draft.role == "tool" and draft.message.get("content") == "" and demands.avoids("results.content-empty"):
        draft.message["content"] = NO_OUTPUT
        demands.note((draft.origin, "content"), f"sent as {NO_OUTPUT!r}: it is empty", "results.content-empty")


def is_sent(draft: Outbound, demands: Demands) -> bool:
    """Return whether a message is sent; an empty assistant message is only if that is tolerated.

    It is sent in its own form if that is tolerated, else in another one that is.
    """
    message = without_thinking_parts(draft.message)
    has_content = message.get("content") or draft.calls or any(message.get(key) for key in _OTHER_CONTENT)
    if draft.role != "assistant" or has_content:
        return True
    own = message.get("content", ...)
    for form in (own, *_EMPTY_FORMS):
        claim = f"content.{_FORMS.get(form if form != [] else '', 'empty')}-on-plain-turn"
        if form != [] and demands.tolerates(claim):
            _write(draft, form)
            if form != own:
                reason = f"sent {_FORMS[form]}: an empty message is accepted in that form"
                demands.note((draft.origin, "content"), reason, claim)
            return True
    name = f"content.{_FORMS.get(own if own != [] else '', 'empty')}-on-plain-turn"
    demands.note((draft.origin,), "left out: it has neither content nor calls", name if demands.avoids(name) else "")
    return False


def _fix_beside_calls(draft: Outbound, demands: Demands) -> None:
    own = draft.message.get("content", ...)
    claim = f"content.{_form(own)}-on-tool-turn"
    if not demands.avoids(claim):
        return
    forms = [form for form in _EMPTY_FORMS if not demands.avoids(f"content.{_FORMS[form]}-on-tool-turn")]
    if content_text(own) or not forms:
        if demands.rejects_or_damages(claim):
            demands.note((draft.origin, "content"), f"no other form of {own!r:.40} is accepted", claim, fixed=False)
        return
    _write(draft, forms[0])
    demands.note((draft.origin, "content"), f"sent {_FORMS[forms[0]]}: it is empty", claim)


def _form(content: Any) -> str:
    """Return the name of a form of content in claims about tool turns."""
    if isinstance(content, list):
        return "parts" if content else "empty-list"
    return "text" if content and content is not ... else _FORMS[content]


def _write(draft: Outbound, form: Any) -> None:
    if form is ...:
        draft.message.pop("content", None)
    else:
        draft.message["content"] = form


def _drop_empty_parts(draft: Outbound, demands: Demands) -> None:
    claim = "content.empty-text-part"
    parts = draft.message["content"]
    kept = [part for part in parts if part.get("type") != "text" or part.get("text") != ""]
    if len(kept) == len(parts) or not demands.avoids(claim):
        return
    draft.message["content"] = kept or ""
    demands.note((draft.origin, "content"), "empty text parts are left out", claim)


def _replace_images_of_results(draft: Outbound, demands: Demands) -> None:
    """Say in words that a result has an image, unless the provider is known to take it, and parts at all."""
    claim = "results.image-parts"
    is_taken = demands.tolerates(claim) and not demands.avoids("results.content-parts")
    if draft.role != "tool" or is_taken:
        return
    for position, part in enumerate(parts := list(draft.message["content"])):
        if part.get("type") == "image_url":
            parts[position] = {"type": "text", "text": NO_IMAGE}
            demands.note((draft.origin, "content", position), "an image is sent as words that name it", claim)
    draft.message["content"] = parts


def _join_texts(draft: Outbound, demands: Demands) -> None:
    """Join text parts to one text if the provider accepts no parts."""
    claim = "content.parts-on-tool-turn" if draft.calls else _AS_PARTS.get(draft.role, "")
    parts = draft.message["content"]
    if not parts or not demands.avoids(claim) or any(part.get("type") != "text" for part in parts):
        return
    draft.message["content"] = content_text(parts)
    demands.note((draft.origin, "content"), "text parts are joined to one text", claim)


def _note_media(draft: Outbound, demands: Demands) -> None:
    content = draft.message["content"]
    for position, part in enumerate(content if isinstance(content, list) and draft.role == "user" else ()):
        claim = _MEDIA.get(part.get("type"), "")
        if demands.rejects_or_damages(claim):
            reason = f"a part of type {part['type']} is not accepted"
            demands.note((draft.origin, "content", position), reason, claim, fixed=False)
