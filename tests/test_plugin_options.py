"""The plugin's options beside those of others: real pytest runs in folders that have a conftest.py of their own."""

from pathlib import Path

import pytest

from conformance.pytest_plugin import SHORT
from conformance.suite.options import BASE_URL, KEY
from conformance.suite.plugin_options import OPTIONS
from tests.forks import WITHOUT

pytestmark = pytest.mark.slow

MATRIX = "Core facts"
CASE = "plain-answer.plain"
PLAN = "deepseek, deepseek-flash: 13 requests"


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEEPSEEK_API_KEY", KEY, BASE_URL, "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)


def run(pytester: pytest.Pytester, *arguments: str, alone: bool = True) -> tuple[int, str]:
    """Run pytest in a process of its own, or in this one where what is imported does not matter."""
    chosen = ["-p", "no:cacheprovider", *WITHOUT, *arguments]
    result = pytester.runpytest_subprocess(*chosen, timeout=120) if alone else pytester.runpytest_inprocess(*chosen)
    text = result.stdout.str() + result.stderr.str()
    assert "Traceback (most" not in text
    assert "INTERNALERROR" not in text
    return int(result.ret), text


def declaring(*options: str, attributes: str = "default='none'") -> str:
    """Return the source of a plugin or conftest.py that declares options."""
    lines = [f"    parser.addoption({option!r}, {attributes})" for option in options]
    return "\n".join(["def pytest_addoption(parser):", *lines])


def foreign(pytester: pytest.Pytester, name: str, expected: str, conftest: str = "") -> None:
    """Make a repository with an option of its own and a test that expects a value of it."""
    pytester.makeconftest(conftest or declaring(f"--{name}"))
    pytester.makepyfile(f"""
        def test_theirs(request):
            assert {expected!r} == request.config.getoption("--{name}")
    """)


@pytest.mark.parametrize("name", SHORT)
def test_an_option_of_a_conftest_keeps_its_name_and_its_value(pytester: pytest.Pytester, name: str) -> None:
    foreign(pytester, name, "theirs")
    # pytest-base-url, which this environment may have, knows --base-url, too.
    code, text = run(pytester, "-p", "no:base_url", f"--{name}=theirs", alone=False)
    assert (0, True, False) == (code, "1 passed" in text, MATRIX in text), text


def test_a_conftest_may_declare_all_of_the_names_at_once(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(declaring(*[f"--{name}" for name in SHORT]))
    pytester.makepyfile(f"""
        import sys

        def test_theirs(request):
            assert [] == [name for name in {[*SHORT]!r} if request.config.getoption("--" + name) != name]
            assert "conformance.suite.run" not in sys.modules
    """)
    code, text = run(pytester, "-p", "no:base_url", *[f"--{name}={name}" for name in SHORT])
    assert (0, True) == (code, "1 passed" in text), text


def test_destinations_of_a_conftest_stay_its_own(pytester: pytest.Pytester) -> None:
    names = [name.replace("-", "_") for name in SHORT]
    lines = [f"    parser.addoption('--their-{name}', dest='{name}', default='theirs')" for name in names]
    pytester.makeconftest("\n".join(["def pytest_addoption(parser):", *lines]))
    pytester.makepyfile(f"""
        def test_theirs(request):
            assert {{"theirs"}} == {{getattr(request.config.option, name) for name in {names!r}}}
    """)
    code, text = run(pytester, "-p", "no:base_url")
    assert (0, True) == (code, "1 passed" in text), text


@pytest.mark.parametrize("when", ["before", "after"])
def test_options_of_another_plugin_stay_its_own(pytester: pytest.Pytester, when: str) -> None:
    """A plugin of `-p` is loaded before those that are installed, one of a conftest.py after them."""
    pytester.makepyfile(theirs=declaring(*[f"--{name}" for name in SHORT]))
    foreign(pytester, "provider", "staging", "pytest_plugins = ['theirs']" if when == "after" else "# empty")
    early = ["-p", "theirs"] if when == "before" else []
    code, text = run(pytester, "-p", "no:base_url", *early, "--provider", "staging", "--live=yes")
    assert (0, True, False) == (code, "1 passed" in text, MATRIX in text), text


def test_a_foreign_provider_option_starts_no_run_and_the_full_name_does(pytester: pytest.Pytester) -> None:
    foreign(pytester, "provider", "staging")
    code, text = run(pytester, "--provider=staging")
    assert (0, False) == (code, MATRIX in text), text
    code, text = run(pytester, "--provider=staging", "--conformance-provider=deepseek", "-k", CASE)
    assert (0, True) == (code, f"{MATRIX}: DeepSeek" in text), text
    assert "--provider is an option of this repository or of another plugin; use --conformance-provider" in text


def test_a_foreign_option_in_our_run_is_named_and_not_taken(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(declaring("--live", attributes="action='store_true'"))
    code, text = run(pytester, "--provider=deepseek", "--live", "-k", CASE)
    assert (0, True) == (code, "evidence: simulated" in text), text
    assert "--live is an option of this repository or of another plugin; use --conformance-live" in text
    code, text = run(pytester, "--provider=deepseek", "--conformance-live", "-k", CASE, alone=False)
    assert (pytest.ExitCode.USAGE_ERROR, True) == (code, "DEEPSEEK_API_KEY" in text), text


def test_a_conftest_that_is_loaded_late_may_declare_what_our_run_uses(pytester: pytest.Pytester) -> None:
    folder = pytester.mkdir("unit") / "deep"
    folder.mkdir()
    Path(folder, "conftest.py").write_text(declaring("--plan"))
    Path(folder, "test_it.py").write_text("def test_it(): pass")
    code, text = run(pytester, "--provider=deepseek", "--plan", "unit", alone=False)
    assert (0, True, True) == (code, "collected 1 item" in text, "deepseek-flash: 0 requests" in text), text


def test_a_repository_runs_without_the_plugin(pytester: pytest.Pytester) -> None:
    foreign(pytester, "live", "theirs")
    code, text = run(pytester, "-p", "no:conformance", "--live=theirs", alone=False)
    assert (0, True) == (code, "1 passed" in text), text
    code, text = run(pytester, "-p", "no:conformance", "--provider=deepseek", alone=False)
    assert (pytest.ExitCode.USAGE_ERROR, True) == (code, "unrecognized arguments: --provider=deepseek" in text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--provider=deepseek", "--plan", "-k", CASE, "-o", "python_files=check_*.py"],
        ["--provider", "deepseek", "-k", CASE, "--cassettes", "no such", "--plan"],
        ["--conformance-provider", "deepseek", "-k", CASE, "--conformance-plan"],
        ["-k", CASE, "--pyargs", "conformance.suite", "--provider=deepseek", "--plan", "--results=no such"],
        ["@arguments.txt", "--plan"],
    ],
    ids=["one word", "two words", "full names", "pyargs", "file"],
)
def test_a_run_starts_by_its_short_and_by_its_full_names(pytester: pytest.Pytester, arguments: list[str]) -> None:
    Path(pytester.path, "arguments.txt").write_text(f"--provider=deepseek\n-k\n{CASE}\n")
    code, text = run(pytester, *arguments, alone=False)
    assert (0, True) == (code, PLAN in text), text


def test_a_run_starts_by_addopts(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--provider deepseek")
    assert PLAN in run(pytester, "-k", CASE, "--plan", alone=False)[1]
    monkeypatch.delenv("PYTEST_ADDOPTS")
    Path(pytester.path, "pytest.ini").write_text(f"[pytest]\naddopts = --provider=deepseek -k {CASE}\n")
    assert PLAN in run(pytester, "--plan", alone=False)[1]


@pytest.mark.parametrize("blocked", [["-p", "no:base_url"], []], ids=["without", "with"])
def test_the_base_url_is_shared_with_the_plugin_of_that_name(pytester: pytest.Pytester, blocked: list[str]) -> None:
    chosen = [*blocked, "--provider=deepseek", "-k", CASE]
    code, text = run(pytester, *chosen, "--live", "--base-url", "http://127.0.0.1:9/v1")
    assert (2, True, False) == (code, "http://127.0.0.1:9/v1" in text, "--base-url is an option" in text), text


def test_the_default_of_pytest_base_url_is_not_asked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the address of the application that a repository tests."""
    monkeypatch.setenv("PYTEST_BASE_URL", "http://127.0.0.1:9")
    code, text = run(pytester, "--provider=deepseek", "-k", CASE, "--results", "out")
    assert (0, True) == (code, f"{MATRIX}: DeepSeek" in text), text
    assert Path(pytester.path, "out", "deepseek.json").exists()


def test_the_help_explains_the_options(pytester: pytest.Pytester) -> None:
    text = " ".join(run(pytester, "--help", alone=False)[1].split())
    assert [] == [name for name in OPTIONS if f"--conformance-{name}" not in text]
    assert "Run the conformance suites against this provider" in text
    assert "as in --provider=deepseek" in text
