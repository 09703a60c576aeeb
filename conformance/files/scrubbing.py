"""Files without secrets: recordings and logs as other people may read them, in the form that they had."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from conformance.documents import BOUNDS
from conformance.documents.yaml_text import parse_yaml
from conformance.errors import InvalidDocument, Unusable
from conformance.formats import read
from conformance.formats.compression import BROTLI, GZIP, ZSTD, plain_name, unpack_file
from conformance.formats.encodings import as_utf8
from conformance.formats.httprr import MAGIC
from conformance.judge import check
from conformance.results import Outcome
from conformance.secrets import Scrubber, learning, scrubber
from conformance.secrets.bodies import edited
from conformance.secrets.views import Edit

_BINARY: Final = {
    b"SQLite format 3\0": "a SQLite database; export the session as JSON or JSON Lines, and scrub that",
    b"PAR1": "a Parquet file; write its rows as JSON Lines, and scrub these",
    ZSTD: "packed with zstd; unpack it first",
}
_MITMPROXY: Final = re.compile(rb"[0-9]{1,12}:[0-9]{1,3}:[a-z_]{1,40};")
_YAML: Final = re.compile(rb"^(?:http_)?interactions:", re.MULTILINE)
_LENGTHS: Final = re.compile(rb"([0-9]+) ([0-9]+)\n")
_HEX: Final = re.compile(r"(?:[0-9a-f]{2}){64,}")
_UNREAD: Final = "\0unread "


class ScrubbedFile(NamedTuple):
    """The content of a file without secrets, how many were removed by kind and place, and what could not be read."""

    data: bytes
    removed: Counter[tuple[str, str]]
    unread: int = 0


def scrub_file(data: bytes, name: str) -> ScrubbedFile:
    """Return the content of a file without secrets; one without any is returned as it is.

    What shows to be a secret in one place is removed wherever the file has it. Raises Unusable for a binary file, and
    InvalidDocument for one that is damaged or too large.
    """
    if len(data) > BOUNDS.bytes:
        raise InvalidDocument(f"expected at most {BOUNDS.bytes} bytes, got more; split it by lines", name)
    refused = next((what for head, what in _BINARY.items() if data.startswith(head)), "")
    if refused or name.lower().endswith(BROTLI):
        raise Unusable(f"{name} is {refused or 'packed with brotli; unpack it first'}")
    if _MITMPROXY.match(data):
        raise Unusable(f"{name} holds flows of mitmproxy, which are binary; export them as HAR, and scrub that")
    plain, _ = as_utf8(unpack_file(data, name), name)
    found = _scrubbed(plain, name)
    if not found.removed:
        return found._replace(data=data)
    packed = gzip.compress(found.data, mtime=0) if data.startswith(GZIP) else found.data
    return found._replace(data=packed)


def secrets_in(data: bytes, name: str) -> list[str]:
    """Return what in a file shows to be a secret, such as the values of headers; empty for a file that has no text."""
    try:
        plain, _ = as_utf8(unpack_file(data, name), name)
        if plain.startswith(MAGIC):
            texts = [each.decode("utf-8", "replace") for each in _messages(plain)[0]]
            texts = [*texts, *map(_as_headers, texts)]
        elif _is_yaml(plain, name):
            texts = [_as_json(plain, name, [])]
        else:
            texts = [plain.decode("utf-8", "replace")]
    except InvalidDocument:
        return []
    return [secret for text in texts for secret in learning.of_text(text)]


def differences(before: bytes, after: bytes, name: str) -> list[str]:
    """Return the rules whose outcomes differ between two files; empty if both are judged the same."""
    first, second = (Counter(_judged(data, name)) for data in (before, after))
    return sorted({rule for rule, *_ in (first - second) + (second - first)})


def _judged(data: bytes, name: str) -> Iterator[tuple[Any, ...]]:
    try:
        for number, given in enumerate(read(data, name)):
            if given.problem is not None:
                yield "unreadable", number
            yield from (_key(each, number) for each in check(given.conversation))
    except InvalidDocument as error:
        yield "unreadable", error.message[:20]


def _key(outcome: Outcome, number: int) -> tuple[Any, ...]:
    # A place in a finding has the names of members, which may be secrets.
    places = tuple([(finding.at.count("/"), finding.level, finding.side) for finding in outcome.findings])
    return outcome.rule, number, outcome.status, outcome.level, outcome.judged, places


def _scrubbed(data: bytes, name: str) -> ScrubbedFile:
    if data.startswith(MAGIC):
        return _of_trace(data)
    if _is_yaml(data, name):
        return _of_yaml(data, name)
    text = data.decode("utf-8", "surrogateescape")
    found, made = _edited(_scrubber([text]), text)
    return ScrubbedFile(found.encode("utf-8", "surrogateescape"), _counted(made), len(_HEX.findall(text)))


def _is_yaml(data: bytes, name: str) -> bool:
    if data.lstrip().startswith((b"{", b"[")):
        return False
    return plain_name(name).endswith((".yaml", ".yml")) or _YAML.search(data) is not None


def _scrubber(texts: Iterable[str]) -> Scrubber:
    """Return what removes the secrets that some texts show, and those of the environment."""
    return scrubber([each for text in texts for each in learning.of_text(text)])


def _edited(secrets: Scrubber, text: str) -> tuple[str, list[Edit]]:
    found, made = edited(secrets, text)
    shown = [edit._replace(place=_shown(edit.place, secrets), kind=secrets.text(edit.kind)) for edit in made]
    return found, shown


def _shown(place: str, secrets: Scrubber) -> str:
    return "/".join([secrets.name(each) for each in place.split("/")])


def _counted(made: Iterable[Edit]) -> Counter[tuple[str, str]]:
    # Of a secret in several pieces, only the first has a placeholder.
    return Counter([(edit.kind, edit.place) for edit in made])


def _of_trace(data: bytes) -> ScrubbedFile:
    """Return a trace of httprr, whose messages follow their lengths."""
    messages, at = _messages(data)
    texts = [each.decode("utf-8", "surrogateescape") for each in messages]
    secrets = _scrubber([*texts, *map(_as_headers, texts)])
    removed: Counter[tuple[str, str]] = Counter()
    clean = []
    for text in texts:
        shown, made = _edited(secrets, text)
        removed += _counted(made)
        clean.append(shown.encode("utf-8", "surrogateescape"))
    pairs = zip(clean[::2], clean[1::2], strict=True)
    blocks = [b"%d %d\n%b%b" % (len(sent), len(reply), sent, reply) for sent, reply in pairs]
    return ScrubbedFile(MAGIC + b"".join(blocks) + data[at:], removed)


def _messages(data: bytes) -> tuple[list[bytes], int]:
    """Return requests and replies in turn, and where they end."""
    messages, at = [], len(MAGIC)
    while found := _LENGTHS.match(data, at):
        middle = found.end() + int(found[1])
        at = middle + int(found[2])
        messages += [data[found.end() : middle], data[middle:at]]
    return messages, at


def _as_headers(message: str) -> str:
    """Return the headers of a request as JSON, by whose rules they are read; empty for a reply."""
    head = message.partition("\r\n\r\n")[0]
    if head.startswith("HTTP/"):
        return ""
    pairs = [line.partition(":") for line in head.split("\r\n")[1:]]
    return json.dumps({"request": {"headers": {name: value.strip() for name, _, value in pairs}}})


def _of_yaml(data: bytes, name: str) -> ScrubbedFile:
    """Return a cassette, which is written again only if it has secrets."""
    # Imported here because only YAML needs it, and it takes long to import.
    import yaml

    binary: list[bytes] = []
    text = _as_json(data, name, binary)
    secrets = _scrubber([text])
    found, made = _edited(secrets, text)
    if not made:
        return ScrubbedFile(data, Counter(), len(binary))
    value = _restored(json.loads(found), binary)
    written = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)
    return ScrubbedFile(written.encode("utf-8", "surrogateescape"), _counted(made), len(binary))


def _as_json(data: bytes, name: str, binary: list[bytes]) -> str:
    """Return YAML as JSON, so that its strings are searched as those of any other file."""
    return json.dumps(parse_yaml(data, name, foreign=True).value, default=lambda value: _text(value, binary))


def _text(value: object, binary: list[bytes]) -> str:
    """Return binary data of YAML as text; what is not text is kept apart."""
    data = bytes(value) if isinstance(value, (bytes, bytearray)) else str(value).encode()
    try:
        return (gzip.decompress(data) if data.startswith(GZIP) else data).decode()
    except (OSError, EOFError, ValueError):
        binary.append(data)
        return f"{_UNREAD}{len(binary) - 1}"


def _restored(value: Any, binary: list[bytes]) -> Any:
    if isinstance(value, dict):
        return {name: _restored(member, binary) for name, member in value.items()}
    if isinstance(value, list):
        return [_restored(each, binary) for each in value]
    if isinstance(value, str) and value.startswith(_UNREAD):
        return binary[int(value.removeprefix(_UNREAD))]
    return value
