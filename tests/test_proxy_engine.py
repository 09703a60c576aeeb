"""Agents of two SDKs through the proxy to real llama.cpp: what they send, what the engine answers, and the cassettes.

The nightly run has the network that the environments of engine and SDKs need.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from conformance.adapters import definition
from conformance.adapters.install import environment_path, install
from conformance.environments import python_in
from tests.checking import ENVIRONMENT, check
from tests.proxies import KEY, lines, texts

PROMPT: Final = "What is the temperature in Paris now? Use the tool."
TOOL: Final = '''
import asyncio, os
prompt, model = os.environ["PROMPT"], os.environ["CONFORMANCE_MODEL"]
def get_weather(city: str) -> str:
    """Tells the temperature in one city, in degrees Celsius."""
    return "21"
'''
AGENTS: Final = {
    "openai-agents": """
from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled
async def main():
    set_tracing_disabled(True)
    set_default_openai_api("chat_completions")
    agent = Agent(name="a", model=model, tools=[function_tool(get_weather)])
    print((await Runner.run(agent, prompt)).final_output)
    streamed = Runner.run_streamed(agent, prompt)
    async for _ in streamed.stream_events():
        pass
    print(streamed.final_output)
asyncio.run(main())
""",
    "pydantic-ai": """
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
async def main():
    agent = Agent(OpenAIChatModel(model), tools=[get_weather])
    print((await agent.run(prompt)).output)
    async with agent.run_stream(prompt) as streamed:
        print(await streamed.get_output())
asyncio.run(main())
""",
}
FORGETS: Final = "reasoning/resent-on-tool-turns MUST (client) at /1/request/messages/1"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "remembers"), [("openai-agents", False), ("pydantic-ai", True)])
def test_an_agent_speaks_to_llamacpp_through_the_proxy(name: str, tmp_path: Path, *, remembers: bool) -> None:
    adapter = definition.load(name)
    install(adapter, print)
    (tmp_path / "agent.py").write_text(TOOL + AGENTS[name], "utf-8")
    agent = shlex.join([str(python_in(environment_path(adapter))), str(tmp_path / "agent.py")])
    proxy = shlex.join([sys.executable, "-m", "conformance", "proxy", "--provider", "llamacpp"])
    folders = shlex.join(["--record", str(tmp_path / "tapes"), "--results", str(tmp_path / "results")])
    through = f'{proxy} --upstream "$CONFORMANCE_BASE_URL" {folders} -- env -u PYTHONPATH {agent}'
    engine = [sys.executable, "-m", "conformance", "engine", "run", "llamacpp", "--", "sh", "-c", through]
    variables = {**ENVIRONMENT, "OPENAI_API_KEY": KEY, "PROMPT": PROMPT, "PATH": os.environ["PATH"]}
    done = subprocess.run(engine, env=variables, capture_output=True, text=True, check=False, timeout=900)
    said = f"My earlier reasoning was {'' if remembers else 'not '}visible to me."
    assert 2 == done.stdout.count(said), done.stderr
    # The scripted model and the proxy agree on who sends the reasoning back.
    shown = [line for line in done.stderr.splitlines() if FORGETS in line]
    assert (0 if remembers else 2) == len(shown)
    assert (0 if remembers else 1) == done.returncode
    assert lines(done.stderr, "^4 exchanges in 2 conversations checked against llamacpp$")
    assert KEY not in done.stderr + texts(tmp_path / "tapes", tmp_path / "results")
    assert (0 if remembers else 1) == check("--provider", "llamacpp", "--level", "must", tmp_path / "tapes")[0]
