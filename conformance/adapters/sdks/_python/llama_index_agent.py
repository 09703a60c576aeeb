"""What the drivers of LlamaIndex share: the function agent with a memory, which is the same for every model."""

from collections.abc import AsyncIterator
from typing import Any

from driving import Job, Tool, without_none
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from pydantic import create_model


async def talk(job: Job, model: FunctionCallingLLM) -> AsyncIterator[str]:
    """Hold the conversation."""
    agent = FunctionAgent(
        tools=[tool_of(tool) for tool in job.tools], llm=model, system_prompt=job.system, streaming=job.stream
    )
    memory = Memory.from_defaults(session_id="driven")
    for prompt in job.prompts:
        yield str(await agent.run(prompt, memory=memory, max_iterations=4 * job.max_turns))


def tool_of(tool: Tool) -> FunctionTool:
    """Return a tool of the job; LlamaIndex takes its parameters from a pydantic class."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(without_none(arguments))

    parameters: Any = create_model(tool.name, **tool.fields())
    return FunctionTool.from_defaults(async_fn=call, name=tool.name, description=tool.description, fn_schema=parameters)
