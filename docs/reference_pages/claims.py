"""The page of the claims that a profile can make, from the schema of profiles."""

from collections.abc import Iterator, Mapping
from typing import Any

from conformance import profiles, rules
from conformance.documents import read_json
from conformance.reporting.text import prose
from conformance.resources import folder

_INTRODUCTION = """\
# Claims

A claim is one statement about how a provider behaves, such as *a request that omits reasoning gets status 400*. A
[profile](../evidence.md) holds the claims about one provider, each with its sources. A claim that a profile leaves out
means "as on the canonical wire". The value `unknown`, which every claim may have, means that somebody looked for the
value and did not find it.

`conformance explain claims --provider deepseek` prints the claims about one provider, and `conformance explain NAME`
explains one claim.
"""

_GROUP_TITLES = {"ids": "Ids of tool calls"}


def page() -> str:
    """Return the page: the claims by the first word of their names."""
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    readers = _readers()
    groups: dict[str, list[str]] = {}
    for name in profiles.vocabulary():
        groups.setdefault(name.partition(".")[0], []).append(name)
    lines = [_INTRODUCTION]
    for group, names in groups.items():
        lines += [f"## {_GROUP_TITLES.get(group, group.capitalize().replace('-', ' '))}", ""]
        lines += [line for name in names for line in _claim(name, schema, readers.get(name, []))]
    return "\n".join(lines)


def _readers() -> Mapping[str, list[str]]:
    """Return the ids of the rules that read a claim, by its name."""
    found: dict[str, list[str]] = {}
    for rule in rules.load():
        for name in rule.reads:
            found.setdefault(name, []).append(rule.id)
    return found


def _claim(name: str, schema: Any, readers: list[str]) -> Iterator[str]:
    entry = schema["$defs"]["claims"]["properties"][name]
    yield from (f"### {name}", "", prose(entry["description"]), "")
    kind = schema["$defs"].get(entry.get("$ref", "").rpartition("/")[2].removesuffix("-claim"), {})
    if kind.get("description"):
        yield from (f"**Value:** {prose(kind['description'])}", "")
    words = [f"- `{word}`: {prose(explained['description'])}" for word, explained in kind.get("$defs", {}).items()]
    if words:
        yield from (*words, "")
    if readers:
        links = [f"[{each}](rules.md#{each.replace('/', '')})" for each in readers]
        yield from (f"**Read by:** {', '.join(links)}", "")
