"""What the drivers of the OpenAI Agents SDK share: the run, which is the same for every model class."""

from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, FunctionTool, Model, ModelSettings, Runner, set_tracing_disabled
from driving import Job, Tool, ToolFailed, parse_arguments


async def talk(job: Job, model: Model, settings: ModelSettings | None = None) -> AsyncIterator[str]:
    """Hold the conversation with the SDK's runner; the history is the input list that each result returns.

    If the server keeps the response, the history is its id.
    """
    set_tracing_disabled(disabled=True)
    agent: Agent[None] = Agent(
        "driven",
        instructions=job.system,
        model=model,
        model_settings=settings or ModelSettings(),
        tools=[tool_of(tool) for tool in job.tools],
    )
    history: list[Any] = []
    previous: dict[str, Any] = {"auto_previous_response_id": True} if job.state == "response" else {}
    for prompt in job.prompts:
        result = await run(job, agent, [*history, {"role": "user", "content": prompt}], **previous)
        # Releases before 2026 have no approval.
        while getattr(result, "interruptions", ()):
            result = await run(job, agent, decide(job, result), **previous)
        if previous:
            previous["previous_response_id"] = result.last_response_id
        else:
            history = result.to_input_list()
        yield result.final_output


async def run(job: Job, agent: Agent[None], inputs: Any, **previous: Any) -> Any:
    """Return the result of one run, which ends with an answer or with calls that need approval."""
    if not job.stream:
        return await Runner.run(agent, inputs, max_turns=job.max_turns, **previous)
    result = Runner.run_streamed(agent, inputs, max_turns=job.max_turns, **previous)
    async for _ in result.stream_events():
        pass
    return result


def decide(job: Job, result: Any) -> Any:
    """Return the state of a run in which the job has approved or denied each pending call."""
    state = result.to_state()
    job.gate([(pending.name, pending.arguments) for pending in result.interruptions])
    for pending in result.interruptions:
        reason = job.tool(pending.name).denies(pending.arguments)
        if reason is None:
            state.approve(pending)
        else:
            state.reject(pending, rejection_message=reason)
    return state


def tool_of(tool: Tool) -> FunctionTool:
    """Return a tool of the job, defined by its schema; such a tool must turn its failures into results itself."""

    async def call(_: Any, arguments: str) -> str:
        try:
            return await tool.acall(parse_arguments(arguments))
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
