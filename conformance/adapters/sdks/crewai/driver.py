"""Drives CrewAI: an agent without a crew; each run gets the messages of the previous one."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from crewai import LLM, Agent
from crewai.tools import BaseTool
from pydantic import BaseModel, create_model

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive, without_none


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation; CrewAI puts role, goal and backstory into the system prompt."""
    model = LLM(f"{job.provider}/{job.model}", base_url=job.base_url, api_key=job.api_key, stream=job.stream)
    agent = Agent(
        role="Assistant",
        goal="Answer the user.",
        backstory=job.system,
        llm=model,
        tools=[tool_of(tool) for tool in job.tools],
        max_iter=job.max_turns,
    )
    history: list[Any] = []
    for prompt in job.prompts:
        result = await agent.kickoff_async([*history, {"role": "user", "content": prompt}])
        history = [message for message in result.messages if message["role"] != "system"]
        yield result.raw


def tool_of(tool: Tool) -> BaseTool:
    """Return a tool of the job; CrewAI takes its parameters from a pydantic class."""
    parameters: Any = create_model(tool.name, **tool.fields())

    class JobTool(BaseTool):
        name: str = tool.name
        description: str = tool.description
        args_schema: type[BaseModel] = parameters

        def _run(self, **arguments: Any) -> str:
            return tool.call(without_none(arguments))

    return JobTool()


drive(talk, "crewai", "openai")
