"""Drives Agno: an agent with the model class of the provider, its history kept in a database in memory."""

import sys
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.tools.function import Function

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive

CLASSES = {
    "deepseek": ("deepseek", "DeepSeek"),
    "openrouter": ("openrouter", "OpenRouter"),
    "moonshot": ("moonshot", "MoonShot"),
    "openai": ("openai", "OpenAIChat"),
    "vllm": ("vllm", "VLLM"),
}


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    agent = Agent(
        model=model_of(job),
        tools=[tool_of(tool) for tool in job.tools],
        system_message=job.system,
        db=InMemoryDb(),
        session_id="driven",
        add_history_to_context=True,
        telemetry=False,
    )
    for prompt in job.prompts:
        if job.stream:
            result = None
            async for event in agent.arun(prompt, stream=True, yield_run_output=True):
                result = event
        else:
            result = await agent.arun(prompt)
        yield result.content


def model_of(job: Job) -> Model:
    """Return the provider's own class."""
    module, name = CLASSES[job.provider]
    made = getattr(import_module(f"agno.models.{module}"), name)
    return made(id=job.model, base_url=job.base_url, api_key=job.api_key, timeout=20)


def tool_of(tool: Tool) -> Function:
    """Return the tool by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return Function(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        entrypoint=call,
        skip_entrypoint_processing=True,
    )


drive(talk, "agno", "openai")
