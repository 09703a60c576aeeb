"""What the drivers of LangChain's packages share: the agent, which is the same for every chat model."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from driving import Job, Tool
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, ToolMessage, convert_to_messages
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command


async def talk(job: Job, model: BaseChatModel) -> AsyncIterator[str]:
    """Hold the conversation with LangChain's agent, whose checkpointer keeps the history."""
    gated = {tool.name: True for tool in job.tools if tool.is_gated}
    gates = [HumanInTheLoopMiddleware(interrupt_on=gated)] if gated else []
    agent = create_agent(
        model,
        [tool_of(tool) for tool in job.tools],
        system_prompt=job.system,
        middleware=[failures_as_results, *gates],
        checkpointer=InMemorySaver(),
    )
    given = convert_to_messages(job.history)
    for prompt in job.prompts:
        state = await run(job, agent, {"messages": [*given, HumanMessage(prompt)]})
        given = []
        while state.interrupts:
            decisions = decide(job, state.interrupts[0].value["action_requests"])
            state = await run(job, agent, Command(resume={"decisions": decisions}))
        about = state.values["messages"][-1].response_metadata
        job.ended(about.get("finish_reason") or about.get("stop_reason") or about.get("status"))
        yield state.values["messages"][-1].text


async def run(job: Job, agent: Any, inputs: Any) -> Any:
    """Return the agent's state after one run, which ends with an answer or with calls that need approval."""
    config = {"configurable": {"thread_id": "driven"}, "recursion_limit": 4 * job.max_turns}
    if job.stream:
        async for _ in agent.astream(inputs, config, stream_mode="messages"):
            pass
    else:
        await agent.ainvoke(inputs, config)
    return await agent.aget_state(config)


def decide(job: Job, requests: Sequence[Any]) -> list[dict[str, str]]:
    """Return the job's decision about each pending call."""
    job.gate([(request["name"], request["args"]) for request in requests])
    reasons = [job.tool(request["name"]).denies(request["args"]) for request in requests]
    return [{"type": "approve"} if reason is None else {"type": "reject", "message": reason} for reason in reasons]


def tool_of(tool: Tool) -> StructuredTool:
    """Return a tool of the job, defined by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return StructuredTool(
        name=tool.name, description=tool.description, args_schema=tool.parameters, coroutine=call, func=None
    )


@wrap_tool_call
async def failures_as_results(request: Any, handler: Any) -> Any:
    """Return a tool's failure as its result, as LangChain's documentation on tool errors shows."""
    try:
        return await handler(request)
    except Exception as failure:  # noqa: BLE001 - the model gets whatever a tool raises
        return ToolMessage(str(failure), tool_call_id=request.tool_call["id"], status="error")
