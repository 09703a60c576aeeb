"""Profiles load, say where they are broken, and resolve by model and day."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conformance import profiles
from conformance.errors import InvalidDocument, UnknownName
from conformance.profiles.texts import by_host
from conformance.resources import folder
from conformance.wire.native import CHAT
from tests.loops import every

SCHEMA: dict[str, Any] = json.loads((folder("schemas") / "files" / "profile.json").read_text("utf-8"))
VOCABULARY: dict[str, Any] = SCHEMA["$defs"]["claims"]["properties"]

HEAD = "title: T\nkind: vendor\n"
ENTRY = "source: {inferred: s}, confidence: high"


def written(folder_: Path, text: str) -> Path:
    path = folder_ / "example.yaml"
    path.write_text(text, "utf-8")
    return path


@every("name", profiles.names())
def test_every_profile_loads_under_its_own_name(name: str) -> None:
    profile = profiles.load(name)
    assert name == profile.name
    assert profile.title
    assert profile.claims or profile.protocols


@every("name", profiles.names())
def test_the_hosts_that_by_host_reads_are_those_of_the_profile(name: str) -> None:
    profile = profiles.load(name)
    wire = CHAT if profile.claims else next(iter(profile.protocols))
    for host in profile.hosts:
        assert name == by_host(host.replace("*", "x").upper(), wire)


def test_a_host_that_no_profile_knows_has_no_profile() -> None:
    assert by_host("example.org") is None


@pytest.mark.parametrize("name", ["deepsek", "../profiles/deepseek"])
def test_an_unknown_provider_is_named_with_its_neighbours(name: str) -> None:
    with pytest.raises(UnknownName, match="did you mean deepseek"):
        profiles.load(name)


FILES = [
    ("kind: vendor\nclaims: {}\n", 1, "", "title"),
    ("title: T\nkind: shop\nclaims: {}\n", 2, "/kind", "vendor"),
    (HEAD + "claims: {}\ncolour: red\n", 4, "/colour", "colour"),
    (HEAD + "claims: {}\nmodels:\n  'm[4': {}\n", 5, "/models/m[4", "m[4"),
    (HEAD + "claims: {}\nmodels:\n  GPT-4: {}\n  gpt-4: {}\n", 6, "/models/gpt-4", "once"),
    (
        HEAD + "claims: {}\nmodels: {m: {claims: {ids.formt: {}}}}\n",
        4,
        "/models/m/claims/ids.formt",
        "did you mean ids.format",
    ),
]

LIFECYCLES = [
    ("lifecycle: {source: {inferred: s}}", "", "since"),
    ("lifecycle: {until: 2026-01}", "", "source"),
    ("lifecycle: {until: 2026-01, source: s}", "/source", "exactly one of url, repo"),
    ("lifecycle: {since: 2026-01, until: 2025-12, source: {inferred: s}}", "/until", "after 2026-01"),
    ("lifecycle: [{until: 2026-01, source: {inferred: s}}, {since: 2025-01, source: {inferred: s}}]", "/1", "2026"),
    ("lifecycle: {alias_of: 'm*', source: {inferred: s}}", "/alias_of", "text that matches"),
    ("lifecycle: {alias_of: M, source: {inferred: s}}", "/alias_of", "another model"),
]

CLAIMS = [
    ("ids.formt", "{value: a, ~}", 4, "", "did you mean ids.format"),
    ("stream.done", "{value: true, confidence: low}", 4, "", "source"),
    ("stream.done", "{value: true, source: {inferred: s}}", 4, "", "confidence"),
    ("stream.done", "\n    value: true\n    source: {inferred: s}\n    confidence: sure", 7, "/confidence", "high"),
    ("stream.done", "{value: yes, ~}", 4, "/value", "true or false"),
    ("stream.done", "{value: true, ~}\n  stream.done: {value: true, ~}", 5, "", ""),
    ("stream.done", "{value: true, since: 2025-13, ~}", 4, "/since", "text that matches"),
    ("stream.done", "{value: true, since: 2026-01, until: 2025-12, ~}", 4, "/until", "after 2026-01"),
    ("stream.done", "\n    - {value: true, since: 2026, ~}", 5, "/0/since", "string"),
    ("stream.done", "\n    - {value: true, ~}\n    - {value: false, ~}", 6, "/1", "the beginning"),
    ("stream.done", "\n    - {value: true, since: 2026-01, ~}\n    - {value: true, since: 2025, ~}", 6, "/1/since", ""),
    (
        "stream.done",
        "\n    - {value: true, since: 2026-01, ~}\n    - {value: true, since: 2025-01, ~}",
        6,
        "/1",
        "2026",
    ),
    (
        "stream.done",
        "\n    - {value: true, until: 2026-01, ~}\n    - {value: true, since: 2025-12, ~}",
        6,
        "/1",
        "2026",
    ),
    ("stream.usage", "{value: somewhere, ~}", 4, "/value", "own-chunk"),
    ("results.missing", "{value: refused, ~}", 4, "/value", "accepted"),
    ("results.missing", "{value: {message: no}, ~}", 4, "/value", "status"),
    ("results.missing", "{value: {status: 400, message: 'at {place}'}, ~}", 4, "/value/message", "text that matches"),
    ("results.missing", "{value: {status: 400, message: 'an { alone'}, ~}", 4, "/value/message", "text that matches"),
    ("ids.format", "{value: 'a[', ~}", 4, "/value", "regular expression"),
    (
        "ids.format",
        "\n    value:\n    - a\n    - '('\n    source: {inferred: s}\n    confidence: low",
        7,
        "/value/1",
        "regular",
    ),
    ("stream.done", "{value: true, source: s, confidence: low}", 4, "/source", "exactly one of url, repo"),
    ("stream.done", "{value: true, source: {url: 'https://a.example/'}, confidence: low}", 4, "/source", "read"),
    ("stream.done", "{value: true, source: {quote: s}, confidence: low}", 4, "/source", "exactly one of url, repo"),
    ("ids.input-pattern", "{value: {pattern: '(', refusal: {status: 400}}, ~}", 4, "/value/pattern", "regular"),
    ("thinking.switches", "{value: [{at: think, equals: 1, thinks: true}], ~}", 4, "/value/0/at", "text that matches"),
]


def of_a_claim(name: str, entry: str) -> str:
    """Return a profile whose fourth line makes one claim; `~` stands for a source and a confidence."""
    return f"{HEAD}claims:\n  {name}: {entry}\n".replace("~", ENTRY)


@pytest.mark.parametrize(
    ("text", "line", "pointer", "words"),
    [
        *FILES,
        *((of_a_claim(name, entry), line, f"/claims/{name}{at}", words) for name, entry, line, at, words in CLAIMS),
        *(
            (f"{HEAD}claims: {{}}\nmodels: {{m: {{{text}}}}}\n", 4, f"/models/m/lifecycle{at}", words)
            for text, at, words in LIFECYCLES
        ),
    ],
)
def test_a_broken_profile_is_refused_with_file_line_and_pointer(
    tmp_path: Path, text: str, line: int, pointer: str, words: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidDocument) as refusal:
        profiles.read(path)
    assert (str(path), line, pointer) == (refusal.value.file, refusal.value.line, refusal.value.pointer)
    assert words in refusal.value.message


def test_every_claim_that_holds_an_expression_has_it_compiled(tmp_path: Path) -> None:
    held = {"pattern-claim": "'('", "constraint-claim": "{pattern: '(', refusal: {status: 400}}"}
    claims = {name: held[kind] for name, kind in kinds() if kind in held}
    assert {
        "ids.format",
        "ids.format-in-stream",
        "reply.id-format",
        "ids.input-pattern",
        "request.message-name-pattern",
        "request.tool-name-pattern",
    } == set(claims)
    for name, value in claims.items():
        with pytest.raises(InvalidDocument, match="regular expression"):
            profiles.read(written(tmp_path, f"{HEAD}claims:\n  {name}: {{value: {value}, {ENTRY}}}\n"))


@every("name", profiles.names())
def test_every_expression_of_a_profile_compiles(name: str) -> None:
    profile = profiles.load(name)
    patterns = [each for each, kind in kinds() if kind == "pattern-claim"]
    for claims in (profile.claims, *(model.claims for model in profile.models)):
        for claim in (claim for each in patterns for claim in claims.get(each, ())):
            for expression in claim.value if isinstance(claim.value, list) else [claim.value]:
                assert re.compile(expression)


def test_every_claim_and_every_kind_of_value_is_explained() -> None:
    assert {name: each["description"] for name, each in VOCABULARY.items()} == profiles.vocabulary()
    assert all(words.endswith(".") for words in profiles.vocabulary().values())
    values = {kind.removesuffix("-claim") for _, kind in kinds()}
    assert all(SCHEMA["$defs"][name]["description"] for name in values)


def test_every_word_that_a_value_may_be_is_explained() -> None:
    for name, kind in SCHEMA["$defs"].items():
        if "meanings" in kind:
            assert sorted(map(spelled, allowed(kind))) == sorted(kind["meanings"]), name


def test_a_claim_may_always_be_unknown(tmp_path: Path) -> None:
    claims = "".join(f"  {name}: {{value: unknown, {ENTRY}}}\n" for name in VOCABULARY)
    profile = profiles.read(written(tmp_path, f"{HEAD}claims:\n{claims}"))
    assert dict.fromkeys(VOCABULARY, "unknown") == profile.at()


LAYERED = (
    HEAD
    + """models:
  gpt-5*:
    claims:
      ids.format: {value: five, source: {inferred: s}, confidence: high}
      reply.object: {value: five, source: {inferred: s}, confidence: high}
  gpt-5.4*:
    claims:
      ids.format: {value: five-four, source: {inferred: s}, confidence: high}
  GPT-5.4-mini:
    claims:
      ids.format: {value: mini, source: {inferred: s}, confidence: high}
      stream.done: {value: true, since: 2026-01, source: {inferred: s}, confidence: high}
claims:
  ids.format: {value: other, source: {inferred: s}, confidence: high}
  stream.done: {value: false, source: {inferred: s}, confidence: high}
  reply.object:
    - {value: old, until: 2025-06, source: {inferred: s}, confidence: high}
    - {value: mid, since: 2025-06, source: {inferred: s}, confidence: high}
    - {value: new, since: 2026-02-01, source: {inferred: s}, confidence: high}
  finish.native-field: {value: gone, until: 2025-01, source: {inferred: s}, confidence: high}
  signature.field: {value: upstream, source: {inferred: s}, confidence: high}
"""
)

RESOLVED: list[tuple[str, str, str, Any]] = [
    ("", "", "ids.format", "other"),
    ("gpt-4", "", "ids.format", "other"),
    ("gpt-5", "", "ids.format", "five"),
    ("gpt-5.4-nano", "", "ids.format", "five-four"),
    ("gpt-5.4-mini", "", "ids.format", "mini"),
    ("Gpt-5.4-MINI", "", "ids.format", "mini"),
    ("gpt-5.4-mini", "", "reply.object", "five"),
    ("gpt-4", "2025-05-31", "reply.object", "old"),
    ("gpt-4", "2025-06-01", "reply.object", "mid"),
    ("gpt-4", "2026-02-01", "reply.object", "new"),
    ("gpt-4", "", "reply.object", "new"),
    ("gpt-4", "2024-12-31", "finish.native-field", "gone"),
    ("gpt-4", "2025-01-01", "finish.native-field", None),
    ("gpt-4", "", "finish.native-field", None),
    ("gpt-4", "2025-01-01", "stream.done", False),
    ("gpt-5.4-mini", "2025-12-31", "stream.done", None),
    ("gpt-5.4-mini", "2026-01-01", "stream.done", True),
    ("gpt-4", "", "stream.usage", None),
    ("gpt-4", "", "signature.field", "unknown"),
]


@pytest.mark.parametrize(("model", "date", "name", "expected"), RESOLVED)
def test_a_claim_is_that_of_its_model_and_day(tmp_path: Path, model: str, date: str, name: str, expected: Any) -> None:
    profile = profiles.read(written(tmp_path, LAYERED))
    assert expected == profile.at(model, date).get(name)
    claim = profile.claim(name, model, date)
    assert (expected is None) is (claim is None)


@every("name", profiles.names()[::4])
def test_all_claims_at_once_are_those_that_are_found_one_by_one(name: str) -> None:
    profile = profiles.load(name)
    for model in ("", *[each.name for each in profile.models][:3]):
        one_by_one = {each: profile.claim(each, model) for each in VOCABULARY}
        expected = {each: "unknown" if it.value == "upstream" else it.value for each, it in one_by_one.items() if it}
        assert expected == {**profile.at(model)}


SERVED = (
    HEAD
    + """models:
  chat:
    lifecycle:
      - {since: 2024-05, until: 2026-07-24, source: {inferred: s}}
      - {alias_of: flash, since: 2026-09-10, source: {inferred: s}}
    claims:
      ids.format: {value: chat, until: 2026-09-10, source: {inferred: s}, confidence: high}
      thinking.off: {value: {}, source: {inferred: s}, confidence: high}
  flash: {claims: {ids.format: {value: flash, source: {inferred: s}, confidence: high}}}
  c*: {claims: {reply.object: {value: c, source: {inferred: s}, confidence: high}}}
  latest*: {lifecycle: {alias_of: chat, source: {inferred: s}}}
  this: {lifecycle: {alias_of: that, source: {inferred: s}}}
  that: {lifecycle: {alias_of: this, source: {inferred: s}}}
  old-*: {lifecycle: {until: 2026-12, source: {inferred: s}}}
  old-but-kept: {lifecycle: {since: 2025-01, source: {inferred: s}}}
claims:
  reply.object: {value: all, source: {url: 'https://a.example/', read: 2026-11-20}, confidence: high}
  stream.done: {value: true, source: {searched: 2026-11-01}, confidence: high}
"""
)

ALIASES: list[tuple[str, str, dict[str, Any]]] = [
    ("chat", "2024-06", {"ids.format": "chat", "thinking.off": {}, "reply.object": "c"}),
    ("chat", "2026-08", {"ids.format": "chat", "thinking.off": {}, "reply.object": "c"}),
    ("Chat", "2026-09-10", {"ids.format": "flash", "thinking.off": {}, "reply.object": "all"}),
    ("chat", "", {"ids.format": "flash", "thinking.off": {}, "reply.object": "all"}),
    ("latest-2", "2026-08", {"ids.format": "chat", "thinking.off": {}, "reply.object": "c"}),
    ("latest-2", "2026-10", {"ids.format": "flash", "thinking.off": {}, "reply.object": "all"}),
    ("this", "", {"reply.object": "all"}),
]


@pytest.mark.parametrize(("model", "date", "expected"), ALIASES)
def test_an_alias_has_its_own_claims_and_those_of_the_model_that_answers(
    tmp_path: Path, model: str, date: str, expected: dict[str, Any]
) -> None:
    profile = profiles.read(written(tmp_path, SERVED))
    assert {"stream.done": True, **expected} == profile.at(model, date)


@pytest.mark.parametrize(
    ("model", "date", "expected"),
    [
        ("chat", "2024-01", False),
        ("chat", "2026-07-23", True),
        ("chat", "2026-07-24", False),
        ("chat", "2026-09-10", True),
        ("old-1", "", True),
        ("old-1", "2026-12-01", False),
        ("old-but-kept", "2026-12-01", True),
        ("flash", "2001", True),
        ("unheard-of", "", True),
    ],
)
def test_a_model_is_served_in_the_periods_of_its_lifecycle(
    tmp_path: Path, model: str, date: str, *, expected: bool
) -> None:
    assert expected is profiles.read(written(tmp_path, SERVED)).is_served(model, date)


def test_a_lifecycle_ends_for_good_with_its_last_period(tmp_path: Path) -> None:
    profile = profiles.read(written(tmp_path, SERVED))
    found = [profiles.retired(profile.lifecycle_of(each), "2026-12-01") for each in ("chat", "old-1", "flash")]
    assert ["", "2026-12", ""] == found


def test_an_empty_date_means_the_day_on_which_the_facts_were_last_read(tmp_path: Path) -> None:
    profile = profiles.read(written(tmp_path, SERVED))
    assert "2026-11-20" == profile.as_of
    assert profile.at("old-1", "2026-11-20") is profile.at("old-1")


@every("name", profiles.names())
def test_the_default_model_of_a_profile_is_still_served(name: str) -> None:
    profile = profiles.load(name)
    assert profile.is_served(profile.model), profile.model


def test_what_follows_an_upstream_is_told_apart_only_with_its_source(tmp_path: Path) -> None:
    profile = profiles.read(written(tmp_path, LAYERED))
    claim = profile.claim("signature.field")
    assert claim is not None
    assert (claim.value, claim.source[0].inferred, claim.confidence) == ("upstream", "s", "high")


def test_claims_of_one_model_and_period_are_resolved_once(tmp_path: Path) -> None:
    profile = profiles.read(written(tmp_path, LAYERED))
    assert profile.at("gpt-5.4-nano", "2025-07-01") is profile.at("gpt-5.4-pro", "2025-08-01")
    assert profile.at("gpt-5.4-nano", "2025-07-01") is not profile.at("gpt-5.4-nano", "2026-07-01")


def test_a_profile_made_of_values_makes_them_of_every_model_at_all_times() -> None:
    profile = profiles.of({"stream.done": False}, "made")
    assert {"stream.done": False} == profile.at("any", "2001-01-01") == profile.at()
    assert profile.name == "made"


def kinds() -> list[tuple[str, str]]:
    return [(name, each["$ref"].removeprefix("#/$defs/")) for name, each in VOCABULARY.items()]


def allowed(kind: dict[str, Any]) -> list[Any]:
    for place in (kind, kind.get("then", {}), kind.get("else", {}), kind.get("items", {})):
        if "enum" in place:
            return list(place["enum"])
        if "const" in place:
            return [place["const"]]
    return []


def spelled(word: Any) -> str:
    return json.dumps(word) if isinstance(word, bool) else str(word)


@every("name", [name for name in profiles.names() if profiles.load(name).protocols])
def test_the_claims_of_each_wire_are_its_own(name: str) -> None:
    profile = profiles.load(name)
    wires = (profile, *profile.protocols.values())
    resolved = {wire.name: wire.at() for wire in wires}
    expected = {wire.name: {each for each in wire.claims if wire.claim(each) is not None} for wire in wires}
    assert {each: [] for each in expected} == {
        each: sorted(expected[each] - resolved[each].keys()) for each in expected
    }
    assert len(wires) == len({id(wire.at()) for wire in wires})


@pytest.mark.parametrize("name", ["anthropic", "gemini"])
def test_a_profile_with_claims_about_other_wires_alone_is_as_of_their_last_source(name: str) -> None:
    profile = profiles.load(name)
    assert max(section.as_of for section in profile.protocols.values()) == profile.as_of
    assert profile.as_of.startswith("20")
