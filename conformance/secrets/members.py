"""What is said of a string of a JSON document by the members that lead to it: whether it is a secret by its name."""

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from conformance.secrets import names
from conformance.secrets.shapes import BLOBS

_REQUEST_HEADERS: Final = "headers of a request"
_REPLY_HEADERS: Final = "headers of a reply"
_COOKIES: Final = "cookies"
_QUERY: Final = "query"
_SCHEMA: Final = "schema"
_ENCODED: Final = "base64"
_HELD: Final = "what a secret holds"

_HOLDERS: Final = {
    "cookies": _COOKIES,
    "params": _QUERY,
    "query": _QUERY,
    "queryparams": _QUERY,
    "queryparameters": _QUERY,
    "querystring": _QUERY,
    "properties": _SCHEMA,
    "patternproperties": _SCHEMA,
    "$defs": _SCHEMA,
    "definitions": _SCHEMA,
    "responseheaders": _REPLY_HEADERS,
    "replyheaders": _REPLY_HEADERS,
    "rawheaders": _REPLY_HEADERS,
    "trailers": _REPLY_HEADERS,
}
"""What members of objects hold, by their names in lower case without punctuation."""

_REPLIES: Final = frozenset({"response", "reply", "http_response", "httpresponse", "raw_response"})
_ATTRIBUTE: Final = re.compile(r"http\.(request|response)\.header\.(.+)")
_IDS: Final = re.compile(
    r"(?:^|_)ids?$|[a-z]Ids?$|^(?:model|model_?[nN]ame|modelVersion|model_version|response_model)$"
)
_BASE64: Final = frozenset({"base64string", "b64"})
_COOKIE_ATTRIBUTES: Final = frozenset({"path", "domain", "expires", "sameSite", "comment", "name"})
_EVENTS: Final = frozenset({"message_start", "content_block_start", "content_block_delta", "message_delta"})
_NAMES_OF_VALUE: Final = ("name", "key", "header")
_SCALARS: Final = (int, float, type(None))


class Members(list[tuple[str, Any]]):
    """An object of JSON: its members in order, also those whose name occurs twice."""


class StringPlace(NamedTuple):
    """The way to a string: the names and numbers, the member that it belongs to, and what is known of its holders.

    `is_name`: it is the name of a member.
    """

    path: tuple[str, ...] = ()
    name: str = ""
    holder: str = ""
    is_name: bool = False

    @property
    def shown(self) -> str:
        """The place for a reader, with `*` for each position in a list."""
        return "/".join(["*" if each.isdecimal() else each for each in self.path])

    @property
    def is_id(self) -> bool:
        """Whether the string identifies something, so that what stands for it has its length and its form."""
        return self.is_name or _IDS.search(self.name) is not None

    @property
    def is_address(self) -> bool:
        """Whether the string is the URL of a request in a recording."""
        return self.path[-2:] in (("request", "url"), ("request", "uri"))

    @property
    def is_encoded(self) -> bool:
        """Whether the string is a body in base64."""
        return self.holder == _ENCODED

    @property
    def is_blob(self) -> bool:
        """Whether the string is long and random by nature."""
        return self.name in BLOBS

    def secret_from(self, text: str) -> int | None:
        """Return where the secret begins in a string that is one by its name; None if it is not."""
        if self.is_name or len(text) < names.MIN_VALUE or not self._names_secret():
            return None
        value = names.without_scheme(text)
        return len(text) - len(value) if self._is_secret(value) else None

    def _names_secret(self) -> bool:
        """Return whether the name says that a string may be a secret."""
        if self.holder == _SCHEMA:
            return False
        if self.holder == _COOKIES:
            return self.name not in _COOKIE_ATTRIBUTES
        if self.holder == _REQUEST_HEADERS:
            return not names.is_kept_header(self.name)
        if self.holder == _HELD:
            return not names.is_about(self.name)
        is_named = names.is_secret_parameter if self.holder == _QUERY else names.is_secret
        # The tokens of a text have the same name as those that open a door.
        return is_named(self.name) and not any(["prob" in each for each in self.path])

    def _is_secret(self, value: str) -> bool:
        return names.is_value(self.name if not self.holder else "", value)


def strings(value: Any, place: StringPlace) -> list[tuple[StringPlace, str]]:
    """Return every string of a JSON value, whose objects are `Members`, in the order of the text, names as well."""
    found: list[tuple[StringPlace, str]] = []
    _collect(value, place, found)
    return found


def _collect(value: Any, place: StringPlace, found: list[tuple[StringPlace, str]]) -> None:
    if isinstance(value, str):
        found.append((place, value))
    elif isinstance(value, Members):
        _of_object(value, place, found)
    elif isinstance(value, list):
        _of_list(value, place, found)


def _of_object(value: Members, place: StringPlace, found: list[tuple[StringPlace, str]]) -> None:
    members = dict(value)
    named = ""
    if "value" in members:
        named = next((members[name] for name in _NAMES_OF_VALUE if isinstance(members.get(name), str)), "")
    for name, member in value:
        path = (*place.path, name)
        found.append((StringPlace(path, place.name, place.holder, is_name=True), name))
        if named and name == "value":
            _of_value(member, _of_attribute(StringPlace(path, named, place.holder)), found)
        elif named and name in _NAMES_OF_VALUE:
            _collect(member, StringPlace(path, "name"), found)
        elif not isinstance(member, _SCALARS):
            _collect(member, _member(place, path, name, members), found)


def _of_value(value: Any, place: StringPlace, found: list[tuple[StringPlace, str]]) -> None:
    """Add the strings of what has its name beside it; spans of OpenTelemetry hold it under the name of its type."""
    if isinstance(value, Members) and len(value) == 1:
        name, value = value[0]
        found.append((StringPlace((*place.path, name), place.name, place.holder, is_name=True), name))
    _collect(value, place, found)


def _of_list(value: list[Any], place: StringPlace, found: list[tuple[StringPlace, str]]) -> None:
    if place.name.lower() == "rawheaders" and all(isinstance(each, str) for each in value):
        for number, each in enumerate(value):
            path = (*place.path, str(number))
            found.append(
                (StringPlace(path, value[number - 1], place.holder) if number % 2 else StringPlace(path, "name"), each)
            )
        return
    joined = len(value) > 1 and is_event(value[0])
    for number, each in enumerate(value):
        if isinstance(each, _SCALARS):
            continue
        held = dict(each) if isinstance(each, Members) else {}
        name = _event(held) if joined else str(held["index"]) if type(held.get("index")) is int else str(number)
        _collect(each, StringPlace((*place.path, name), place.name, place.holder), found)


def _member(place: StringPlace, path: tuple[str, ...], name: str, members: dict[str, Any]) -> StringPlace:
    """Return the place of a member of an object."""
    holder = place.holder if place.holder == _SCHEMA else _held(place, name, members)
    return StringPlace(path, name, holder) if holder else _of_attribute(StringPlace(path, name))


def _held(place: StringPlace, name: str, members: dict[str, Any]) -> str:
    """Return what a member of an object holds; empty if nothing is known of it."""
    plain = _plain(name)
    if plain in _BASE64 or (name == "text" and members.get("encoding") == "base64"):
        return _ENCODED
    if plain.endswith("headers") and plain not in _HOLDERS:
        is_reply = not _REPLIES.isdisjoint(place.path) or not _REPLIES.isdisjoint(members)
        return _REPLY_HEADERS if is_reply else _REQUEST_HEADERS
    if plain in _HOLDERS and not isinstance(members[name], str):
        return _HOLDERS[plain]
    # Values of headers are texts, or lists of texts.
    is_secret = names.is_secret(name) and name.lower() != "token" and not isinstance(members[name], str)
    return place.holder or (_HELD if is_secret else "")


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _of_attribute(place: StringPlace) -> StringPlace:
    """Return a place, as that of a header if an attribute of a span has one."""
    header = _ATTRIBUTE.fullmatch(place.name) if place.name.startswith("http.") else None
    if header is None:
        return place
    kind = _REQUEST_HEADERS if header[1] == "request" else _REPLY_HEADERS
    return place._replace(name=header[2].replace("_", "-"), holder=kind)


def is_event(value: Any) -> bool:
    """Return whether a value is an event of a stream, in which a text may be in pieces."""
    if not isinstance(value, Members):
        return False
    members = dict(value)
    kind, choices = members.get("type"), members.get("choices")
    if isinstance(kind, str) and (kind.startswith("response.") or kind in _EVENTS):
        return True
    first = choices[0] if isinstance(choices, list) and choices else None
    has_delta = isinstance(first, Members) and "delta" in dict(first)
    return has_delta or members.get("object") == "chat.completion.chunk" or "candidates" in members


def _event(members: dict[str, Any]) -> str:
    """Return what the pieces of one text have in common: the kind of their events, and which part they belong to."""
    keys = ("type", "index", "output_index", "content_index", "summary_index")
    return " ".join([str(members[key]) for key in keys if isinstance(members.get(key), (str, int))]) or "event"


def event_place(value: Any) -> StringPlace:
    """Return the place of the value of an event."""
    return StringPlace((_event(dict(value)) if isinstance(value, Members) else "event",))
