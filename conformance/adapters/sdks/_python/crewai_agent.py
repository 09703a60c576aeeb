"""What the drivers of CrewAI share: an agent without a crew; each run gets the messages of the previous one."""

from collections.abc import AsyncIterator
from typing import Any

from crewai import LLM, Agent
from crewai.tools import BaseTool
from driving import Job, Tool, without_none
from pydantic import BaseModel, create_model


async def talk(job: Job, model: LLM) -> AsyncIterator[str]:
    """Hold the conversation; CrewAI puts role, goal and backstory into the system prompt."""
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
