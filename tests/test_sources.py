"""`conformance sources check`: what becomes of cited pages, whatever their servers send."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance import profiles
from conformance.cli import main
from conformance.documents import read_yaml
from conformance.evidence.cited import checking, citations, fetching, problems
from conformance.evidence.cited.citations import Citation
from conformance.evidence.cited.pages import Page, Pages, readable
from conformance.evidence.cited.problems import Kind
from conformance.profiles import Claim, Profile, Source
from conformance.transport.server import HttpReply, serving
from tests.checking import ROOT

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LONG = "Filler so that the page holds text without its scripts. " * 10
SCRIPT = r"var a = 'an \u201codd\u201d one', b = 'a \u003ccode>key\u003c/code> in\na script';"
TEXT = f"<html><script>{SCRIPT}</script><p>Send <code>reasoning_content</code> back.</p>{LONG}"
HTML = {"content-type": "text/html; charset=utf-8"}
QUICK = fetching.Pace(delay=0.0, seconds=2.0)

ANSWERS: dict[str, HttpReply] = {
    "/good": HttpReply(200, TEXT.encode(), HTML),
    "/packed": HttpReply(200, gzip.compress(TEXT.encode()), {**HTML, "content-encoding": "gzip"}),
    "/bomb": HttpReply(200, gzip.compress(b" " * 10_000_000), {**HTML, "content-encoding": "gzip"}),
    "/packed-oddly": HttpReply(200, b"?", {**HTML, "content-encoding": "br"}),
    "/odd-charset": HttpReply(200, TEXT.encode(), {"content-type": "text/html; charset=punycode"}),
    "/gone": HttpReply(404, b"gone", HTML),
    "/moved": HttpReply(301, b"", {"location": "/good"}),
    "/slash": HttpReply(308, b"", {"location": "/slash/"}),
    "/slash/": HttpReply(200, TEXT.encode(), HTML),
    "/loop": HttpReply(302, b"", {"location": "/loop"}),
    "/script": HttpReply(302, b"", {"location": "javascript:alert(1)"}),
    "/nowhere": HttpReply(302, b"", {"location": "http://[/"}),
    "/busy": HttpReply(429, b"", {"retry-after": "0"}),
    "/forbidden": HttpReply(403, b"", HTML),
    "/untyped": HttpReply(200, f"<!doctype html>{TEXT}".encode(), {"content-type": ""}),
    "/binary": HttpReply(200, TEXT.encode(), {"content-type": "application/pdf"}),
    "/empty": HttpReply(200, b"<div id=root></div>", HTML),
}

FOUND: list[tuple[str, str, Kind | None, str]] = [
    ("/good", "Send reasoning_content back", None, ""),
    ("/good", "send `reasoning_content`  BACK.", None, ""),
    ("/good", "an “odd” one", None, ""),
    ("/good", "Send … back.", None, ""),
    ("/good", "a `key` in\\n a script", None, ""),
    ("/good", "back [...] Send", Kind.QUOTE, "back [...] Send"),
    ("/good", "never written", Kind.QUOTE, "never written"),
    ("/packed", "Send reasoning_content back", None, ""),
    ("/odd-charset", "Send reasoning_content back", None, ""),
    ("/untyped", "Send reasoning_content back", None, ""),
    ("/binary", "Send reasoning_content back", Kind.UNCHECKED, "too little text"),
    ("/moved", "Send reasoning_content back", Kind.MOVED, "/good"),
    ("/slash", "", None, ""),
    ("/gone", "any", Kind.GONE, "HTTP 404"),
    ("/bomb", "any", Kind.UNCHECKED, "unpack to more"),
    ("/packed-oddly", "any", Kind.UNCHECKED, "'br'"),
    ("/loop", "any", Kind.UNCHECKED, "more than 5 times"),
    ("/script", "any", Kind.UNCHECKED, ""),
    ("/nowhere", "any", Kind.UNCHECKED, ""),
    ("/busy", "any", Kind.UNCHECKED, "busy"),
    ("/forbidden", "any", Kind.UNCHECKED, "HTTP 403"),
    ("/empty", "any", Kind.UNCHECKED, "too little text"),
    ("/empty", "", None, ""),
]


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving(lambda request: ANSWERS.get(request.path, HttpReply(404, b"", HTML))) as url:
        yield url


def replied(status: int, text: str = "") -> httpx.Response:
    """Return a reply that is not read yet, as those of a network are."""
    return httpx.Response(status, stream=httpx.ByteStream(text.encode()))


def redirected(url: str) -> httpx.Response:
    return httpx.Response(301, headers={"location": url})


def fetched(urls: list[str], folder: Path, transport: httpx.AsyncBaseTransport | None = None) -> dict[str, Page]:
    return dict(fetching.fetch(urls, Pages(folder), NOW.isoformat(), lambda _: None, QUICK, transport))


def found(source: Source, pages: dict[str, Page], *messages: str) -> list[tuple[Kind, str]]:
    cited = [Citation("here", (source,), messages)]
    return [(each.kind, each.detail) for each in problems.find(cited, pages, date(2026, 11, 22), timedelta(days=90))]


@pytest.mark.parametrize(("path", "quote", "kind", "words"), FOUND)
def test_what_becomes_of_a_page(
    site: str, tmp_path: Path, path: str, quote: str, kind: Kind | None, words: str
) -> None:
    source = Source(url=f"{site}{path}", quote=quote, read="2026-11-20")
    problem = found(source, fetched([source.url], tmp_path))
    assert ([] if kind is None else [kind]) == [each for each, _ in problem]
    assert not problem or words in problem[0][1]


def test_a_server_that_hangs_up_or_does_not_exist_costs_only_its_page(tmp_path: Path) -> None:
    pages = fetched(["http://127.0.0.1:9/a", "http://[/b"], tmp_path)
    assert all(page.failure for page in pages.values())
    assert [] == list(tmp_path.iterdir())


def test_a_host_that_fails_repeatedly_is_left_alone(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return replied(500)

    pages = fetched([f"https://a.example/{number}" for number in range(9)], tmp_path, httpx.MockTransport(answer))
    assert fetching.MAX_FAILURES == len(asked)
    assert 9 - fetching.MAX_FAILURES == sum("its host failed" in page.failure for page in pages.values())


def test_a_public_page_cannot_lead_to_a_private_address(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"location": "http://169.254.169.254/latest/meta-data"})

    (page,) = fetched(["https://a.example/"], tmp_path, httpx.MockTransport(answer)).values()
    assert ("redirects to a private address" in page.failure, ["a.example"]) == (True, asked)


class Endless(httpx.AsyncByteStream):
    """A body that never ends: of so many bytes at once, or of none."""

    def __init__(self, size: int) -> None:
        self._size = size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0 if self._size else 60)
            yield b" " * self._size


@pytest.mark.parametrize(("size", "words"), [(1024 * 1024, "more than"), (0, "no whole reply within 0.2 seconds")])
def test_a_body_that_never_ends_is_given_up(tmp_path: Path, size: int, words: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Endless(size)))
    pace = fetching.Pace(delay=0.0, seconds=0.2 if not size else 60.0)
    pages = fetching.fetch(["https://a.example/"], Pages(tmp_path), "", lambda _: None, pace, transport)
    assert words in pages["https://a.example/"].failure


def test_requests_to_a_host_never_overlap(tmp_path: Path) -> None:
    open_now: list[int] = [0]
    most: list[int] = []

    class Counting(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            open_now[0] += 1
            await asyncio.sleep(0)
            most.append(open_now[0])
            open_now[0] -= 1
            return replied(200, str(request.url))

    fetched([f"https://a.example/{number}" for number in range(5)], tmp_path, Counting())
    assert [1] * 5 == most


RAW = "https://raw.githubusercontent.com/o/n/0123abc/a/b.py"
SHOWN = "https://github.com/o/n/tree/0123abc/a/b.py"
FILE, RENAMED = SHOWN.replace("tree", "blob"), SHOWN.replace("/o/", "/other/")
HELD = f"the words {LONG}"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({RAW: replied(200, HELD)}, []),
        ({SHOWN: replied(200, HELD)}, []),
        ({SHOWN: redirected(FILE), FILE: replied(200, HELD)}, []),
        ({SHOWN: redirected(RENAMED), RENAMED: replied(200, HELD)}, [Kind.MOVED]),
        ({}, [Kind.GONE]),
    ],
)
def test_a_file_of_a_repository_is_read_raw_and_a_folder_by_its_page(
    tmp_path: Path, answers: dict[str, httpx.Response], expected: list[Kind]
) -> None:
    source = Source(repo="o/n@0123abc:a/b.py#L7", quote="the words", read="2026-11-20")
    transport = httpx.MockTransport(lambda request: answers.get(str(request.url), replied(404)))
    reader = checking.Reader(Pages(tmp_path), NOW, fetcher(transport))
    report = checking.check([Citation("here", (source,))], reader, timedelta(days=90))
    assert expected == [problem.kind for problem in report.problems]


def fetcher(transport: httpx.AsyncBaseTransport) -> checking.Fetch:
    return lambda urls, pages, now, on_page: fetching.fetch(urls, pages, now, on_page, QUICK, transport)


def test_each_version_of_a_package_is_looked_up_in_its_registry(tmp_path: Path) -> None:
    source = Source(package="pypi/vllm@0.16.0,0.21.0:a.py", quote="in a file", read="2026-11-20")
    there = "https://pypi.org/pypi/vllm/0.21.0/json"
    transport = httpx.MockTransport(lambda request: replied(200 if str(request.url) == there else 404, "{}"))
    problem = found(source, fetched(list(source.addresses), tmp_path, transport))
    assert [Kind.GONE, Kind.UNCHECKED] == [kind for kind, _ in problem]
    assert "vllm/0.16.0" in problem[0][1]
    assert ("https://registry.npmjs.org/@s/n/1.2.3",) == Source(package="npm/@s/n@1.2.3").addresses


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Send reasoning_content back.", []),
        ("Send {field} back: filler so that the page holds", []),
        ("The `{field}` in the thinking mode must be passed back", [Kind.MESSAGE]),
        ("no {field}", []),
    ],
)
def test_a_claimed_error_message_that_no_page_holds_is_a_note(message: str, expected: list[Kind]) -> None:
    source = Source(url="https://a.example/", read="2026-11-20")
    page = Page(source.url, 200, source.url, readable(TEXT.encode(), "text/html"))
    assert expected == [kind for kind, _ in found(source, {source.url: page}, message)]
    assert not Kind.MESSAGE.is_finding


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source(inferred="s", read="2026-08-24"), []),
        (Source(inferred="s", read="2026-08-23"), [(Kind.STALE, "last read 2026-08-23")]),
        (Source(recorded="s", read="2026-08"), [(Kind.STALE, "last read 2026-08")]),
        (Source(searched="2026-08-01"), [(Kind.STALE, "last read 2026-08-01")]),
        (Source(recorded="s"), []),
    ],
)
def test_a_source_that_nobody_has_read_lately_is_found(source: Source, expected: list[tuple[Kind, str]]) -> None:
    assert expected == found(source, {})


def test_a_page_is_fetched_once_a_day_and_an_interrupted_check_resumes(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return replied(200, "text")

    cited = [Citation("here", (Source(url=f"https://a.example/{each}", read="2026-11-20"),)) for each in "ab"]

    def check(cited: list[Citation], now: datetime, **options: Any) -> checking.Report:
        reader = checking.Reader(Pages(tmp_path), now, fetcher(httpx.MockTransport(answer)), **options)
        return checking.check(cited, reader, timedelta(days=90))

    check(cited[:1], NOW)
    check(cited, NOW + timedelta(hours=23))
    assert ["/a", "/b"] == asked
    check(cited, NOW + timedelta(hours=23, minutes=1), refresh=True)
    check(cited[:1], NOW + timedelta(hours=48))
    assert ["/a", "/b", "/a", "/b", "/a"] == asked


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"url": 1}', '{"url": "https://a.example/", "text": 1}'])
def test_a_broken_file_of_kept_pages_counts_as_none(tmp_path: Path, text: str) -> None:
    pages = Pages(tmp_path)
    pages.put(Page("https://a.example/", 200))
    (path,) = tmp_path.iterdir()
    path.write_text(text)
    assert pages.get("https://a.example/") is None


PROFILE = """\
title: T
kind: vendor
models:
  m:
    lifecycle: {since: 2026-01, source: {url: '~/gone', read: 2026-11-20}}
claims:
  stream.done: {value: true, confidence: high, source: {url: '~/good', read: 2026-11-20, quote: QUOTE}}
  ids.format:
    value: a
    confidence: high
    source: {url: '~/good', read: 2020-01-01}
    disagrees: [{value: b, source: {url: '~/moved', read: 2026-11-20}}]
"""


@pytest.fixture
def run(site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run_(*options: str, quote: str = "never written") -> tuple[int, str, str]:
        path = tmp_path / "example.yaml"
        path.write_text(PROFILE.replace("~", site).replace("QUOTE", json.dumps(quote)))
        code = main(["sources", "check", "--provider", str(path), *options])
        shown = capsys.readouterr()
        return code, shown.out.replace(site, "~"), shown.err

    return run_


def test_the_report_names_the_problems_and_who_cites_the_source(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    code, text, errors = run("--cache", str(tmp_path / "pages"), "--delay", "0")
    assert (1, "") == (code, errors)
    shown = [line for line in text.splitlines() if not line.startswith("4 sources on ")]
    assert shown == [
        "gone ~/gone",
        "    HTTP 404 at ~/gone",
        "    cited by example: lifecycle of m",
        "moved ~/moved",
        "    now at ~/good",
        "    cited by example: ids.format, disagreement",
        "quote not found ~/good",
        "    never written",
        "    cited by example: stream.done",
        "not read lately ~/good",
        "    last read 2020-01-01",
        "    cited by example: ids.format",
    ]
    again = run("--offline", str(tmp_path / "pages"), "--max-age", "99999d", "--format", "json")
    counts = json.loads(again[1])["counts"]
    assert {"gone": 1, "moved": 1, "quote not found": 1, "not read lately": 0}.items() <= counts.items()
    assert {"sources": 4, "addresses": 3, "answered": 3}.items() <= counts.items()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--offline", "no-such-folder"], "no-such-folder is not a folder"),
        (["--offline", "."], "no page could be read"),
        (["--max-age", "90"], "90d"),
        (["--delay", "-1"], "seconds"),
        (["--provider", "deepsek"], "did you mean deepseek"),
    ],
)
def test_an_unusable_call_ends_with_2(
    run: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, errors = run(*options)
    assert (2, True) == (code, words in errors)


def test_everything_that_cites_sources_is_checked() -> None:
    cited = [each.where for name in profiles.names() for each in citations.of_profile(profiles.load(name))]
    cited += [each.where for each in citations.of_rules_and_scenarios()]
    assert "deepseek: reasoning.request-field" in cited
    assert any(each.startswith("rule ") for each in cited)
    assert any(each.startswith("scenario ") for each in cited)


def test_the_error_messages_of_a_claim_are_found_at_any_depth() -> None:
    refusal = {"status": 400, "message": "too long"}
    claim = Claim("ids.max-length", {"limit": 5, "refusal": refusal, "others": [refusal]}, source=(Source(url="u"),))
    (cited,) = citations.of_profile(Profile("made", claims={"ids.max-length": (claim,)}))
    assert ("made: ids.max-length", ("too long", "too long")) == (cited.where, cited.messages)


def test_the_workflow_runs_the_check_and_can_only_write_issues(capsys: pytest.CaptureFixture[str]) -> None:
    workflow: Any = read_yaml(ROOT / ".github" / "workflows" / "sources.yml").value
    scripts = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert any("conformance sources check --max-age 90d" in script for script in scripts)
    assert not any("${{" in script for script in scripts)
    assert {"contents": "read", "issues": "write"} == workflow["permissions"]
    assert 0 == main(["sources", "check", "--help"])
    assert "--max-age" in capsys.readouterr().out
