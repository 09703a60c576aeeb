"""The `simulator` fixture in another repository."""

from pathlib import Path

import pytest

from tests.test_plugin import run, shown

pytestmark = pytest.mark.slow

HEAVY = ("httpx", "vcr", "yaml", "jsonschema", "jsonschema_rs", "orjson", "tabulate", "conformance.judge")

AGENT = '''
import json
import urllib.request


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=20))


def agent(simulation, loses=False, **more):
    """Hold a conversation with a loop that sends back what it got, or loses the reasoning."""
    tools = {tool.name: tool for tool in simulation.tools}
    history = [{"role": "system", "content": simulation.system}] if simulation.system else []
    for prompt in simulation.prompts:
        history.append({"role": "user", "content": prompt})
        while True:
            definitions = [tool.definition for tool in simulation.tools]
            body = {"model": simulation.model, "messages": history, "tools": definitions}
            message = post(f"{simulation.base_url}/chat/completions", body | more)["choices"][0]["message"]
            calls = [{k: v for k, v in call.items() if k != "index"} for call in message.get("tool_calls", ())]
            back = {"role": "assistant", "content": message["content"]} | ({"tool_calls": calls} if calls else {})
            if calls and not loses:
                back["reasoning_content"] = message["reasoning_content"]
            history.append(back)
            if not calls:
                break
            for call in calls:
                function = call["function"]
                text = tools[function["name"]].run(function["arguments"])
                history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        yield message["content"]


def simulate(simulator, **more):
    return simulator("interleaved-thinking", provider="deepseek", **{"stream": False, **more})
'''


@pytest.fixture
def foreign(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return a repository with an agent of its own and no configuration of this project's."""
    pytester.makepyfile(agent=AGENT)
    return pytester


TESTS = """
    import asyncio
    import json
    import subprocess
    import sys
    import urllib.error
    import urllib.request

    import pytest
    from agent import agent, simulate

    base_urls = []

    def test_nothing_is_imported_before():
        assert [] == [name for name in {heavy!r} if name in sys.modules]

    def test_a_good_client_is_conformant(simulator):
        simulation = simulate(simulator)
        assert simulation.base_url.startswith("http://127.0.0.1:") and simulation.base_url.endswith("/v1")
        simulation.assert_conformant(list(agent(simulation)), warnings=True)
        assert 5 == len(simulation.exchanges)
        assert {{"passed", "not applicable"}} == {{outcome.status for outcome in simulation.verdict()}}

    def test_strict_answers_with_the_refusal(simulator):
        simulation = simulate(simulator, strict=True)
        with pytest.raises(urllib.error.HTTPError, match="400"):
            list(agent(simulation, loses=True))
        with pytest.raises(AssertionError, match="reasoning/present-on-tool-turns"):
            simulation.assert_conformant(error=ConnectionError("HTTP 400"))

    @pytest.mark.parametrize("scenario, provider, words", [
        ("interleaved", "deepseek", "did you mean"), ("plain-answer", "deepsek", "did you mean deepseek"),
    ])
    def test_an_unknown_name_suggests_the_nearest(scenario, provider, words, simulator):
        with pytest.raises(Exception, match=words):
            simulator(scenario, provider=provider)

    def test_a_client_that_sends_nothing_is_not_conformant(simulator):
        with pytest.raises(AssertionError, match="no request was sent"):
            simulator("plain-answer", provider="deepseek").assert_conformant()

    def test_a_client_that_does_not_stream_when_it_should_is_not_conformant(simulator):
        simulation = simulate(simulator, stream=True)
        texts = list(agent(simulation))
        with pytest.raises(AssertionError, match="requested no streamed reply.*; use stream=False"):
            simulation.assert_conformant(texts)

    def test_a_tool_fails_if_the_scenario_says_so(simulator):
        (tool,) = simulator("tool-fails", provider="deepseek").tools
        assert "Rome: 24 °C" == tool.run('{{"city": "Rome", "day": "tomorrow"}}')
        with pytest.raises(Exception, match="There is no city"):
            tool.run({{"city": "Atlantis", "day": "tomorrow"}})
        assert "There is nothing to say about that." == tool.run()

    def test_tools_can_be_awaited_together(simulator):
        simulation = simulator("slow-tools", provider="deepseek")
        (tool,) = simulation.tools

        async def both():
            cities = ("Accra", "Dakar")
            return await asyncio.gather(*[tool.arun({{"city": each, "day": "tomorrow"}}) for each in cities])

        assert ["Accra: 30 °C", "Dakar: 27 °C"] == asyncio.run(both())
        assert ["start", "start", "end", "end"] == [event.event for event in simulation.events]

    def test_a_tool_knows_which_calls_are_denied(simulator):
        simulation = simulator("tool-denied", provider="deepseek")
        denied = [tool.denies(each["arguments"]) for tool in simulation.tools for each in tool.results]
        assert 1 == len([each for each in denied if each])

    def test_the_job_can_be_given_to_a_driver_in_another_language(simulator):
        simulation = simulator("agent-session", provider="deepseek", stream=True)
        command = [sys.executable, {driver!r}]
        done = subprocess.run(command, input=json.dumps(simulation.job), capture_output=True, text=True, check=True)
        simulation.assert_conformant(json.loads(done.stdout)["texts"])

    def test_each_simulation_has_its_own_address(simulator):
        one = simulator("plain-answer", provider="deepseek")
        two = simulator("plain-answer", provider="groq")
        assert one.base_url != two.base_url
        base_urls.append(one.base_url)

    def test_the_server_is_gone_after_the_test():
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(base_urls[0], timeout=5)
"""


def test_a_client_is_tested_in_its_own_repository(foreign: pytest.Pytester) -> None:
    driver = Path(__file__).with_name("broken_client.py")
    foreign.makepyfile(TESTS.format(heavy=HEAVY, driver=str(driver)))
    run(foreign, alone=True).assert_outcomes(passed=13)


def test_a_lossy_client_gets_the_rule_the_request_and_the_fix(foreign: pytest.Pytester) -> None:
    foreign.makepyfile("""
        from agent import agent, simulate

        def test_it(simulator):
            simulation = simulate(simulator)
            simulation.assert_conformant(list(agent(simulation, loses=True)))
    """)
    result = run(foreign, alone=True)
    result.assert_outcomes(failed=1)
    text = shown(result)
    for words in (
        "FAILS reasoning/present-on-tool-turns",
        "at /1/request/messages/1: expected reasoning_content",
        'sent: {"role":"assistant","content":"","tool_calls"',
        "deepseek answers 400: The `reasoning_content`",
        "to fix it: Keep the reasoning",
        "conformance explain reasoning/present-on-tool-turns",
    ):
        assert words in text
    assert "def assert_conformant" not in text


def test_the_fixture_documents_its_tools_and_plain_replies(foreign: pytest.Pytester) -> None:
    shown = run(foreign, "--fixtures", "-v").stdout.str()
    words = ("stream=False", "tool.run(", "tool.arun(", "tool.denies(", "tool.results", "delay_ms", "otherwise")
    assert [] == [word for word in words if word not in shown]
