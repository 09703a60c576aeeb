"""Drives AutoGen: an assistant agent with its OpenAI client; the agent keeps its model context."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_core import CancellationToken
from autogen_core.tools import BaseTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel, create_model

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive, without_none


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    abilities: Any = {"vision": False, "function_calling": True, "json_output": True, "structured_output": False}
    client = OpenAIChatCompletionClient(
        model=job.model,
        base_url=job.base_url,
        api_key=job.api_key,
        model_info={**abilities, "family": "unknown"},
        timeout=20,
    )
    agent = AssistantAgent(
        "driven",
        client,
        tools=[JobTool(tool) for tool in job.tools],
        system_message=job.system,
        model_client_stream=job.stream,
        max_tool_iterations=job.max_turns,
    )
    for prompt in job.prompts:
        async for event in agent.run_stream(task=prompt):
            if isinstance(event, TaskResult):
                yield event.messages[-1].to_text()


class JobTool(BaseTool[BaseModel, str]):
    """A tool of the job; AutoGen takes its parameters from a pydantic class."""

    def __init__(self, tool: Tool) -> None:
        parameters: Any = create_model(tool.name, **tool.fields())
        super().__init__(parameters, str, tool.name, tool.description)
        self.tool = tool

    async def run(self, args: BaseModel, cancellation_token: CancellationToken) -> str:  # noqa: ARG002 - required by the base class
        """Return the result of a call."""
        return await self.tool.acall(without_none(args.model_dump()))


drive(talk, "autogen-agentchat", "autogen-ext", "openai")
