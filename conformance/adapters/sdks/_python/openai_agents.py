"""What the drivers of the OpenAI Agents SDK share: the run, which is the same around each model class."""

from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, FunctionTool, Model, Runner, set_tracing_disabled
from driving import Job, Tool, ToolFailed, arguments_of


async def talk(job: Job, model: Model) -> AsyncIterator[str]:
    """Hold the conversation by the SDK's runner; the history is what its results tell to ask with next."""
    set_tracing_disabled(disabled=True)
    agent: Agent[None] = Agent("driven", instructions=job.system, model=model, tools=[tool_of(t) for t in job.tools])
    history: list[Any] = []
    for prompt in job.prompts:
        result = await run(job, agent, [*history, {"role": "user", "content": prompt}])
        # Releases before 2026 know of no approval.
        while getattr(result, "interruptions", ()):
            result = await run(job, agent, decided(job, result))
        history = result.to_input_list()
        yield result.final_output


async def run(job: Job, agent: Agent[None], asked: Any) -> Any:
    """Return the result of one run to its end, or to calls that need approval."""
    if not job.stream:
        return await Runner.run(agent, asked, max_turns=job.max_turns)
    result = Runner.run_streamed(agent, asked, max_turns=job.max_turns)
    async for _ in result.stream_events():
        pass
    return result


def decided(job: Job, result: Any) -> Any:
    """Return the state of a run in which each call that waits is approved or denied, as the job says."""
    state = result.to_state()
    job.gate([(waiting.name, waiting.arguments) for waiting in result.interruptions])
    for waiting in result.interruptions:
        reason = job.tool(waiting.name).denies(waiting.arguments)
        if reason is None:
            state.approve(waiting)
        else:
            state.reject(waiting, rejection_message=reason)
    return state


def tool_of(tool: Tool) -> FunctionTool:
    """Return the tool by its schema; one made by hand has to turn its failures into results itself."""

    async def call(_: Any, arguments: str) -> str:
        try:
            return await tool.acall(arguments_of(arguments))
        except ToolFailed as failure:
            return str(failure)

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=call,
        strict_json_schema=False,
        **({"needs_approval": True} if tool.is_gated else {}),
    )
