"""What hosts are known to say: the error texts in profiles, and those of the files here that no claim holds."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance import definitions, profiles
from conformance.derived import contents, derived
from conformance.documents import Document
from conformance.documents.pointer import Place
from conformance.error_texts.causes import cause_of, causes
from conformance.error_texts.unwrapping import innermost
from conformance.profiles import Claim, Profile

_FOLDER: Final = Path(__file__).parent
_NUMBERS: Final = ("index", "position", "count", "length", "limit", "line", "column", "id", "model")
"""The placeholders of refusals that stand for a number, an id or the name of a model; others may be any text."""


class Saying(NamedTuple):
    """An error text of a host, with its cause.

    `text`: the error as it was seen, or as a claim has it. `message`: the part of it that says the cause.
    `cause`: the id of its cause. `host`: the name of a profile, or of a host without one. `wire`: the wire on which it
    was seen. `status`: its HTTP status, if known. `sources`: where it can be read. `date`: the ISO 8601 day on which it
    was seen or read. `model`: the one that was asked for, if known. `claim`: the claim that holds it; empty if none
    does. `since`: since when or with which release it is so, if known. `why` and `fix`: what is more special than the
    cause's own words. `fixed`: the quoted words that have to be there; None if each one has. `is_template`: whether
    parts in braces stand for values.
    """

    text: str
    message: str
    cause: str
    host: str
    wire: str
    status: int | None = None
    sources: tuple[str, ...] = ()
    date: str = ""
    model: str = ""
    claim: str = ""
    since: str = ""
    why: str = ""
    fix: str = ""
    fixed: tuple[str, ...] | None = None
    is_template: bool = False


@cache
def sayings() -> tuple[Saying, ...]:
    """Return every known error text; raises InvalidDocument for a broken file."""
    return (*of_profiles(), *of_files())


@cache
def of_files() -> tuple[Saying, ...]:
    """Return the error texts of the files in this folder; raises InvalidDocument with file, line and pointer."""
    found: list[Saying] = []
    for name in definitions.names(_FOLDER):
        document = definitions.read(_FOLDER / f"{name}.yaml", "error-texts", _errors)
        found += [_of_entry(each, document.value.get("host", "")) for each in document.value["texts"]]
    return tuple(found)


def read(path: Path) -> Document:
    """Return the document in a file of error texts; raises InvalidDocument with file, line and pointer."""
    return definitions.read(path, "error-texts", _errors)


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    for number, each in enumerate(value["texts"]):
        if each["cause"] not in causes():
            yield ("texts", number, "cause"), f"unknown cause {each['cause']!r}"
        if "host" not in each and "host" not in value:
            yield ("texts", number), "expected a host here, because the file has none"


def _of_entry(entry: Mapping[str, Any], host: str) -> Saying:
    return Saying(
        text=entry["text"],
        message=entry.get("message", entry["text"]),
        cause=entry["cause"],
        host=entry.get("host", host),
        wire=entry["wire"],
        status=entry.get("status"),
        sources=(entry["source"],) if "source" in entry else (),
        date=str(entry.get("date") or ""),
        model=entry.get("model") or "",
        since=f"seen in release {entry['version']}" if "version" in entry else "",
        why=entry.get("why", ""),
        fix=entry.get("fix", ""),
        fixed=tuple(entry.get("fixed", ())),
        is_template=entry.get("template", False),
    )


@cache
def of_profiles() -> tuple[Saying, ...]:
    """Return the error texts that the claims of all shipped profiles hold."""
    files = contents((Path(profiles.__path__[0]), _FOLDER))
    rows = derived("texts", "of-profiles", files, lambda: [list(each) for each in found_in_profiles()])
    return tuple([_of_row(row) for row in rows])


def _of_row(row: Sequence[Any]) -> Saying:
    saying = Saying(*row)
    fixed = None if saying.fixed is None else tuple(saying.fixed)
    return saying._replace(sources=tuple(saying.sources), fixed=fixed)


def found_in_profiles() -> tuple[Saying, ...]:
    """Return the same as they are found in the files of the profiles, which takes most of a second."""
    found: dict[tuple[str, str, str, str], Saying] = {}
    for profile in map(profiles.load_profile, profiles.names()):
        for each in (profile, *profile.protocols.values()):
            for claim, model in claims_of(each):
                for saying in _of_claim(each, claim, model):
                    found.setdefault((saying.text, saying.host, saying.wire, saying.claim), saying)
    return tuple(found.values())


def claims_of(profile: Profile) -> Iterator[tuple[Claim, str]]:
    """Yield every claim of a profile on one wire, with the glob of the models that it is about."""
    for model, histories in (("", profile.claims), *[(each.name, each.claims) for each in profile.models]):
        for history in histories.values():
            for claim in history:
                yield claim, model


def _of_claim(profile: Profile, claim: Claim, model: str) -> Iterator[Saying]:
    for value in (claim.value, *[other.value for other in claim.disagrees]):
        for refusal in refusals_of(value):
            for text in _texts(refusal):
                cause = cause_of(claim.name, text)
                if cause is None:
                    continue
                yield Saying(
                    text=text,
                    message=_message(text),
                    cause=cause.id,
                    host=profile.service,
                    wire=profile.wire,
                    status=refusal["status"],
                    sources=tuple([each.url for each in claim.source if each.url]),
                    date=max([each.read for each in claim.source if each.read], default=""),
                    model=model,
                    claim=claim.name,
                    since=" ".join(filter(None, [claim.since, claim.versions])),
                )


def refusals_of(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the refusals in the value of a claim, however deep."""
    if isinstance(value, Mapping):
        if "status" in value:
            yield value
        else:
            yield from [each for member in value.values() for each in refusals_of(member)]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from [each for member in value for each in refusals_of(member)]


def _texts(refusal: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a refusal as templates: its message, others of the same meaning, the parts of its body."""
    yield from filter(None, (refusal.get("message"), *refusal.get("also", ())))
    yield from _of_body(refusal.get("body"))


def _of_body(body: Any) -> Iterator[str]:
    """Yield the texts of a body. One about a place is of the place as well: alone it could mean any field."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, Mapping):
        if isinstance(body.get("loc"), list):
            yield f"{' '.join(map(str, body['loc']))} msg {body.get('msg', '')}"
            return
        for key in ("error", "message", "msg", "detail", "raw", "metadata"):
            yield from _of_body(body.get(key))
        # One host names the wrong parameter there, another says what is wrong.
        if " " in str(body.get("param")):
            yield from _of_body(body["param"])
    elif isinstance(body, list):
        yield from [text for each in body for text in _of_body(each)]


def _message(template: str) -> str:
    """Return the template of a refusal with holes for its placeholders: numbers and ids are short, others are not."""
    for name in _NUMBERS:
        template = template.replace(f"{{{name}}}", "<id>")
    # A gateway passes on the body of another host, in whose braces a template has each brace twice.
    return innermost(template.replace("{{", "{").replace("}}", "}")) if "{{" in template else template
