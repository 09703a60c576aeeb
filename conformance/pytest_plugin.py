"""The pytest plugin: `pytest --provider=P` runs the conformance suites against a provider and prints its matrix.

`conformance.pytest_clients` does the opposite: it simulates a provider for a client under test. Every pytest run of an
environment loads both, so they import nothing but pytest until --provider is given or a fixture is used.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from conformance.suite.plugin_options import OPTIONS
from conformance.suite.pytest_config import COLLECTED, DESELECTED, FOREIGN, LEFT, RUN, SAFE, STARTED, case_of

pytest_plugins: Final = ("conformance.pytest_clients",)

SHORT: Final = tuple(name for name in OPTIONS if name != "strict")
"""The options that also have a short name; --strict is pytest's own."""

_FULL: Final = {f"--{name}": f"--conformance-{name}" for name in SHORT}
_ENCODING: Final = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


class _Finder:
    """Finds the modules of this package before pytest does.

    pytest rewrites the assertions of every module of a plugin's package, which takes longer than importing it, and here
    there are none to rewrite.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path, target) if name.startswith("conformance.") else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options under full names, which no other plugin or conftest.py uses."""
    group = parser.getgroup(
        "conformance",
        "conformance of chat completions providers (most options also work without `conformance-`, "
        "as in --provider=deepseek --live, unless a conftest.py or plugin has an option of that name)",
    )
    for name, attributes in OPTIONS.items():
        group.addoption(f"--conformance-{name}", dest=_destination(name), **attributes)


def _destination(name: str) -> str:
    return f"conformance_{name.replace('-', '_')}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[None]:
    """Replace short option names by full ones, as soon as all plugins and conftest.py files have added their options.

    A short name that one of them has added is theirs. The names are replaced, not added: a conftest.py that is loaded
    later can still add them.
    """
    result = yield
    if any(argument.startswith(("--provider", "--conformance-provider", "@")) for argument in args):
        _replace_short_names(early_config, parser, args)
    return result


def _replace_short_names(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    expanded = [*_expanded(args)]
    end = expanded.index("--") if "--" in expanded else len(expanded)
    used = {argument.partition("=")[0] for argument in expanded[:end]}
    free = {name for name in used & _FULL.keys() if _is_free(parser, name)}
    if "--provider" not in free and _FULL["--provider"] not in used:
        return
    foreign = used & _FULL.keys() - free
    args[:] = [_full_name(each, free) for each in expanded[:end]] + expanded[end:]
    if "--base-url" in foreign and config.pluginmanager.hasplugin("base_url"):
        # pytest-base-url means the same by it: the server under test.
        foreign.remove("--base-url")
        args.insert(0, f"{_FULL['--base-url']}={parser.parse_known_args(expanded).base_url}")
    config.stash[FOREIGN] = tuple(sorted(foreign))


def _expanded(args: Sequence[str]) -> Iterator[str]:
    """Yield the arguments with those of each `@file` in its place, one a line, as argparse reads them."""
    for argument in args:
        if argument.startswith("@") and Path(argument[1:]).is_file():
            yield from _expanded(Path(argument[1:]).read_text(*_ENCODING).splitlines())
        else:
            yield argument


def _is_free(parser: pytest.Parser, name: str) -> bool:
    """Return True if no plugin or conftest.py has added an option of this name."""
    try:
        return name in parser.parse_known_and_unknown_args([name])[1]
    except pytest.UsageError:  # It is known, and requires a value.
        return False


def _full_name(argument: str, free: set[str]) -> str:
    name, separator, value = argument.partition("=")
    return f"{_FULL[name]}{separator}{value}" if name in free else argument


def _option(config: pytest.Config, name: str) -> Any:
    return config.getoption(_destination(name))


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the run; without a path on the command line, the suites of this package are collected."""
    provider = _option(config, "provider")
    if not provider:
        return
    _check_options(config)
    sys.meta_path.insert(0, _Finder)
    config.add_cleanup(lambda: sys.meta_path.remove(_Finder))
    if _option(config, "evidence"):
        _check_recordings(config, provider)
        return
    # Imported here because a run without --provider must not pay for it.
    from conformance.errors import ConformanceError
    from conformance.pytest_output import keep_http_logs_quiet, safe
    from conformance.suite.options import Options, headers_of, with_environment
    from conformance.suite.run import Run

    try:
        headers = headers_of(_option(config, "header"))
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from None
    options = Options(
        provider=provider,
        protocol=_option(config, "protocol"),
        model=_option(config, "model"),
        live=_option(config, "live"),
        record=_option(config, "record"),
        resume=_option(config, "resume"),
        base_url=_option(config, "base-url"),
        cassettes=_option(config, "cassettes") or _default_cassettes(config),
        today=datetime.now(tz=UTC).date().isoformat(),
        plan=_option(config, "plan"),
        max_requests=_option(config, "max-requests"),
        expected=_option(config, "expected"),
        repeat=_option(config, "repeat"),
        strict=_option(config, "strict"),
        thinking=_option(config, "thinking"),
        claims=tuple(_option(config, "claim")),
        request_timeout=_option(config, "request-timeout"),
        max_time=_option(config, "max-time"),
        variant=_option(config, "variant"),
        allow_wide_baseline=_option(config, "allow-wide-baseline"),
        headers=headers,
        only_unknown=_option(config, "only-unknown"),
    )
    _unwind_on_signals(config)
    try:
        config.stash[RUN] = Run(with_environment(options))
    except ConformanceError as error:
        raise pytest.UsageError(safe(config, str(error))) from None
    config.stash[SAFE] = lambda text: safe(config, text)
    keep_http_logs_quiet()
    # What was imported stays: the garbage collector need not look at it again and again.
    gc.freeze()
    config.add_cleanup(gc.unfreeze)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        # Files, not their folder: a repository's `python_files` does not apply to files that are named.
        config.args[:] = [str(path) for path in sorted(Path(__file__).parent.glob("suite/test_*.py"))]


def _check_recordings(config: pytest.Config, provider: str) -> None:
    """Prepare a run over the recordings of the public index; it asks nobody and plays no scenario."""
    others = ("live", "record", "base-url", "plan", "claim", "thinking", "cassettes", "max-requests")
    given = [f"--{name}" for name in others if _option(config, name)]
    if given or _option(config, "repeat") > 1:
        message = f"--evidence recorded checks recordings; omit {', '.join(given) or '--repeat'}"
        raise pytest.UsageError(message)
    # Imported here because nothing else needs it.
    from conformance.pytest_recorded import register

    model, results = _option(config, "model"), _option(config, "results")
    register(config, provider, _option(config, "protocol"), model, results, strict=_option(config, "strict"))


def _unwind_on_signals(config: pytest.Config) -> None:
    """Let a signal that ends the run end it as Ctrl-C does: with the results so far. A second one is ignored."""
    from conformance.processes import unwinding_on_signals

    stack = ExitStack()
    # Not again: pytest itself catches it, and ends the run.
    stack.enter_context(
        unwinding_on_signals(lambda number: KeyboardInterrupt(signal.Signals(number).name), again=False)
    )
    config.add_cleanup(stack.close)


@pytest.hookimpl(tryfirst=True)
def pytest_keyboard_interrupt(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Leave out the places of an interrupt that have no line: pytest fails to show them, with a traceback of its own.

    Python has such places at its own instructions, such as the end of a loop, and a signal can arrive at any of them.
    """
    excinfo.traceback = excinfo.traceback.filter(_has_line)


def _has_line(entry: Any) -> bool:
    try:
        return bool(entry.lineno >= 0)
    except TypeError:
        return False


def _default_cassettes(config: pytest.Config) -> Path:
    """Return the project's own cassettes; an installed package has only copies, which a recording must not change."""
    from conformance.errors import Unusable
    from conformance.resources import checkout_folder, folder

    if not _option(config, "record"):
        return folder("cassettes")
    try:
        return checkout_folder("cassettes", "--cassettes DIR is required")
    except Unusable as error:
        raise pytest.UsageError(str(error)) from None


def _check_options(config: pytest.Config) -> None:
    if config.getoption("dist", "no") != "no" or hasattr(config, "workerinput"):
        message = "--provider runs in one process; omit -n, since it would split the results"
        raise pytest.UsageError(message)
    if _option(config, "repeat") < 1:
        message = f"--repeat: expected a number from 1 on, got {_option(config, 'repeat')}"
        raise pytest.UsageError(message)
    for name in ("request-timeout", "max-time"):
        seconds = _option(config, name)
        if seconds is not None and not seconds > 0:
            message = f"--{name}: expected a number of seconds above 0, got {seconds:g}"
            raise pytest.UsageError(message)


@pytest.hookimpl(wrapper=True)
def pytest_report_header(config: pytest.Config) -> Generator[None, list[str | list[str]], list[str | list[str]]]:
    """Name the options that another plugin or conftest.py has taken, so that none is ignored unseen, and the claims.

    What other plugins print there, such as the base URL, is cleaned as well.
    """
    others = yield
    lines = [
        f"{name} is an option of this repository or of another plugin; use {_FULL[name]}"
        for name in config.stash.get(FOREIGN, ())
    ]
    run = config.stash.get(RUN, None)
    if run is not None:
        from conformance.suite.run_claims import header_lines

        lines += [f"profile: {run.profile.reference}{_bases(run.profile.extends)}"] if run.profile.path else []
        lines += header_lines(run.model, run.claims, asks=run.asks)
        lines += [f"goes on with a recording of {len(run.staged)} cases"] if run.staged else []
    shown: list[str | list[str]] = [[f"conformance: {line}" for line in lines], *others]
    if SAFE not in config.stash:
        return shown
    return [[config.stash[SAFE](line) for line in ([each] if isinstance(each, str) else each)] for each in shown]


def _bases(names: Sequence[str]) -> str:
    return "".join([f", which extends {name}" for name in names])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the items before any is deselected, so that the results say what was selected of how many."""
    config.stash[COLLECTED] = len(items)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note that only some items run, so that expected failures of the others do not count as stale."""
    for item in items[:1]:
        item.config.stash[DESELECTED] = True


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin the results, and print what the items will send, with --plan and wherever a real endpoint is asked."""
    run = session.config.stash.get(RUN, None)
    if run is None:
        return
    if run.options.only_unknown:
        from conformance.pytest_unknown import announce

        announce(session, run)
    if not run.options.plan:
        from conformance.pytest_results import begin

        begin(session, run)
    if not (run.options.plan or run.options.is_live):
        return
    cases = [case for item in session.items if (case := case_of(item)) is not None]
    plan = run.plan({f"{scenario.name}.{variant}": (scenario, variant) for scenario, variant in cases}.values())
    requests = plan.requests_of(run.options.repeat)
    session.config.stash[LEFT] = {case.case: case.requests * run.options.repeat for case in plan.cases}
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in plan.lines() if run.options.plan else [f"This run sends to {plan.summary()}."]:
            reporter.write_line(line)
        reporter.write_line(f"A live run ends after {run.options.max_time:g} seconds at the latest (--max-time).")
        if run.options.repeat > 1:
            reporter.write_line(f"Each case runs {run.options.repeat} times: {requests} requests.")
    limit = run.options.max_requests
    if run.options.is_live and limit is not None and requests > limit:
        message = f"{requests} requests are more than --max-requests {limit} allows; select fewer cases with -k"
        pytest.exit(message, returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run no test if only the plan is wanted."""
    run = session.config.stash.get(RUN, None)
    return True if run is not None and run.options.plan else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Count the items that run, and print before each case of a live run how many requests are left.

    Only on terminals, since that is not a result.
    """
    if RUN in item.config.stash:
        item.config.stash[STARTED] = item.config.stash.get(STARTED, 0) + 1
    left, case = item.config.stash.get(LEFT, {}), case_of(item)
    reporter = item.config.pluginmanager.get_plugin("terminalreporter")
    if case is None or reporter is None or not reporter.isatty:
        return
    name, total = f"{case[0].name}.{case[1]}", sum(left.values())
    if requests := left.pop(name, 0):
        reporter.ensure_newline()
        reporter.write_line(f"{name}: {requests} requests, {total} left in the run")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Clean what an item reports: no secret, and nothing that controls a terminal or a workflow."""
    report = yield
    if RUN in item.config.stash:
        from conformance.pytest_output import clean

        clean(item.config, report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the matrix at the end of the run."""
    run = config.stash.get(RUN, None)
    if run is None or run.options.plan:
        return
    from conformance.pytest_output import summary

    summary(terminalreporter, run, config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the results and close what the run started; a run that checked nothing is not a success."""
    run = session.config.stash.get(RUN, None)
    if run is None or run.options.plan:
        return
    from conformance.pytest_results import finish

    finish(session, run)
