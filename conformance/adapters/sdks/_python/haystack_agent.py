"""What the drivers of Haystack share: the agent; each run gets the messages of the previous one."""

from collections.abc import AsyncIterator
from typing import Any

import driving
from driving import Job
from haystack.components.agents import Agent
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.tools import Tool


async def talk(job: Job, generator: ChatGenerator) -> AsyncIterator[str]:
    """Hold the conversation."""
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
