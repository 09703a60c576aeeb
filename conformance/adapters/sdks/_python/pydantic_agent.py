"""What the drivers of Pydantic AI share: the agent, which is the same for every model class."""

from collections.abc import AsyncIterator
from typing import Any

import driving
from driving import Job, ToolFailed
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, Tool, ToolDenied
from pydantic_ai.models import Model


async def talk(job: Job, model: Model) -> AsyncIterator[str]:
    """Hold the conversation; the message history is kept between runs."""
    gates = [DeferredToolRequests] if any(tool.is_gated for tool in job.tools) else []
    agent: Agent[None, Any] = Agent(
        model,
        system_prompt=job.system,
        tools=[tool_of(tool) for tool in job.tools],
        output_type=[str, *gates],
        retries=3,
    )
    history: list[Any] = []
    for prompt in job.prompts:
        result = await run(job, agent, prompt, message_history=history)
        while isinstance(result.output, DeferredToolRequests):
            decisions = decide(job, result.output)
            result = await run(job, agent, message_history=result.all_messages(), deferred_tool_results=decisions)
        history = result.all_messages()
        job.ended(getattr(history[-1], "finish_reason", None))
        yield result.output


async def run(job: Job, agent: Agent[None, Any], *prompts: str, **options: Any) -> Any:
    """Return the result of one run, iterated as users of event streams do, since run_stream ends early."""
    async with agent.iter(*prompts, **options) as steps:
        async for node in steps:
            if job.stream and Agent.is_model_request_node(node):
                async with node.stream(steps.ctx) as events:
                    async for _ in events:
                        pass
    return steps.result


def decide(job: Job, requests: DeferredToolRequests) -> DeferredToolResults:
    """Return the job's decision about each pending call."""
    job.gate([(call.tool_name, call.args) for call in requests.approvals])
    reasons = {call.tool_call_id: job.tool(call.tool_name).denies(call.args) for call in requests.approvals}
    return DeferredToolResults(
        approvals={name: True if reason is None else ToolDenied(reason) for name, reason in reasons.items()}
    )


def tool_of(tool: driving.Tool) -> Tool:
    """Return a tool of the job, defined by its schema; ModelRetry is Pydantic AI's way to send an error as a result."""

    async def call(**arguments: Any) -> str:
        try:
            return await tool.acall(arguments)
        except ToolFailed as failure:
            raise ModelRetry(str(failure)) from failure

    defined = Tool.from_schema(call, tool.name, tool.description, tool.parameters)
    defined.requires_approval = tool.is_gated
    return defined
