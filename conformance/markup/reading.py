"""Reads the calls that leaked into a text, so that a conversation can go on after them."""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

_JSON: Final = json.JSONDecoder()
_MEMBERS: Final = ("arguments", "parameters", "input", "args")
_BETWEEN: Final = r"\"?(?::\d+)?(?:<[^<>\n]{1,60}>|\[ARGS\]|\[CALL_ID\]\w+|json\b|code\b|[\s`>\"])*"
_PREFIX: Final = r"[^<>\n]{0,20}"
_PARAMETERS: Final = (
    re.compile(r"<parameter=(?P<key>[^<>\s]+)>(?P<value>.*?)</parameter>", re.S),
    re.compile(
        r"<[^<>\n]{0,20}(?:parameter|param) name=\"(?P<key>[^\"]+)\"[^<>]*>(?P<value>.*?)</[^<>\n]{0,20}param", re.S
    ),
    re.compile(
        r"<[^<>\n]{0,20}arg_key>(?P<key>.*?)</[^<>\n]{0,20}arg_key>\s*<[^<>\n]{0,20}arg_value>(?P<value>.*?)</", re.S
    ),
)
_QUOTE: Final = '<|"|>'
_BARE_KEY: Final = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:")


class ReadCall(NamedTuple):
    """A call that stands in a text: the name of a declared tool, and its arguments."""

    name: str
    arguments: Mapping[str, Any]


def read_calls(text: str, names: Collection[str]) -> tuple[ReadCall, ...]:
    """Return the calls of declared tools in a text, in order; those whose arguments cannot be read are left out."""
    listed = "|".join([re.escape(each) for each in sorted(names, key=len, reverse=True)])
    if not listed:
        return ()
    found = []
    places = list(re.finditer(rf"(?<![\w-])(?P<name>{listed})(?![\w-])", text))
    for number, place in enumerate(places):
        end = places[number + 1].start() if number + 1 < len(places) else len(text)
        arguments = next(_arguments(text[: place.start()], text[place.end() :], text[place.end() : end]), None)
        if arguments is not None:
            found.append(ReadCall(place["name"], arguments))
    return tuple(found)


def _arguments(before: str, after: str, own: str) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments behind a name; `own` is the text up to the next name."""
    if re.search(r"\"(?:name|tool_name|function|tool)\"\s*:\s*\"\Z", before):
        member = re.match(rf"\"\s*,\s*\"(?:{'|'.join(_MEMBERS)})\"\s*:\s*", after)
        yield from _object(after[member.end() :]) if member else ()
        return
    if own.startswith("("):
        yield from _keywords(after)
    between = re.match(_BETWEEN, after)
    if between is not None and after[between.end() :].startswith("{"):
        yield from _object(after[between.end() :])
    if re.search(r"(?:<(?:tool_call|function=|[^<>\n]{0,30}name=\"?|[^<>\s]{1,30}>)|function=)\s*\Z", before):
        read = [
            (each["key"].strip(), _value(each["value"])) for pattern in _PARAMETERS for each in pattern.finditer(own)
        ]
        if read or re.match(r"\"?\s*/?>?\s*</", own):
            yield dict(read)


def _object(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON object that a text begins with, also with the bare keys and the quotes of Gemma."""
    for attempt in (text, _as_json(text)) if _QUOTE in text or _BARE_KEY.match(text) else (text,):
        try:
            value = _JSON.raw_decode(attempt)[0]
            value = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
            return


def _as_json(text: str) -> str:
    pieces = text.split(_QUOTE)
    # Every second piece stands between two quotes.
    return "".join(
        [json.dumps(piece) if number % 2 else _BARE_KEY.sub(r'\1"\2":', piece) for number, piece in enumerate(pieces)]
    )


def _keywords(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the keyword arguments of the Python call whose brackets a text begins with."""
    for end in [found.end() for found in re.finditer(r"\)", text)][:20]:
        try:
            call = ast.parse(f"f{text[:end]}", mode="eval").body
            if isinstance(call, ast.Call) and not call.args:
                yield {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
                return
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def _value(text: str) -> Any:
    """Return the value of a parameter: JSON where it is other than text."""
    stripped = text.strip()
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return stripped
    return stripped if isinstance(value, str) else value
