"""The picture of the core facts in the README: complete, safe, readable without colour, and in both schemes."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from conformance import profiles
from conformance.reporting.answers import Meaning, SubjectAnswer
from conformance.reporting.renderers.core_facts_svg import SHOWN, ProviderRow, _note, render
from conformance.resources import folder
from tests.xml_text import parse_xml

ANSWERS = (
    SubjectAnswer(
        "reasoning",
        Meaning.BEWARE,
        ("send back reasoning_content", "on example-*: think-tags"),
        others=((("example-*",), "think-tags"),),
    ),
    SubjectAnswer("400", Meaning.BREAKS, ("every tool turn",)),
    SubjectAnswer("unique", Meaning.WORKS),
    SubjectAnswer("unknown", Meaning.UNKNOWN, ("keep call order",)),
)
PICTURE = render([ProviderRow("Example", ANSWERS), ProviderRow("</text><script>&", ANSWERS)])
WIDE_CHARACTER = 6.7
"""The width of an average character of DejaVu Sans, which is wide, at 13 pixels."""


def texts(picture: Element) -> list[str]:
    return [each.text or "" for each in picture.iter("{http://www.w3.org/2000/svg}text")]


def test_it_matches_its_golden_file(golden: Callable[[str, str], None]) -> None:
    golden("report/core-facts.svg", PICTURE)


def test_each_value_has_a_mark_beside_its_colour() -> None:
    shown = texts(parse_xml(PICTURE))
    assert {"! reasoning", "✕ 400", "✓ unique", "? unknown"} <= set(shown)
    assert "on example: think-tags" in shown


FITTING = [
    ((), ("send back reasoning_content",), "send back reasoning_content"),
    ((), ("a note that no box of this picture is wide enough for", "short"), "short"),
    ((), ("a note that no box of this picture is wide enough for",), ""),
    (((("kimi-k2.6*",), "400"),), ("keep call order",), "on kimi-k2.6: 400"),
    (((("kimi-k2.6*", "kimi-k2.5*"), "400"),), (), "on kimi-k2.6, kimi-k2.5: 400"),
    (((("a*",), "accepted"), (("vendor/b*",), "400")), (), "on b and 1 more: 400"),
    (((tuple(f"vendor/a-long-name-of-a-model-{number}*" for number in range(5)), "400"),), (), "on 5 models: 400"),
]


def test_a_note_is_shown_whole_or_in_fewer_words() -> None:
    for others, notes, expected in FITTING:
        assert expected == _note(SubjectAnswer("v", Meaning.WORKS, notes, others=others), 32)


def test_a_title_cannot_add_elements() -> None:
    picture = parse_xml(PICTURE)
    assert [] == [each.tag for each in picture.iter() if "script" in each.tag]
    assert "</text><script>&" in texts(picture)


def test_it_loads_nothing_and_has_colours_for_dark_pages() -> None:
    assert 1 == PICTURE.count("http")
    assert "url(" not in PICTURE
    assert "prefers-color-scheme:dark" in PICTURE


def test_an_api_other_than_chat_completions_is_named() -> None:
    picture = render([ProviderRow("Example", ANSWERS, "Anthropic Messages")])
    assert "Anthropic Messages" in texts(parse_xml(picture))
    assert "Example (Anthropic Messages): Reasoning field" in picture


def test_readers_who_do_not_see_it_get_its_text() -> None:
    title = parse_xml(PICTURE).findtext("{http://www.w3.org/2000/svg}title") or ""
    assert "Example: Reasoning field reasoning; Reasoning omitted 400; Call ids unique; Result order unknown" in title


def test_the_published_picture_has_every_provider_and_cuts_no_value() -> None:
    picture = parse_xml((folder("reports") / "core-facts.svg").read_text("utf-8"))
    shown = [name for name in SHOWN if (folder("reports") / "results" / f"{name}.json").is_file()]
    titles = [profiles.load(name.partition(".")[0]).title for name in shown]
    known = {profiles.load(name).title for name in profiles.names()}
    assert titles == [each for each in texts(picture) if each in known]
    boxes = [each for each in picture.iter("{http://www.w3.org/2000/svg}rect") if each.get("rx") == "5"]
    values = [each for each in texts(picture) if each[:2] in ("✕ ", "! ", "? ", "✓ ")][: len(boxes)]
    assert [] == [
        value
        for value, box in zip(values, boxes, strict=True)
        if WIDE_CHARACTER * len(value) > float(box.get("width", 0))
    ]
