"""Drives Microsoft's Agent Framework: an agent with its chat completion client, in one session."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agent_framework import Agent, FunctionTool, Message
from agent_framework.openai import OpenAIChatCompletionClient

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = OpenAIChatCompletionClient(job.model, base_url=job.base_url, api_key=job.api_key)
    agent = Agent(client, instructions=job.system, tools=[tool_of(tool) for tool in job.tools])
    session = agent.create_session()
    for prompt in job.prompts:
        result = await run(job, agent, prompt, session)
        while result.user_input_requests:
            result = await run(job, agent, decide(job, result.user_input_requests), session)
        yield result.text


async def run(job: Job, agent: Agent, inputs: Any, session: Any) -> Any:
    """Return the result of one run, which ends with an answer or with calls that need approval."""
    if not job.stream:
        return await agent.run(inputs, session=session)
    stream = agent.run(inputs, session=session, stream=True)
    async for _ in stream:
        pass
    return await stream.get_final_response()


def decide(job: Job, requests: list[Any]) -> Message:
    """Return the job's decision about each pending call; there is no place for the reason."""
    calls = [(request, request.function_call.name, request.function_call.arguments) for request in requests]
    job.gate([(name, arguments) for _, name, arguments in calls])
    return Message(
        "user",
        [
            request.to_function_approval_response(approved=job.tool(name).denies(arguments) is None)
            for request, name, arguments in calls
        ],
    )


def tool_of(tool: Tool) -> FunctionTool:
    """Return a tool of the job, defined by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    mode = "always_require" if tool.is_gated else "never_require"
    return FunctionTool(
        name=tool.name, description=tool.description, func=call, input_model=tool.parameters, approval_mode=mode
    )


drive(talk, "agent-framework-core", "agent-framework-openai", "openai")
