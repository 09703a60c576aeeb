"""Whatever a provider sends back, no artefact of a live run and nothing it prints holds a secret of the run."""

import json
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from conformance.formats import read_path
from conformance.transport.http import HttpReply
from conformance.wire import sse
from tests.hostile.parrot import conformance, parrot, provider, suites
from tests.hostile.planted import ENCODINGS, SHAPES, leaks
from tests.sampling import some

pytestmark = pytest.mark.slow

SECRETS: Final = {
    "the key": 'pk-7f/3a+"9_0123456789abcdefXYZ',
    "the password of the URL": "pass/word+with=signs-0123",
    "another key of the environment": "ot-9876543210-zyxwvutsrqponm",
}
ARTEFACTS: Final = ("cassettes", "manifest", "results", "JUnit XML", "terminal")

FEW: Final = ("-k", "one-tool-call or reasoning-without-tools")


def _forms() -> list[str]:
    known = [encode(secret) for secret in SECRETS.values() for encode in ENCODINGS.values()]
    return [*known, *SHAPES.values()]


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return what a live run against a parrot wrote and printed, by artefact."""
    folder = tmp_path_factory.mktemp("parrot")
    key, password, other = SECRETS.values()
    headers = {"server": f"parrot {key}", "retry-after": other}
    with provider(parrot(_forms, headers)) as url:
        base = url.replace("http://", f"http://user:{password.replace('/', '%2F').replace('+', '%2B')}@")
        ended = suites(
            "--live", f"--base-url={base}", "--record", "--cassettes=cassettes", "--results=results",
            "--junitxml=junit.xml", "--showlocals", "--log-level=DEBUG", "-rA", "-vv", *FEW,
            folder=folder, CONFORMANCE_API_KEY=key, OTHER_SERVICE_TOKEN=other,
        )  # fmt: skip
    assert "[redacted]" in ended.stdout, ended.stdout + ended.stderr
    return {
        "terminal": ended.stdout + ended.stderr,
        "JUnit XML": (folder / "junit.xml").read_text(),
        "results": (folder / "results" / "vllm.json").read_text(),
        "manifest": (folder / "cassettes" / "vllm" / "manifest.yaml").read_text(),
        "cassettes": "\n".join(_of_cassettes(folder / "cassettes")),
        "folder": str(folder),
    }


def _of_cassettes(folder: Path) -> Iterator[str]:
    """Yield the text of each cassette, and what its exchanges hold once they are read, with streams put together."""
    paths = [path for path in folder.rglob("*.yaml") if path.name != "manifest.yaml"]
    assert len(paths) == 5
    for path in paths:
        yield path.read_text()
        for exchange in (each for part in read_path(path) for each in part.conversation):
            yield json.dumps([exchange.request, exchange.response], ensure_ascii=False)
            if exchange.streamed:
                yield from _joined(str(exchange.response))


def _joined(stream: str) -> Iterator[str]:
    deltas = [json.loads(each.data)["choices"][0]["delta"] for each in sse.read(stream).events if each.data != "[DONE]"]
    for name in ("content", "reasoning_content"):
        yield "".join([each.get(name) or "" for each in deltas])
    yield "".join([call["function"]["arguments"] for each in deltas for call in each.get("tool_calls", ())])


@pytest.mark.parametrize("artefact", ARTEFACTS)
@pytest.mark.parametrize("secret", [*SECRETS, *SHAPES])
def test_a_secret_is_in_no_artefact(artefacts: Mapping[str, str], artefact: str, secret: str) -> None:
    planted = SECRETS.get(secret) or SHAPES[secret].removeprefix("Bearer ")
    assert [] == leaks(artefacts[artefact], planted)


def test_artefacts_of_a_live_run_are_their_owners(artefacts: Mapping[str, str]) -> None:
    folder = Path(artefacts["folder"])
    written = [path for name in ("cassettes", "results") for path in (folder / name).rglob("*.*") if path.is_file()]
    named = {path.name: stat.S_IMODE(path.stat().st_mode) for path in written if path.suffix in (".yaml", ".json")}
    assert {0o600} == set(named.values())
    assert {"manifest.yaml", "vllm.json", "one-tool-call.plain.yaml"} <= set(named)


@pytest.mark.parametrize("status", some([401, 302], mark=pytest.mark.exhaustive))
def test_a_refusal_prints_no_secret(status: int, tmp_path: Path) -> None:
    key = SECRETS["the key"]
    text = json.dumps({"error": {"message": " ".join([encode(key) for encode in ENCODINGS.values()])}}).encode()
    reply = HttpReply(status, text, {"content-type": "application/json", "location": f"https://elsewhere/?k={key}"})
    with provider(lambda _: reply) as url:
        base = url.replace("http://", "http://user:pass-0123456789-word@")
        ended = suites("--live", f"--base-url={base}", "--results=out", *FEW, folder=tmp_path, CONFORMANCE_API_KEY=key)
    printed = ended.stdout + ended.stderr
    assert [] == leaks(printed, key)
    assert "0123456789-word" not in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    "key", some(["pk-0123456789\nabcdef", "pk-0123456789-é-abcdef"], name=ascii, mark=pytest.mark.exhaustive)
)
def test_a_key_that_no_header_can_hold_is_not_printed(key: str, tmp_path: Path) -> None:
    with provider(parrot(lambda: [key])) as url:
        ended = suites("--live", f"--base-url={url}", *FEW, "-x", folder=tmp_path, CONFORMANCE_API_KEY=key)
    printed = ended.stdout + ended.stderr
    assert "0123456789" not in printed
    assert "Traceback" not in printed


def test_what_cannot_be_scrubbed_is_not_written(tmp_path: Path) -> None:
    key = SECRETS["the key"]
    reply = HttpReply(200, json.dumps({"x": key}).encode("utf-16-le"), {"content-type": "application/json"})
    with provider(lambda _: reply) as url:
        options = ("--live", f"--base-url={url}", "--record", "--cassettes=cassettes", "--results=out", *FEW)
        ended = suites(*options, folder=tmp_path, CONFORMANCE_API_KEY=key)
    assert 2 == ended.returncode
    assert "the provider sends back a secret in a form that cannot be removed" in ended.stdout
    assert [] == list((tmp_path / "cassettes").rglob("*.yaml"))
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert key[:12].encode() not in path.read_bytes().replace(b"\0", b"")


DRIVER = """
import json, os, sys, urllib.request
job, key = json.load(sys.stdin), os.environ["SOME_API_KEY"]
body = {"model": key, "messages": [{"role": "user", "content": json.dumps(key)}]}
url = job["base_url"] + "/chat/completions"
try:
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"}))
finally:
    print(key)
    sys.exit(f"the driver failed with {key}")
"""


def test_what_a_driver_is_given_is_in_no_artefact(tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text(DRIVER)
    key = SECRETS["the key"]
    options = ("--provider", "groq", "--scenario", "plain-answer", "--variant", "plain", "--keep", "kept")
    command = ("adapter", "run", "--driver", f"{sys.executable} driver.py", *options, "--results", "out")
    ended = conformance(*command, "--env", "SOME_API_KEY", folder=tmp_path, SOME_API_KEY=key)
    assert "[redacted]" in ended.stdout
    (results,), (kept,) = (tmp_path / "out").glob("*.json"), (tmp_path / "kept").glob("*.jsonl")
    for text in (ended.stdout + ended.stderr, results.read_text(), kept.read_text()):
        assert [] == leaks(text, key)
