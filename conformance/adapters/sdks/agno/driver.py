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
        result = await ended(job, agent.arun(prompt, **streamed(job)))
        while result.is_paused:
            decide(job, result)
            known = {"run_id": result.run_id, "requirements": result.requirements, "session_id": "driven"}
            result = await ended(job, agent.acontinue_run(**known, **streamed(job)))
        yield result.content


def streamed(job: Job) -> dict[str, bool]:
    """Return how a run is told to stream, and to give its result at the end."""
    return {"stream": True, "yield_run_output": True} if job.stream else {}


async def ended(job: Job, run: Any) -> Any:
    """Return the result of a run that has ended, or waits for approval."""
    if not job.stream:
        return await run
    return [event async for event in run][-1]


def decide(job: Job, result: Any) -> None:
    """Approve or deny each call that waits, as the job says."""
    calls = [
        (each, each.tool_execution.tool_name, each.tool_execution.tool_args) for each in result.active_requirements
    ]
    job.gate([(name, arguments) for _, name, arguments in calls])
    for waiting, name, arguments in calls:
        reason = job.tool(name).denies(arguments)
        waiting.confirm() if reason is None else waiting.reject(reason)


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
        requires_confirmation=tool.is_gated or None,
    )


drive(talk, "agno", "openai")
