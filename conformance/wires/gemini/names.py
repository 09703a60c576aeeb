"""The two notations of names, and lists of one: what SDKs write, and what the wire takes."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.values import objects

SPELLINGS: Final = {
    "system_instruction": "systemInstruction",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "mime_type": "mimeType",
    "file_uri": "fileUri",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "thought_signature": "thoughtSignature",
}
"""The names of members that hold a conversation, by their other notation."""

SCHEMA_KEYWORDS: Final = frozenset(
    {
        "anyOf", "default", "description", "enum", "example", "format", "items", "maximum", "maxItems", "maxLength",
        "maxProperties", "minimum", "minItems", "minLength", "minProperties", "nullable", "pattern", "properties",
        "propertyOrdering", "required", "title", "type",
    }
)  # fmt: skip
"""The members of `Schema`: https://googleapis.github.io/js-genai/release_docs/interfaces/types.Schema.html."""


def of_either(holder: Mapping[str, Any], name: str) -> Any:
    """Return a member by its name in either notation: SDKs write snake_case, the wire camelCase."""
    return holder[name] if name in holder else holder.get(snake_case(name))


def spelled(holder: Mapping[str, Any], name: str) -> str:
    """Return the name of a member as an object spells it, in camelCase or snake_case."""
    return snake_case(name) if name not in holder and snake_case(name) in holder else name


def listed(value: Any) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Yield the objects in a list, each with its place there; one object stands for a list of itself."""
    if type(value) is dict:
        yield (), value
    else:
        for position, item in objects(value):
            yield (position,), item


def camel_case(name: str) -> str:
    """Return a name in camelCase."""
    first, *others = name.split("_")
    return first + "".join([each.capitalize() for each in others])


@lru_cache(maxsize=256)
def snake_case(name: str) -> str:
    """Return a name in snake_case."""
    return "".join([f"_{letter.lower()}" if letter.isupper() else letter for letter in name])
