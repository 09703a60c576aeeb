"""OpenAI's own SDK reads what the simulator of every provider sends, plain and streamed, with and without a call."""

from typing import Any

import openai
import pytest

from conformance import profiles
from conformance.simulator import simulated
from tests.loops import every
from tests.sampling import some

pytestmark = pytest.mark.slow

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
QUESTIONS: dict[str, dict[str, Any]] = {"Hello": {}, "What is the weather in Paris?": {"tools": [TOOL]}}


@every("provider", some(profiles.names(), 3, mark=pytest.mark.exhaustive))
def test_the_sdk_reads_every_provider(provider: str) -> None:
    profile = profiles.load(provider)
    claims = profile.at(profile.model)
    asks_for_plain = {"stream": False} if claims.get("stream.default") is True else {}
    has_tools = claims.get("tools.supported") is not False
    with simulated(profile) as url, openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        assert [each.id for each in client.models.list()] or not profile.model
        for prompt, tools in QUESTIONS.items():
            if tools and not has_tools:
                continue
            asked: dict[str, Any] = {"model": profile.model or "m", "messages": [{"role": "user", "content": prompt}]}
            reply = client.chat.completions.create(**asked, **tools, **asks_for_plain).choices[0]
            assert isinstance(reply.finish_reason, str)
            assert bool(tools) == bool(reply.message.tool_calls)
            assert tools or reply.message.content
            chunks = [*client.chat.completions.create(**asked, **tools, stream=True)]
            deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
            assert bool(tools) == any(delta.tool_calls for delta in deltas)
            assert tools or any(delta.content for delta in deltas)
