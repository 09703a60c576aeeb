"""The bug report about a gateway: its reproduction runs without this package, and shows what the report says."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.cli import main
from conformance.engines.process import free_port
from conformance.gateways import definition
from conformance.gateways.loss import find
from conformance.reporting.renderers import gateway_issue
from conformance.resources import checkout_folder
from conformance.results.files import read
from tests.gateways import MadeGateway, made_gateway
from tests.planted_losses import NONCE, PLANTED, Planted

pytestmark = pytest.mark.slow

CURL = shutil.which("curl")
BASH = shutil.which("bash") or ""
BACKS = {"chat": "deepseek", "messages": "anthropic", "responses": "openai.responses", "gemini": "gemini"}


def planted(fact: str, case: str, wires: tuple[str, str]) -> Planted:
    return next(each for each in PLANTED if (each.fact, each.case, each.wires) == (fact, case, wires))


def report(results: Path, fact: str, front: str, back: str, case: str, **does: Any) -> str:
    """Return the report on a loss of a gateway of our own."""
    port = free_port()
    gateway = MadeGateway(front, back, f"http://127.0.0.1:{port}/v1", translates=True, **does)
    with made_gateway(gateway) as url:
        given = ["--base-url", url, "--front", front, "--back", BACKS[back], "--upstream-port", str(port)]
        main(["gateway", "run", *given, "--scenario", case, "--results", str(results)])
    (path,) = results.glob("*.json")
    return gateway_issue.render(find([read(path, [])], "gateway", f"gateway/{fact}"))


def repeated(text: str, folder: Path, front: str, back: str, **does: Any) -> tuple[Mapping[str, Any], str]:
    """Follow a report; return what its provider printed, and what curl did."""
    folder.mkdir()
    (python,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (script,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert len(python.splitlines()) <= 30
    (folder / "upstream.py").write_text(python)
    port = free_port()
    gateway = MadeGateway(front, back, f"http://127.0.0.1:{port}/v1", translates=True, **does)
    with made_gateway(gateway) as url:
        waiting = f"until {CURL} -s http://127.0.0.1:{port} > /dev/null; do sleep 0.1; done"
        started = f"{sys.executable} upstream.py {port} > log.txt 2> errors.txt &\n{waiting}"
        here = script.replace("http://127.0.0.1:4000/v1", url).replace("python3 upstream.py 9100 &", started)
        assert waiting in here
        assert url in here
        done = subprocess.run(
            [BASH, "-e"], input=here, text=True, cwd=folder, check=True, capture_output=True, timeout=60
        )
    _, _, asked = (folder / "log.txt").read_text().partition(" ")
    value: Mapping[str, Any] = orjson.loads(asked)
    return value, done.stdout


@pytest.mark.skipif(CURL is None, reason="NOT RUN: there is no curl")
def test_a_lost_tool_is_repeated(tmp_path: Path) -> None:
    does = planted("tools-kept", "single/tools", ("messages", "chat")).does
    text = report(tmp_path, "tools-kept", "messages", "chat", "single/tools", **does)
    asked, _ = repeated(text, tmp_path / "repeated", "messages", "chat", **does)
    sent = orjson.loads((tmp_path / "repeated" / "request.json").read_text())
    assert ([each["name"] for each in sent["tools"]], len(asked["tools"])) == (["get_weather", "get_time"], 1)


@pytest.mark.skipif(CURL is None, reason="NOT RUN: there is no curl")
@pytest.mark.parametrize("front", ["chat", "messages", "responses", "gemini"])
def test_a_lost_reply_is_repeated_on_each_wire(tmp_path: Path, front: str) -> None:
    does = next(each.does for each in PLANTED if (each.fact, each.direction) == ("calls-kept", "reply"))
    text = report(tmp_path, "calls-kept", front, "chat", "parallel-tool-calls", **does)
    asked, got = repeated(text, tmp_path / "repeated", front, "chat", **does)
    reply = (tmp_path / "repeated" / "reply.txt").read_text()
    assert asked["messages"][-1]["role"] == "user"
    said = re.findall(NONCE, reply)
    assert len(said) >= 3
    assert len([each for each in said if each not in got]) == 1


@pytest.mark.skipif(CURL is None, reason="NOT RUN: there is no curl")
def test_a_stream_that_is_cut_is_repeated(tmp_path: Path) -> None:
    does = planted("cut-streams-stay-cut", "single/cut-stream", ("messages", "chat")).does
    text = report(tmp_path, "cut-streams-stay-cut", "messages", "chat", "single/cut-stream", **does)
    _, got = repeated(text, tmp_path / "repeated", "messages", "chat", **does)
    assert "[DONE]" not in (tmp_path / "repeated" / "reply.txt").read_text()
    assert "event: message_stop" in got


@pytest.mark.parametrize("name", definition.names())
def test_the_report_on_a_gateway_of_this_project_says_how_to_start_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkout_folder("reports", "the results") / "results" / "gateways"
    found = [read(path, []) for path in sorted(folder.glob(f"{name}@*.json"))]
    lost = next(o.rule for results in found for case in results.cases for o in case.outcomes if o.findings)
    assert main(["gateway", "issue", name, "--fact", lost]) == 0
    out = capsys.readouterr().out
    (script,) = re.findall(r"```sh\n(.*?)```", out, re.DOTALL)
    assert "127.0.0.1:9100" in script
    assert f"http://127.0.0.1:4000{next(iter(definition.load(name).fronts.values())).path}" in script
    assert "{" not in re.sub(r"<<'END-OF-FILE'.*?END-OF-FILE", "", script, flags=re.DOTALL)
    subprocess.run([BASH, "-n"], input=script, text=True, check=True)
