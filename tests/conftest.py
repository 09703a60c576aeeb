"""What the tests share: where they run, and the folder of real recordings, where it lies beside the checkout."""

import gc
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import httpcore  # noqa: F401 — pytester unloads what a test imports first, and httpx keeps the errors of the first copy
import httpx
import pytest
import yaml  # noqa: F401 — pytester unloads what a test imports first, and PyYAML cannot be imported twice

from conformance.pytest_plugin import _Finder

pytest_plugins = ["pytester"]

# Else pytest compiles the modules of the package once more, for asserts that they do not have.
sys.meta_path.insert(0, _Finder)

# Else pytest rewrites the asserts of every module in every process and every run, which takes as long as all else that
# it does to collect them. What tests start would compile the package every time.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

WORKERS = 2 if "CI" in os.environ else 3
"""Processes of a run of all tests on two cores: tests wait a fifth of the time, in CI for the checks beside them.

`-n 0` uses one; so does a run of chosen files.
"""

LAST_WORKER = f"gw{WORKERS - 1}"
"""The process that reads the files from the last to the first.

The first run of a checkout compiles them, which takes longer than all else until the tests begin. So each process
compiles one half and finds the other one compiled.
"""

COLLECTOR = (20_000, 20, 50)
"""When garbage is collected: tests leave little behind, and looking for it as often as usual takes 5 % of a run."""

GOLDEN = Path(__file__).parent / "golden"
SHARED = Path(__file__).parents[2] / "shared"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Set how hypothesis draws, before its plugin reads the options."""
    if config.option.conformance_provider:
        # A run of the suites of the package, which need no hypothesis; its plugin imports it to print its summary.
        config.pluginmanager.unregister(name="hypothesispytest")
        return
    from hypothesis import settings

    # The same examples in every run, and no clock: these machines are noisy. A plain run draws a sample; CI and the
    # nightly workflow choose a profile with `--hypothesis-profile`, and `tests.sampling.examples` follows it.
    settings.register_profile("sample", deadline=None, derandomize=True, database=None, max_examples=10)
    settings.register_profile("ci", settings.get_profile("sample"), max_examples=15)
    settings.register_profile("long", settings.get_profile("sample"), max_examples=1000)
    settings.load_profile("sample")
    _ignore_constants()


def _ignore_constants() -> None:
    """Keep hypothesis from parsing every module of this package, in every process, for constants to try.

    The examples would depend on which modules a run has imported before.
    """
    from hypothesis.internal.conjecture import providers

    if hasattr(providers, "_get_local_constants"):
        none = providers._local_constants
        providers._get_local_constants = lambda: none


class _Reversed(pytest.Package):
    """A folder whose files are read from the last to the first."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return reversed(list(super().collect()))


class _Backwards:
    """Reads the tests from the last file to the first: files as arguments would take twice as long to collect."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return _Reversed.from_parent(parent, path=path) if (path / "__init__.py").is_file() else None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Divide a run of all tests between processes, which take tests from each other when they run out of their own."""
    if hasattr(config, "workerinput"):  # One of these processes: it must not start processes of its own.
        if config.workerinput["workerid"] == LAST_WORKER:
            config.pluginmanager.register(_Backwards())
        return
    option = config.option
    undecided = getattr(option, "numprocesses", 0) is None and option.dist == "no"
    # pytest-cov must know of several processes before this hook runs.
    ours = not option.conformance_provider and not getattr(option, "cov_source", None)
    if undecided and ours and config.args_source is pytest.Config.ArgsSource.TESTPATHS and not option.usepdb:
        option.numprocesses, option.dist = WORKERS, "worksteal"


def leaves_out(path: Path, config: pytest.Config) -> bool:
    """Return whether a file has a mark of its own by which a run leaves out all its tests.

    Such files import SDKs and browsers, which is a sixth of what a plain run needs to collect its tests.
    """
    mark = re.search(r"^pytestmark = pytest\.mark\.(slow|exhaustive)$", path.read_text("utf-8"), re.MULTILINE)
    return mark is not None and f"not {mark[1]}" in str(config.option.markexpr)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which no test would run; pytest does not ask about those that the command line names."""
    return True if collection_path.suffix == ".py" and leaves_out(collection_path, config) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests the same order in all processes, whichever file each of them reads first."""
    items.sort(key=lambda each: str(each.path))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from what is collected, which lives to the end: it takes a fourth of the time."""
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(*COLLECTOR)
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files instead of comparing them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with a golden file, or writes the file with `--update-golden`."""

    def compare(name: str, text: str) -> None:
        if request.config.getoption("--update-golden"):
            (GOLDEN / name).write_text(text, "utf-8")
        assert (GOLDEN / name).read_text("utf-8") == text

    return compare


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Refuse every connection that would leave this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else "localhost"
        if host not in ("127.0.0.1", "::1", "localhost"):
            message = f"a test tried to reach {host}"
            raise RuntimeError(message)
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(autouse=True, scope="session")
def certificates_once() -> Iterator[None]:
    """Read the certificates of this machine once: no test verifies any, and every client of httpx would read them."""
    read = cache(httpx.create_ssl_context)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", read)
        yield


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """Heed Ctrl-C: a run in the background ignores it, and would hand that on to what tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("NOT RUN: the recordings of ../shared are absent, so nothing here was measured on real traffic")
    return SHARED


@pytest.fixture(scope="module")
def urls(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Serve the simulator of each provider that the module names in NAMES, and return their URLs."""
    # Imported here, because coverage does not see what a worker imports before its session starts.
    from conformance import profiles
    from conformance.simulator import simulated

    with ExitStack() as stack:
        yield {name: stack.enter_context(simulated(profiles.load(name))) for name in request.module.NAMES}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=20) as client:
        yield client
