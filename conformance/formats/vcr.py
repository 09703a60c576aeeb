"""Cassettes: YAML of vcrpy, Ruby VCR, go-vcr and pydantic-ai; the same shape as JSON."""

import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.documents import parse_yaml
from conformance.errors import Unrecognized
from conformance.formats.inputs import ACCEPTED, Input
from conformance.formats.interactions import Interaction, conversation
from conformance.formats.records import as_object

KEYS: Final = ("interactions", "http_interactions")
_BODIES: Final = ("parsed_body", "body", "content")
_STATUSES: Final = ("code", "status_code", "status")


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the conversation of a cassette in YAML."""
    # Foreign: cassettes have tags, such as `!!binary`, that this project's own files must not have.
    document = parse_yaml(data, path, foreign=True)
    value = as_object(document.value)
    if not any(isinstance(value.get(key), list) for key in KEYS):
        # Imported here because cassettes are most of what is written in YAML.
        from conformance.formats import inside

        found = list(inside.of_value(document.value, path))
        if not found:
            raise Unrecognized(f"{ACCEPTED}; got YAML without a list of `interactions`", path, document.line(""))
        yield from found
        return
    yield from read_value(value, path, document.lines)


def read_value(value: Any, path: str, lines: Mapping[str, int] | None = None) -> Iterator[Input]:
    """Yield the conversation of a cassette, or of one interaction of it.

    `lines`: the line of each pointer, if known.
    """
    if "request" in value:
        items = iter([interaction(value, "", {})])
    else:
        key = next(key for key in KEYS if isinstance(value.get(key), list))
        items = (interaction(item, f"/{key}/{number}", lines or {}) for number, item in enumerate(value[key]))
    yield from conversation(items, path, "cassette")


def interaction(item: Any, pointer: str, lines: Mapping[str, int]) -> Interaction:
    """Return one interaction of a cassette."""
    whole = as_object(item)
    request, response = as_object(whole.get("request")), as_object(whole.get("response"))
    return Interaction(
        method=str(request.get("method", "")),
        # vcrpy and Ruby VCR write `uri`, go-vcr `url`.
        url=str(request.get("uri") or request.get("url") or ""),
        request=_first(request, _BODIES),
        status=_first(response, _STATUSES),
        headers=response.get("headers"),
        reply=_first(response, _BODIES) or _fragments(whole.get("chunks")),
        moment=whole.get("recorded_at") or whole.get("captured_at"),
        line=lines.get(pointer),
        pointer=pointer,
    )


def _fragments(chunks: Any) -> Any:
    """Return the bytes of a stream that was recorded in base64 fragments beside the request; None if there are none."""
    fragments = [as_object(chunk).get("b64") for chunk in chunks] if isinstance(chunks, list) else []
    if not fragments or not all(isinstance(fragment, str) for fragment in fragments):
        return None
    try:
        return b"".join([binascii.a2b_base64(str(fragment)) for fragment in fragments])
    except ValueError:
        return None


def _first(holder: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((holder[key] for key in keys if holder.get(key) is not None), None)
