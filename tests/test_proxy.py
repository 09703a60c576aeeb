"""`conformance proxy` as its users run it: real SDKs, real processes, signals, keys, exit codes."""

import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from conformance import profiles
from conformance.cli import main
from conformance.profiles import Profile
from conformance.proxy.variables import base_path, variables
from conformance.simulator import simulated
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving as answering
from tests.checking import BASES, check
from tests.hostile.peer import Asked, completion, serving
from tests.loops import every
from tests.proxies import KEY, ended, lines, proxy, running, texts

AGENT = """
import json, sys
from openai import OpenAI
client = OpenAI(api_key=sys.argv[1])
tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
messages = [{"role": "user", "content": "What is the weather?"}]
for stream in (False, True):
    with client.chat.completions.with_streaming_response.create(
        model="deepseek-flash", messages=messages, tools=[tool], stream=stream
    ) as raw:
        print(sum(map(len, raw.iter_bytes())) > 100)
reply = client.chat.completions.create(model="deepseek-flash", messages=messages, tools=[tool]).choices[0].message
kept = {"role": "assistant", "content": reply.content, "reasoning_content": reply.reasoning_content}
calls = [{"id": call.id, "type": "function", "function": call.function.to_dict()} for call in reply.tool_calls]
if len(sys.argv) > 2:
    del kept["reasoning_content"]
messages.append(kept | {"tool_calls": calls})
messages += [{"role": "tool", "tool_call_id": call["id"], "content": "Sunny, says " + sys.argv[1]} for call in calls]
try:
    last = client.chat.completions.create(model="deepseek-flash", messages=messages, tools=[tool])
    print(last.choices[0].finish_reason)
except Exception as error:
    print(error.status_code)
"""


@pytest.fixture(scope="module")
def deepseek() -> Iterator[str]:
    with simulated(profiles.load("deepseek")) as url:
        yield url


@pytest.mark.slow
def test_the_openai_sdk_works_through_it_and_leaves_no_key(deepseek: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT, "utf-8")
    folders = ("--record", tmp_path / "tapes", "--results", tmp_path / "results")
    command = ("--", sys.executable, tmp_path / "agent.py", KEY)
    done = proxy("--upstream", deepseek, "--provider", "deepseek", *folders, *command)
    assert (0, "True\nTrue\nstop\n") == (done.returncode, done.stdout), done.stderr
    assert lines(done.stderr, "^4 exchanges in 3 conversations checked against deepseek$")
    assert KEY not in texts(tmp_path / "tapes", tmp_path / "results") + done.stderr
    assert 3 == len(list((tmp_path / "tapes").rglob("conversation-*.yaml")))
    # The simulator replied, and its cassettes do not pose as those of a host.
    assert "evidence: simulated" in texts(tmp_path / "tapes")
    assert 0 == check("--provider", "deepseek", tmp_path / "tapes")[0]


@pytest.mark.slow
def test_a_forgetful_agent_is_found_with_exit_code_1(deepseek: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT, "utf-8")
    command = ("--", sys.executable, tmp_path / "agent.py", KEY, "forgetful")
    done = proxy("--upstream", deepseek, "--provider", "deepseek", *command)
    assert (1, "True\nTrue\n400\n") == (done.returncode, done.stdout)
    rule = "reasoning/present-on-tool-turns MUST (client) at /1/request/messages/1"
    assert lines(done.stderr, f"^conversation-000. .deepseek-flash.: {rule.replace('(', '.').replace(')', '.')}")
    assert KEY not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import sys; sys.exit(7)", 7),
        pytest.param("import os; os.kill(os.getpid(), 9)", 137, marks=pytest.mark.exhaustive),
        pytest.param("", 5, marks=pytest.mark.exhaustive),
    ],
)
def test_the_exit_code_of_a_command_that_fails_is_passed_on(deepseek: str, script: str, code: int) -> None:
    assert code == proxy("--upstream", deepseek, "--", sys.executable, "-c", script).returncode


DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
print(os.getpid(), flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_a_command_that_ignores_signals_ends_with_the_proxy(deepseek: str) -> None:
    with running("--upstream", deepseek, "--", sys.executable, "-c", DEAF) as (number, process):
        code, _, err = ended(process)
    assert (137, False) == (code, psutil.pid_exists(int(number)))
    assert "nothing was checked" in err


@pytest.mark.slow
def test_what_was_found_is_printed_though_the_results_cannot_be_written(deepseek: str, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with running("--upstream", deepseek, "--provider", "deepseek", "--results", folder) as (url, process):
        assert 200 == ask(url, BASES["plain"][0]["request"]).status_code
        folder.rmdir()
        folder.write_text("", "utf-8")
        code, out, err = ended(process)
    assert (2, True) == (code, f"cannot create the folder {folder}" in err)
    assert "1 exchange in 1 conversation checked against deepseek\nno findings\n" in out


def ask(url: str, body: object, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/chat/completions", json=body, headers={"authorization": f"Bearer {KEY}", **headers})


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *[pytest.param(each, marks=pytest.mark.exhaustive) for each in (signal.SIGTERM, signal.SIGHUP)]],
)
def test_a_signal_ends_it_with_summary_and_files(deepseek: str, tmp_path: Path, number: int) -> None:
    with running("--upstream", deepseek, "--provider", "deepseek", "--record", tmp_path) as (url, process):
        assert 200 == ask(url, BASES["plain"][0]["request"]).status_code
        code, out, err = ended(process, number)
    assert (0, []) == (code, lines(err, "^conformance-"))
    assert "1 exchange in 1 conversation checked against deepseek\nno findings\n" in out
    assert 1 == len(list(tmp_path.rglob("conversation-0001.yaml")))


@pytest.mark.exhaustive
def test_a_killed_proxy_leaves_what_passed_until_then(deepseek: str, tmp_path: Path) -> None:
    with running("--upstream", deepseek, "--provider", "deepseek", "--record", tmp_path) as (url, process):
        _guard, checker = psutil.Process(process.pid).children(recursive=True)
        assert 200 == ask(url, BASES["plain"][0]["request"]).status_code
        # Copies are handed over some milliseconds after their reply.
        time.sleep(0.5)
        process.kill()
        checker.wait(60)
    assert 1 == len(list(tmp_path.rglob("conversation-0001.yaml")))


@pytest.mark.exhaustive
def test_traffic_goes_on_where_the_check_died_and_the_end_says_so(deepseek: str) -> None:
    with running("--upstream", deepseek, "--provider", "deepseek") as (url, process):
        _guard, checker = psutil.Process(process.pid).children(recursive=True)
        checker.kill()
        checker.wait(60)
        for _ in range(20):
            assert 200 == ask(url, BASES["plain"][0]["request"]).status_code
        code, _, err = ended(process)
    assert 2 == code
    assert "from now on nothing is checked, and traffic still passes" in err
    assert "the process that checks copies ended early" in err


@pytest.mark.slow
def test_what_a_provider_says_of_a_key_is_not_printed(tmp_path: Path) -> None:
    def answer(request: HttpRequest) -> HttpReply:
        text = json.dumps({"error": {"message": f"Incorrect API key: {KEY}", "code": {"key": KEY}}})
        return HttpReply(401, text.encode(), {"content-type": "application/json"})

    with answering(answer) as upstream:
        folders = ("--record", tmp_path / "a", "--results", tmp_path / "b")
        with running("--upstream", upstream, "--provider", "openai", "--fail-on", "never", *folders) as (url, process):
            assert KEY in ask(url, BASES["plain"][0]["request"]).text
            code, out, err = ended(process)
    assert 0 == code
    assert lines(err, "^conversation-0001 ")
    assert KEY not in out + err + texts(tmp_path)


@pytest.mark.exhaustive
def test_a_gateway_between_two_taps_is_named(tmp_path: Path) -> None:
    with serving(lambda asked: asked.reply(completion())) as peer:

        def gateway(asked: Asked) -> None:
            sent = json.loads(asked.body)
            for message in sent["messages"]:
                message.pop("reasoning_content", None)
            reply = httpx.post(f"{back}/chat/completions", json=sent)
            asked.reply(reply.content)

        back = ""
        with serving(gateway) as front:
            taps = ("--tap", f"client={front.url}", "--tap", f"provider={peer.url}")
            with running(*taps, "--fail-on", "should") as (line, process):
                assert process.stdout is not None
                url, back = line.partition(": ")[2], process.stdout.readline().strip().partition(": ")[2]
                for exchange in BASES["thinking-session"][1:2]:
                    assert 200 == ask(url, exchange["request"]).status_code
                _, out, err = ended(process)
    assert "gateway: /request/messages/*/reasoning_content removed" in err
    assert "the gateway changes 1 field:" in out


UNUSABLE = {
    "no upstream": ([], "--upstream or --provider is required"),
    "an empty upstream": (["--upstream", ""], "expected a URL that begins with http:// or https://"),
    "no URL": (["--upstream", "localhost:80"], "expected a URL that begins with http:// or https://"),
    "a key in the URL": (["--upstream", "https://u:p@h/"], "keys come from the client"),
    "one tap": (["--tap", "a=http://h"], "--tap is given twice"),
    "a tap without a name": (["--tap", "http://h", "--tap", "b=http://h"], "expected NAME=URL or NAME:PORT=URL"),
    "a URL with a blank": (["--upstream", "http://exa mple/"], "expected a URL that begins with http:// or https://"),
    "one name for two taps": (["--tap", "a=http://h", "--tap", "A=http://h"], "expected two names for --tap"),
    "a folder in a file": (
        ["--upstream", "http://localhost:1", "--record", f"{__file__}/x"],
        "cannot create the folder",
    ),
    "results in a file": (["--provider", "deepseek", "--results", f"{__file__}/x"], "cannot create the folder"),
    "a port that is none": (["--upstream", "http://localhost:1", "--port", "99999"], "cannot bind 127.0.0.1:99999"),
    "no command": (["--upstream", "http://localhost:1", "--", "/no/such/command"], "cannot run /no/such/command"),
    "an unknown provider": (["--provider", "deepsek"], "did you mean deepseek"),
    "results of nobody": (["--upstream", "http://localhost:1", "--results", "r"], "--results needs --provider"),
    "a bad address": (["--upstream", "http://localhost:1", "--host", "192.0.2.1"], "cannot bind 192.0.2.1:0"),
}


@every("name", UNUSABLE)
def test_an_unusable_call_says_what_to_change(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, words = UNUSABLE[name]
    assert 2 == main(["proxy", *arguments])
    assert words in capsys.readouterr().err


def profile_of(name: str) -> Profile | None:
    return profiles.load(name) if name else None


@pytest.mark.parametrize(
    ("upstream", "provider", "path"),
    [
        ("https://api.deepseek.com", "deepseek", ""),
        ("https://api.groq.com", "groq", "/openai/v1"),
        ("http://127.0.0.1:8000", "groq", "/v1"),
        ("http://127.0.0.1:8000", "", "/v1"),
        ("http://127.0.0.1:8000/custom/v2/", "groq", "/custom/v2"),
    ],
)
def test_the_base_url_has_the_path_of_the_provider(upstream: str, provider: str, path: str) -> None:
    assert path == base_path(upstream, profile_of(provider))


def test_a_command_gets_the_variables_of_its_sdks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "example.com")
    found = variables("http://127.0.0.1:4000", "/v1", profiles.load("openai"))
    assert {
        "OPENAI_BASE_URL": "http://127.0.0.1:4000/v1",
        "OPENAI_API_BASE": "http://127.0.0.1:4000/v1",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:4000",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:4000",
        "NO_PROXY": "example.com,127.0.0.1",
    }.items() <= found.items()
    assert (
        "http://127.0.0.1:4000/v1" == variables("http://127.0.0.1:4000", "/v1", profiles.load("groq"))["GROQ_API_BASE"]
    )
