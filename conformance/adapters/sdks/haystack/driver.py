"""Drives Haystack: its agent with the OpenAI chat generator; each run gets the messages of the previous one."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.tools import Tool
from haystack.utils import Secret

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import driving
from driving import Job, drive


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    generator = OpenAIChatGenerator(
        api_key=Secret.from_token(job.api_key), model=job.model, api_base_url=job.base_url, timeout=20
    )
    agent = Agent(
        chat_generator=generator,
        tools=[tool_of(tool) for tool in job.tools],
        max_agent_steps=2 * job.max_turns,
        streaming_callback=ignore_chunk if job.stream else None,
    )
    history = [ChatMessage.from_system(job.system)] if job.system else []
    for prompt in job.prompts:
        result = await agent.run_async(messages=[*history, ChatMessage.from_user(prompt)])
        history = result["messages"]
        yield history[-1].text


async def ignore_chunk(_: StreamingChunk) -> None:
    """Ignore a chunk; the generator streams only if there is a callback."""


def tool_of(tool: driving.Tool) -> Tool:
    """Return a tool of the job, defined by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return Tool(name=tool.name, description=tool.description, parameters=tool.parameters, async_function=call)


drive(talk, "haystack-ai", "openai")
