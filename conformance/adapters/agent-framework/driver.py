"""Drives Microsoft's Agent Framework: an agent over its chat completion client, in one session."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agent_framework import Agent, FunctionTool
from agent_framework.openai import OpenAIChatCompletionClient

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = OpenAIChatCompletionClient(job.model, base_url=job.base_url, api_key=job.api_key)
    agent = Agent(client, instructions=job.system, tools=[tool_of(tool) for tool in job.tools])
    session = agent.create_session()
    for prompt in job.prompts:
        if job.stream:
            stream = agent.run(prompt, session=session, stream=True)
            async for _ in stream:
                pass
            result = await stream.get_final_response()
        else:
            result = await agent.run(prompt, session=session)
        yield result.text


def tool_of(tool: Tool) -> FunctionTool:
    """Return the tool by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return FunctionTool(name=tool.name, description=tool.description, func=call, input_model=tool.parameters)


drive(talk, "agent-framework-core", "agent-framework-openai", "openai")
