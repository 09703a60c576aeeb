"""Suites for authors of adapters, as their repositories run them: real pytest runs, real HTTP, real SDKs."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from conformance import artifacts, environments
from tests.test_adapter_fixture import AGENT
from tests.test_docs_commands import DOCS, blocks
from tests.test_plugin import run, shown

pytestmark = pytest.mark.slow

SUITE = """
    from agent import agent
    from conformance.testing import AdapterSuite

    class Base(AdapterSuite):
        __test__ = False
        provider = "deepseek"
        scenario = "interleaved-thinking"
        variants = ("plain",)
        loses = False

        def connect(self, simulation):
            return agent(simulation, loses=self.loses)

        def ask(self, client, prompt):
            return next(client)
"""
LOSES = "TestAgent/deepseek/interleaved-thinking.plain/reasoning/present-on-tool-turns"


def entry(match: str, **more: object) -> str:
    given = {"match": match, "reason": "known", "link": "https://example.org/1", "until": "2027-06-30", **more}
    return json.dumps([given])


@pytest.fixture
def tested(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Return a function that runs a suite with the lines of its class, its baseline, and pytest's arguments."""

    def test(lines: str, baseline: str = "", *arguments: str, alone: bool = False) -> pytest.RunResult:
        body = "".join([f"        {line}\n" for line in lines.splitlines()])
        pytester.makepyfile(agent=AGENT, test_suite=f"{SUITE}\n    class TestAgent(Base):\n{body}        pass\n")
        if baseline:
            (pytester.path / "expected.yaml").write_text(baseline)
        return run(pytester, *arguments, alone=alone)

    return test


def test_every_scenario_is_a_test_with_a_readable_id(tested: Callable[..., pytest.RunResult]) -> None:
    result = tested("scenario = '*'\nvariants = ('plain', 'stream')", "", "--collect-only", "-q")
    names = re.findall(r"test_conforms\[(.*)\]", shown(result))
    assert 40 < len(names)
    assert {"deepseek-agent-session.plain", "deepseek-agent-session.stream"} <= {*names}


FILES = {
    "known.yaml": entry(LOSES),
    "empty.yaml": "[]",
    "misspelt.yaml": entry(LOSES.replace("plain/", "plane/")),
    "long.yaml": entry(LOSES, until="2029-01-01"),
}
NAMED = "name = 'TestAgent'"

OUTCOMES: Mapping[str, tuple[str, str, str]] = {
    "Passes": ("pass", "PASSED", ""),
    "Loses": ("loses = True", "FAILED", "FAILS reasoning/present-on-tool-turns"),
    "Known": (f"loses = True; {NAMED}; baseline = 'known.yaml'", "XFAIL", "known"),
    "Stale": (f"{NAMED}; baseline = 'known.yaml'", "FAILED", f"in known.yaml, remove them: {LOSES}"),
    "New": (f"loses = True; {NAMED}; baseline = 'empty.yaml'", "FAILED", f"to expect it, add `- match: {LOSES}`"),
    "NoBaseline": ("baseline = 'none.yaml'", "ERROR", "baseline none.yaml: no such file beside the test"),
    "Misspelt": (f"{NAMED}; baseline = 'misspelt.yaml'", "ERROR", "fits no case and rule of TestMisspelt"),
    "Long": (f"{NAMED}; baseline = 'long.yaml'", "ERROR", "expected a day within a year"),
    "Provider": ("provider = 'deepsek'", "ERROR", "did you mean deepseek"),
    "Scenario": ("scenario = 'interleaved'", "ERROR", "unknown scenario"),
    "Variant": ("variants = ('sse',)", "ERROR", "unknown variant"),
    "Wire": ("protocol = 'gemini'", "ERROR", "has no claims about 'gemini'"),
    "RuledOut": ("scenario = 'two-tool-turns'", "SKIPPED", "deepseek claims reasoning.response-field"),
    "NoProvider": ("provider = ()", "ERROR", "say which provider is simulated"),
    "Raises": ("def ask(self, _client, _prompt): raise OSError('-')", "FAILED", "the adapter raised OSError: -"),
    "Skips": ("def ask(self, _client, _prompt): __import__('pytest').skip('not here')", "SKIPPED", "not here"),
    "Async": ("async def ask(self, client, prompt): return next(client)", "PASSED", ""),
    "NoClient": ("def connect(self, simulation): raise OSError('no client')", "FAILED", "OSError: no client"),
    "Strict": ("strict = True; loses = True", "FAILED", "HTTP Error 400"),
    "Command": (f"command = {[sys.executable, 'none.py']}", "FAILED", "the driver ended with exit code 2"),
}
"""Suites by name: what their class says, how their only test ends, and with which words."""


def test_outcomes_of_suites(pytester: pytest.Pytester) -> None:
    classes = [f"    class Test{name}(Base):\n        {lines}\n" for name, (lines, _, _) in OUTCOMES.items()]
    pytester.makepyfile(agent=AGENT, test_suite="\n".join([SUITE, *classes]))
    for name, text in FILES.items():
        (pytester.path / name).write_text(text)
    printed = shown(run(pytester, "-rA", "--continue-on-collection-errors"))
    every = " ".join(printed.split())
    for name, (_, outcome, words) in OUTCOMES.items():
        assert re.search(rf"{outcome} \[?.*Test{name}\b|{outcome} .*{re.escape(words)}", printed), name
        assert words in every, name
    passed, failed = (len([each for _, each, _ in OUTCOMES.values() if each == kind]) for kind in ("PASSED", "FAILED"))
    assert f"{failed} failed, {passed} passed" in every


def test_a_suite_without_ask_or_command_is_incomplete(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "from conformance.testing import AdapterSuite\nclass TestIt(AdapterSuite):\n    provider = 'deepseek'"
    )
    result = run(pytester)
    result.assert_outcomes(errors=1)
    assert "TestIt: define `ask(self, client, prompt)`, or `command` for a driver" in shown(result)


def test_a_suite_runs_in_several_processes_and_with_warnings_as_errors(tested: Callable[..., pytest.RunResult]) -> None:
    lines = "scenario = ('interleaved-thinking', 'one-tool-call', 'parallel-tool-calls')"
    tested(lines, "", "-n2", "-W", "error", alone=True).assert_outcomes(passed=3)


MARKED = """
    import pytest
    from agent import agent

    @pytest.mark.conformance(provider=["deepseek", "groq"], scenario="one-tool-call", variant="plain")
    def test_asserts(simulation):
        simulation.assert_conformant(list(agent(simulation)) if simulation.session.profile.name == "deepseek" else None)

    @pytest.mark.conformance(provider="deepseek", scenario="interleaved-thinking", variant="plain")
    def test_forgets(simulation):
        list(agent(simulation, loses=True))

    @pytest.mark.conformance(provider="deepseek", scenario="interleaved-thinking", variant="plain", check=False)
    def test_opts_out(simulation):
        list(agent(simulation, loses=True))

    def test_forgets_with_the_other_fixture(simulator):
        list(agent(simulator("interleaved-thinking", provider="deepseek", stream=False), loses=True))

    def test_opts_out_with_the_other_fixture(simulator):
        list(agent(simulator("interleaved-thinking", provider="deepseek", stream=False, check=False), loses=True))

    def test_looks_itself(simulator):
        simulation = simulator("interleaved-thinking", provider="deepseek", stream=False)
        list(agent(simulation, loses=True))
        assert [each for each in simulation.verdict() if each.findings]

    def test_does_not_ask(simulator):
        simulator("interleaved-thinking", provider="deepseek")

    def test_asks_for_the_other_kind(simulator):
        list(agent(simulator("interleaved-thinking", provider="deepseek", stream=True), loses=True))

    def test_another_wire(simulator):
        simulation = simulator("one-tool-call", provider="deepseek", protocol="messages")
        assert ["description", "input_schema", "name"] == sorted(simulation.tool_definitions[0])
        assert "messages" == simulation.protocol
"""


def test_a_test_that_forgets_to_assert_fails_if_its_client_breaks_a_must(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(agent=AGENT, test_marked=MARKED)
    result = run(pytester, "-rA", "--strict-markers")
    bad = {line.split("::")[1].split()[0] for line in shown(result).splitlines() if line.startswith("FAILED")}
    broken = "test_forgets[deepseek-interleaved-thinking.plain]"
    others = {"test_forgets_with_the_other_fixture", "test_asks_for_the_other_kind"}
    assert {broken, "test_asserts[groq-one-tool-call.plain]", *others} == bad
    assert "did not call assert_conformant(), and what the client sent breaks a MUST" in shown(result)


def test_the_marker_is_checked_where_it_is_used(pytester: pytest.Pytester) -> None:
    for mark, words in (
        ("provider='deepsek'", "did you mean deepseek"),
        ("provider='deepseek', scenarios='x'", "did you mean scenario"),
        ("provider='deepseek', scenario='content-absent', variant='nope'", "unknown variant"),
        ("'deepseek'", "needs @pytest.mark.conformance(provider=…)"),
    ):
        text = f"import pytest\n@pytest.mark.conformance({mark})\ndef test_it(simulation): pass"
        pytester.makepyfile(test_mark=text)
        result = run(pytester)
        assert not result.parseoutcomes().get("passed"), mark
        assert words in shown(result), mark


def test_a_repository_may_have_a_fixture_of_that_name(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n@pytest.fixture\ndef simulation(): return 7\ndef test_it(simulation): assert 7 == simulation"
    )
    run(pytester).assert_outcomes(passed=1)


def documented(folder: Path) -> None:
    for block in blocks(DOCS / "adapter-suite.md"):
        if re.fullmatch(r"[\w-]+\.\w+", block.title):
            (folder / block.title).write_text(block.text)


def outcomes(folder: Path, test: str, variables: Mapping[str, str]) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300, check=False
    )
    return done.stdout


def installed(name: str, create: Callable[[Path], None], recipe: object) -> Path:
    folder = environments.cached_path(artifacts.cache_root("documented"), name, recipe)
    return environments.ensure(folder, create, lambda _line: None)


# The suites of the page for openai and anthropic are run where the pages are followed.
@pytest.mark.exhaustive
def test_the_documented_suite_for_langchain_does_what_the_page_says(tmp_path: Path) -> None:
    packages = ["langchain-openai==1.7.3", "langchain-core==1.7.2"]
    folder = installed(
        "langchain", lambda to: environments.create_venv(to, [packages], (), lambda _line: None), packages
    )
    documented(tmp_path)
    (site,) = folder.glob("lib/python*/site-packages")
    assert "2 xfailed" in outcomes(tmp_path, "test_langchain.py", {"PYTHONPATH": str(site)})


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("npx") is None, reason="npx is not installed: the TypeScript suite is NOT tested")
def test_the_documented_suite_in_typescript_does_what_the_page_says(tmp_path: Path) -> None:
    packages = ["openai@6.9.0", "tsx@4.20.6"]
    folder = installed("typescript", lambda to: environments.npm_install(to, packages, lambda _line: None), packages)
    documented(tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    assert "2 passed" in outcomes(tmp_path, "test_typescript.py", {})
