"""What the drivers of Agno share: the agent, which is the same for every model; its history is in memory."""

from collections.abc import AsyncIterator
from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.run.agent import RunErrorEvent
from agno.tools.function import Function
from driving import Job, Tool


async def talk(job: Job, model: Model) -> AsyncIterator[str]:
    """Hold the conversation."""
    agent = Agent(
        model=model,
        tools=[tool_of(tool) for tool in job.tools],
        system_message=job.system,
        db=InMemoryDb(),
        session_id="driven",
        add_history_to_context=True,
        telemetry=False,
    )
    for prompt in job.prompts:
        result = await result_of(job, agent.arun(prompt, **stream_options(job)))
        while result.is_paused:
            decide(job, result)
            paused = {"run_id": result.run_id, "requirements": result.requirements, "session_id": "driven"}
            result = await result_of(job, agent.acontinue_run(**paused, **stream_options(job)))
        yield result.content


def stream_options(job: Job) -> dict[str, bool]:
    """Return the options that make a run stream and yield its result at the end."""
    return {"stream": True, "yield_run_output": True} if job.stream else {}


async def result_of(job: Job, run: Any) -> Any:
    """Return the result of a run that has ended or is waiting for approval; raises RuntimeError if it has failed.

    Agno raises nothing then: the content of such a result is the error's text.
    """
    result = [event async for event in run][-1] if job.stream else await run
    if isinstance(result, RunErrorEvent) or result.status == "ERROR":
        raise RuntimeError(result.content)
    return result


def decide(job: Job, result: Any) -> None:
    """Approve or deny each pending call, as the job says."""
    calls = [
        (pending, pending.tool_execution.tool_name, pending.tool_execution.tool_args)
        for pending in result.active_requirements
    ]
    job.gate([(name, arguments) for _, name, arguments in calls])
    for pending, name, arguments in calls:
        reason = job.tool(name).denies(arguments)
        pending.confirm() if reason is None else pending.reject(reason)


def tool_of(tool: Tool) -> Function:
    """Return a tool of the job, defined by its schema."""

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
