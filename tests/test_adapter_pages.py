"""The pages of adapters: the whole request of each failure with its place marked, and nothing that runs or loads."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path, PurePosixPath

import orjson
import pytest
from axe_playwright_python.base import AXE_FILE_PATH

from conformance.adapters.timeline import Timeline
from conformance.reporting.bodies import body_lines
from conformance.reporting.matrix.table import Inputs, Table, table
from conformance.reporting.page import adapter_page
from conformance.reporting.renderers.adapters import publish
from conformance.results import Evidence, Finding, Level, Outcome, Refusal, Status
from conformance.results.runs import Case, Results, SentRequest
from tests.html_browser import PHONE, Opening
from tests.html_pages import ATTACK
from tests.loops import every
from tests.observations import RESENT, inputs

pytest_plugins = ["tests.html_windows"]

BODY = {
    "model": "m-1",
    "messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": ATTACK}],
    "tools": [],
}
NAME = "an-sdk@1.0/example"


def results(text: str = "expected a, got b", requests: tuple[SentRequest, ...] = ()) -> Results:
    finding = Finding("/1/request/messages/1/content", text, Level.MUST, Refusal(400, text), '{"role":"assistant"}')
    failed = Outcome(RESENT, Status.FAILED, Level.MUST, 1, (finding,))
    case = Case("one-tool-call", "stream", Evidence.SIMULATED, (failed,), requests=requests)
    return Results("an-sdk@1.0", "m-1", (case,), "example", {"an-sdk": "1.0"})


def made(folder: Path, adapter: Results) -> Table:
    given = inputs(folder)
    kept = [each for each in given.results if not each.provider]
    return table(Inputs([*kept, adapter], given.profiles))


@pytest.fixture(name="page")
def page_with_the_request(tmp_path: Path) -> str:
    return publish(made(tmp_path, results(requests=(SentRequest(1, "/v1/messages", BODY),))))[adapter_page(NAME)]


def test_the_request_stands_whole_with_the_place_of_the_fault_marked(page: str) -> None:
    (shown,) = re.findall(r"<pre[^>]*>(\{.*?)</pre>", page, re.DOTALL)
    text = unescape(re.sub(r"</?mark>", "", shown))
    assert orjson.loads(text) == BODY
    (marked,) = re.findall(r"<mark>(.*?)</mark>", shown)
    assert '{"role":"assistant","content":"' in unescape(marked)
    assert "Request 2 of one-tool-call, streamed: POST /v1/messages" in page


def test_a_page_says_since_which_release_a_rule_is_broken(tmp_path: Path, page: str) -> None:
    assert "Since which release" not in page
    span = {"since": "1.0", "before": "0.9", "fixed": ""}
    releases = [{"version": each, "date": f"2026-0{at}-05", "skipped": ""} for at, each in enumerate(("0.9", "1.0"), 1)]
    rule = {"rule": RESENT, "grades": {"0.9": "keeps", "1.0": "fails"}, "spans": [span]}
    known = Timeline("an-sdk", "an-sdk", "example", "2026-03-01", ("one-tool-call",), tuple(releases), (rule,))
    other = replace(known, provider="elsewhere", date="2020-01-01")
    made_from = made(tmp_path, results()).inputs
    page = publish(table(replace(made_from, timelines=(other, known))))[adapter_page(NAME)]
    assert "Checked on 2026-03-01: 0.9 (2026-01-05), 1.0 (2026-02-05), in one-tool-call." in page
    assert "broken since 1.0 (2026-02-05), kept in 0.9, not fixed" in page
    assert "conformance adapter timeline an-sdk --provider example" in page
    assert "2020-01-01" not in page


def test_a_failure_has_its_fix_its_answer_and_commands(page: str) -> None:
    assert "<h3>To fix it</h3>" in page
    assert "The provider answers: <code>400 expected a, got b</code>" in page
    assert "conformance adapter run an-sdk@1.0 --provider example --scenario one-tool-call --variant stream" in page
    assert f"conformance adapter issue an-sdk@1.0 --provider example --rule {RESENT}" in page
    assert 'href="../matrix.html#/of/an-sdk%401.0%2Fexample"' in page


def test_without_the_request_the_part_of_it_stands_there(tmp_path: Path) -> None:
    page = publish(made(tmp_path, results()))[adapter_page(NAME)]
    assert "<h3>The part of it</h3>" in page
    assert "{&#34;role&#34;:&#34;assistant&#34;}" in page


def test_an_adapter_that_breaks_nothing_says_so(tmp_path: Path) -> None:
    adapter = replace(results(), cases=())
    page = publish(made(tmp_path, adapter))[adapter_page(NAME)]
    assert "None that was checked." in page


def test_results_of_an_unknown_scenario_have_a_page(tmp_path: Path) -> None:
    adapter = results()
    adapter = replace(adapter, cases=tuple([replace(each, scenario="of-another-version") for each in adapter.cases]))
    assert "of-another-version.stream" in publish(made(tmp_path, adapter))[adapter_page(NAME)]


def test_hostile_texts_are_no_markup(tmp_path: Path) -> None:
    adapter = replace(results(ATTACK, (SentRequest(1, ATTACK, BODY),)), subject=ATTACK, model=ATTACK)
    (page,) = publish(made(tmp_path, replace(adapter, versions={ATTACK: ATTACK}))).values()
    assert 1 == page.count("<style>") == page.count("</style>")
    assert [] == [each for each in ("<script", "<img", "\u202e", "\x1b", "\u2028") if each in page]
    assert [] == [
        each for each in re.findall(r'(?:href|src)="([^"]*)"', page) if not each.startswith(("#", "../", "data:,"))
    ]


@every("name", [NAME, "a b/c", "a-b/c", "../../x", "..", "/etc/passwd", "C:\\x", "x" * 999, "\0\n", "Ünï/c", ATTACK])
def test_a_page_is_a_file_in_its_folder(name: str) -> None:
    path = PurePosixPath(adapter_page(name))
    assert ("adapters", ".html") == (path.parent.as_posix(), path.suffix)
    assert re.fullmatch(r"[\w@+-][\w.@+-]{0,140}\.html", path.name, re.ASCII)


def test_names_that_are_alike_have_pages_of_their_own() -> None:
    names = ["a b/c", "a-b/c", "a  b/c", "a/b.c", "x" * 200, "x" * 201]
    assert len(names) == len({adapter_page(name) for name in names})


@pytest.mark.parametrize(
    ("place", "marked"),
    [
        (("messages", "0", "content"), ['    {"role":"user","content":"Hello."},']),
        (("model",), ['  "model": "m-1",']),
        (("messages",), ['  "messages": [']),
        (("messages", "7"), []),
        (("tools", "0"), ['  "tools": []']),
        ((), []),
    ],
)
def test_a_line_is_marked_by_its_place(place: tuple[str, ...], marked: list[str]) -> None:
    lines = list(body_lines(BODY, place))
    assert marked == [line.text for line in lines if line.is_marked]
    assert orjson.loads("\n".join([line.text for line in lines])) == BODY


def test_an_empty_body_is_an_empty_object() -> None:
    assert {} == orjson.loads("\n".join([line.text for line in body_lines({})]))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_and_axe_finds_no_violation(opened: Opening, page: str, tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "adapter.html"
    path.write_text(page, "utf-8")
    with opened(path=path, viewport=PHONE, color_scheme=scheme) as window:
        window.evaluate(AXE_FILE_PATH.read_text("utf-8"))
        found = window.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [] == [each["id"] for each in found["violations"]]
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
