"""Files that claims cite are opened: they hold the quote, the value and the model, or the check says what they lack."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import InvalidDocument
from conformance.evidence.cited import citations
from conformance.evidence.cited.checking import FileReader, Reader, Report, check
from conformance.evidence.cited.generations import names_generation
from conformance.evidence.cited.newest import compare
from conformance.evidence.cited.pages import Page, Pages
from conformance.evidence.cited.texts import CitedText
from conformance.evidence.cited.wanted import messages, model_words, words
from conformance.evidence.fetching import Mirrors
from conformance.evidence.packages.candidates import CitedPackage, candidates
from conformance.profiles import Claim, Model, Profile, Source, load_profile
from conformance.reporting.renderers.candidates import render
from conformance.reporting.renderers.sources import render_moved
from tests.loops import every
from tests.registry import Registry, archives, registry, wheel

CODE = """\
class Alpha:
    '''The alpha models.'''
    # alpha-2 rejects an assistant message without reasoning_content with a 400
    field = "reasoning_content"


class Beta:
    efforts = ("low", "high")
    call = "call_0a1b"
"""
FAR = ("\n" * 70).join(["top_k", "min_p", "safe_mode", "seed", "image_size"])


@pytest.fixture
def served() -> Iterator[Registry]:
    with registry() as held:
        held.publish_wheel(
            "made-up", "1.0", wheel({"made_up/a.py": CODE, "made_up/b/a.py": "x", "made_up/far.py": FAR})
        )
        yield held


def profile(value: Any, source: Source, name: str = "reasoning.request-field", model: str = "") -> Profile:
    claims = {name: (Claim(name, value, source=(source,)),)}
    if model:
        return Profile("made", models=(Model(model, claims),), as_of="2026-11-20")
    return Profile("made", claims=claims, as_of="2026-11-20")


def checked(served: Registry, tmp_path: Path, made: Profile) -> Report:
    reader = Reader(Pages(tmp_path / "pages"), datetime(2026, 11, 28, tzinfo=UTC))
    with archives(served, tmp_path / "cache") as held:
        return check(list(citations.of_profile(made)), reader, timedelta(days=90), FileReader(held))


def package(path: str, quote: str = "", version: str = "1.0") -> Source:
    return Source(package=f"pypi/made-up@{version}:{path}", quote=quote, read="2026-11-20")


NO_WORDS = "the value has no words that a file can hold"
FOUND: list[tuple[Any, str, Source, str, list[tuple[str, str]]]] = [
    ("reasoning_content", "", package("made_up/a.py"), "reasoning.request-field", []),
    ("reasoning_content", "alpha-2*", package("made_up/a.py"), "reasoning.request-field", []),
    (["low", "high"], "", package("made_up/a.py#L8"), "thinking.efforts", []),
    ("always", "", package("made_up/a.py", "rejects an assistant message without"), "thinking.mode", []),
    ("call_[0-9a-f]{4}", "", package("made_up/a.py"), "ids.format", []),
    ("call_[0-9a-f]{5}", "", package("made_up/a.py"), "ids.format", [("value not found", "no call_")]),
    ("[a-z]{4}", "", package("made_up/a.py"), "ids.format", [("value not found", NO_WORDS)]),
    (["top_k", "min_p", "safe_mode", "seed", "image_size"], "", package("made_up/far.py"), "request.extra-fields", []),
    (
        ["top_k", "min_p", "safe_mode", "seed", "image_kind"],
        "",
        package("made_up/far.py"),
        "request.extra-fields",
        [("value not found", "no top_k, min_p, safe_mode, seed, image_kind")],
    ),
    (
        ["top_k", "min_p", "safe_mode", "seed"],
        "",
        package("made_up/far.py"),
        "request.extra-fields",
        [("value not found", "no top_k, min_p, safe_mode, seed")],
    ),
    (
        "thinking_blocks",
        "",
        package("made_up/a.py"),
        "reasoning.request-field",
        [("value not found", "no thinking_blocks")],
    ),
    (
        "always",
        "",
        package("made_up/a.py"),
        "thinking.mode",
        [("value not found", NO_WORDS)],
    ),
    (["low", "max"], "", package("made_up/a.py#L8"), "thinking.efforts", [("value not found", "no low, max")]),
    (
        "always",
        "",
        package("made_up/a.py", "never said"),
        "thinking.mode",
        [("quote not found", "never said")],
    ),
    (
        "always",
        "gamma*",
        package("made_up/a.py", "The alpha models"),
        "thinking.mode",
        [("model not found", "no cited file names gamma")],
    ),
    (
        "always",
        "",
        package("made_up/a.py#L8", "The alpha models"),
        "thinking.mode",
        [("moved", "the quote stands at line 2")],
    ),
    ("always", "", package("up/a.py", "alpha"), "thinking.mode", [("gone", "made-up 1.0 has no file 'up/a.py'")]),
    ("always", "", package("a.py", "alpha"), "thinking.mode", [("gone", "made-up 1.0 has no file 'a.py'")]),
    (
        "always",
        "",
        package("b/a.py", "x"),
        "thinking.mode",
        [("moved", "the file is made_up/b/a.py")],
    ),
    (
        "always",
        "",
        package("made_up/a.py#L900", "alpha"),
        "thinking.mode",
        [("moved", "the file has 9 lines")],
    ),
    (
        "always",
        "",
        package("made_up/a.py", "x", "2.0"),
        "thinking.mode",
        [("gone", "pypi has no release 2.0 of made-up")],
    ),
    ("unknown", "", package("made_up/a.py"), "thinking.mode", []),
]


@every(("value", "model", "source", "name", "expected"), FOUND)
def test_a_file_shows_its_claim_or_the_check_says_what_it_lacks(
    value: Any, model: str, source: Source, name: str, expected: list[tuple[str, str]], served: Registry, tmp_path: Path
) -> None:
    report = checked(served, tmp_path, profile(value, source, name, model))
    assert expected == [(problem.kind.value, problem.detail) for problem in report.problems]


def test_a_quote_at_other_lines_is_a_finding_with_the_line(served: Registry, tmp_path: Path) -> None:
    served.publish_wheel("long", "1.0", wheel({"a.py": "\n" * 40 + "the words\n"}))
    source = Source(package="pypi/long@1.0:a.py#L3-5", quote="the words", read="2026-11-20")
    (problem,) = checked(served, tmp_path, profile("always", source, "thinking.mode")).problems
    assert ("moved", "the quote stands at line 41") == (problem.kind.value, problem.detail)


def test_a_registry_that_does_not_answer_says_nothing_of_a_file(tmp_path: Path) -> None:
    unanswered = Registry()
    unanswered.url = "http://127.0.0.1:9"
    (problem,) = checked(unanswered, tmp_path, profile("always", package("a.py", "x"), "thinking.mode")).problems
    assert "not reachable" == problem.kind.value
    assert not problem.kind.is_finding


def test_a_host_that_does_not_answer_is_not_reachable_and_404_is_gone(tmp_path: Path) -> None:
    source = Source(repo="owner/name@0123abc:a.py", quote="x", read="2026-11-20")
    url = source.addresses[0]
    for page, kind in (
        (Page(url, failure="Name or service not known"), "not reachable"),
        (Page(url, 404, url), "gone"),
    ):
        reader = Reader(
            Pages(tmp_path), datetime(2026, 11, 28, tzinfo=UTC), lambda *_, page=page: {url: page}, refresh=True
        )
        made = profile("always", source, "thinking.mode")
        found = check(list(citations.of_profile(made)), reader, timedelta(days=90)).problems
        assert [kind] == [problem.kind.value for problem in found]


def _mirror(folder: Path) -> str:
    repository = folder / "owner" / "name"
    repository.mkdir(parents=True)
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(repository)]
    (repository / "a.py").write_text(CODE)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*run, *command], check=True)
    return subprocess.run([*run, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def test_a_file_of_a_repository_is_read_at_its_commit_in_a_mirror(tmp_path: Path) -> None:
    commit = _mirror(tmp_path / "mirrors")
    expected = {
        f"owner/name@{commit[:12]}:a.py": [],
        f"owner/name@{commit[:12]}:b.py": ["gone"],
        f"owner/name@{'0' * 12}:a.py": ["not reachable"],
        f"owner/other@{commit[:12]}:a.py": ["not reachable"],
    }
    reader = Reader(Pages(tmp_path / "pages"), datetime(2026, 11, 28, tzinfo=UTC))
    for repo, kinds in expected.items():
        made = profile("reasoning_content", Source(repo=repo, read="2026-11-20"))
        files = FileReader(mirrors=Mirrors(tmp_path / "mirrors"))
        report = check(list(citations.of_profile(made)), reader, timedelta(days=90), files)
        assert kinds == [problem.kind.value for problem in report.problems], repo


def test_newest_reports_what_moved(served: Registry, tmp_path: Path) -> None:
    moved = CODE.replace("# alpha-2 rejects an assistant message without reasoning_content with a 400", "# alpha-2")
    served.publish_wheel("made-up", "1.1", wheel({"made_up/a.py": "\n\n" + moved}))
    cited = [
        citation
        for source in (
            package("made_up/a.py", "rejects an assistant message"),
            package("made_up/a.py", "The alpha models"),
            package("made_up/b/a.py", "x"),
        )
        for citation in citations.of_profile(profile("always", source, "thinking.mode"))
    ]
    with archives(served, tmp_path) as held:
        found = compare(cited, held)
    assert [
        ("line gone", "rejects an assistant message"),
        ("file gone", "made-up 1.1 has no file 'made_up/b/a.py'"),
        ("line moved", "line 2 is now line 4"),
    ] == [(each.move.value, each.detail) for each in found]
    printed = "".join(render_moved(found, lambda _colour, text: text))
    assert "made-up 1.1: line gone\n    pypi/made-up@1.0:made_up/a.py\n    rejects an assistant message\n" in printed
    assert printed.endswith("3 cited places in packages: 1 line gone, 1 file gone, 1 line moved\n")


def test_candidates_are_the_telling_lines_that_changed(served: Registry, tmp_path: Path) -> None:
    served.publish_wheel(
        "made-up",
        "1.1",
        wheel({"made_up/a.py": CODE + 'refuses = "thinking"\nname = "x"\n', "tests/made_up/a.py": "tool"}),
    )
    with archives(served, tmp_path) as held:
        found = list(candidates([CitedPackage("pypi", "made-up", "1.0", ("made_up/a.py",))], held))
    page = "".join(render(found))
    assert '## made-up 1.0 → 1.1\n\n- `made_up/a.py`, 1 line\n    - L10 new: `refuses = "thinking"`\n' in page


@every(
    ("claim", "value", "expected"),
    [
        ("thinking.mode", "always", ()),
        ("reasoning.request-field", ["reasoning_content", "none"], ("reasoning_content",)),
        ("thinking.off", {"thinking": {"type": "disabled"}}, ("thinking", "type", "disabled")),
        ("thinking.switches", [{"at": "/reasoning_effort", "equals": "none", "thinks": False}], ("reasoning_effort",)),
        ("ids.format", "functions\\.[A-Za-z0-9_.-]+:\\d+", ("functions",)),
        ("request.unsupported-fields", [{"field": "logit_bias", "refusal": {"status": 400}}], ("logit_bias", "400")),
    ],
)
def test_the_words_of_a_value_are_those_of_the_wire(claim: str, value: Any, expected: tuple[str, ...]) -> None:
    assert expected == words(claim, value)


def test_messages_and_models_are_looked_for_without_what_varies() -> None:
    refusal = {"status": 400, "message": "The field {field} is not supported with {value} here"}
    assert (" is not supported with ",) == messages(refusal)
    assert ("moonshotai/kimi-k2.6*", "kimi-k2.6*") == model_words("moonshotai/kimi-k2.6*")
    assert ("kimi-k2.6",) == model_words("kimi-k2.6")
    assert () == model_words("*")


def test_words_stand_close_together_or_they_are_not_found() -> None:
    far = CitedText.of("alpha\n" + "\n" * 100 + "reasoning_effort\n" + "alpha again, reasoningEffort\n")
    assert 102 == far.near(["reasoning_effort"])
    assert 102 == far.near(["alpha", "reasoning-effort"])
    assert 0 == far.near(["alpha", "low"])
    names = CitedText.of("'claude-sonnet-5-5', 'muse-spark-1.2'")
    assert [1, 1, 0] == [names.near([each]) for each in ("claude-sonnet-5.5", "muse*", "muse")]
    prose = CitedText.of("DeepSeek R1 always reasons, gpt\u2011oss and Kimi K2 Thinking do")
    assert [1, 1, 1, 0] == [
        prose.near([each]) for each in ("deepseek-r1", "gpt-oss", "kimi-k2-thinking", "deepseek-r2")
    ]


@every(
    ("model", "text", "expected"),
    [
        ("gemini-2.0*", "Gemini 2.5 and older reject", True),
        ("gemini-3.7-flash*", "by gemini-3.5-flash-lite, 3.7-flash and 3.8-flash", True),
        ("gemini-3.8-flash*", "by gemini-3.5-flash-lite, 3.7-flash and 3.8-flash", True),
        ("gemini-4*", "Gemini 3+ accepts", True),
        ("gemini-2.5", "Gemini 3+ accepts", False),
        ("openai.gpt-5.6*", "the GPT-5.x and GPT-6.x families", True),
        ("claude-opus-4-6*", "(e.g. Opus 4.5, 4.6)", True),
        ("claude-opus-5", "(e.g. Opus 4.5, 4.6)", False),
        ("gpt-6*", "GPT-5.6 and later", True),
        ("gpt-5", "GPT-5.6 and later", False),
        ("o4-mini*", "The o-series", False),
        ("kimi", "Kimi K2 and later", False),
    ],
)
def test_a_file_names_a_model_by_its_generation(model: str, text: str, *, expected: bool) -> None:
    assert expected is names_generation(model, text)


def test_each_file_of_a_claim_has_to_show_it_and_an_inference_may_name_its_model(
    served: Registry, tmp_path: Path
) -> None:
    shows, idle = package("made_up/a.py", "rejects an assistant message without"), package("made_up/b/a.py")
    claim = Claim("thinking.mode", "always", source=(shows, idle))
    report = checked(served, tmp_path, Profile("made", claims={"thinking.mode": (claim,)}, as_of="2026-11-20"))
    assert [("value not found", idle.text)] == [(each.kind.value, each.text) for each in report.problems]
    inferred = Source(inferred="gamma-1 is an alpha model")
    named = Model("gamma-1*", {"thinking.mode": (Claim("thinking.mode", "always", source=(shows, inferred)),)})
    assert () == checked(served, tmp_path, Profile("made", models=(named,), as_of="2026-11-20")).problems


def test_a_package_is_cited_with_a_path(tmp_path: Path) -> None:
    path = tmp_path / "made.yaml"
    text = (
        "title: Made\nkind: gateway\nbase_url: http://localhost\nkey: MADE_KEY\nhosts: []\nmodel: made-1\n"
        "claims:\n  thinking.mode:\n    value: always\n    confidence: low\n"
        "    source: {package: pypi/made-up@1.0%s, read: 2026-11-20}\n"
    )
    path.write_text(text % ":made_up/a.py")
    assert "pypi/made-up@1.0:made_up/a.py" == load_profile(str(path)).claims["thinking.mode"][0].source[0].package
    path.write_text(text % "")
    with pytest.raises(InvalidDocument, match=r"pypi/made-up@1\.0"):
        load_profile(str(path))
