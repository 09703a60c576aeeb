"""What the drivers of Strands Agents share: the agent, which is the same for every model."""

from collections.abc import AsyncIterator
from typing import Any

from driving import Job, Tool, ToolFailed
from strands import Agent
from strands.hooks import BeforeToolCallEvent
from strands.models import Model
from strands.tools.tools import PythonAgentTool


async def talk(job: Job, model: Model) -> AsyncIterator[str]:
    """Hold the conversation; the agent keeps its messages."""
    agent = Agent(
        model=model, tools=[tool_of(tool) for tool in job.tools], system_prompt=job.system, callback_handler=None
    )
    if any(tool.is_gated for tool in job.tools):
        agent.hooks.add_callback(BeforeToolCallEvent, lambda event: deny(job, event))
    for prompt in job.prompts:
        result = await agent.invoke_async(prompt, limits={"turns": job.max_turns})
        job.ended(result.stop_reason)
        yield "".join(block.get("text", "") for block in result.message["content"])


def deny(job: Job, event: BeforeToolCallEvent) -> None:
    """Cancel a call that the job denies; the hook is called for one call at a time."""
    name, arguments = event.tool_use["name"], event.tool_use["input"]
    job.gate([(name, arguments)])
    event.cancel_tool = job.tool(name).denies(arguments) or False


def tool_of(tool: Tool) -> PythonAgentTool:
    """Return a tool of the job, defined by its schema."""

    async def call(use: Any, **_: Any) -> Any:
        try:
            status, text = "success", await tool.acall(use["input"])
        except ToolFailed as failure:
            status, text = "error", str(failure)
        return {"toolUseId": use["toolUseId"], "status": status, "content": [{"text": text}]}

    spec: Any = {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.parameters}}
    return PythonAgentTool(tool.name, spec, call)
