"""What the drivers of LLM share: a conversation whose chains call tools themselves."""

from collections.abc import AsyncIterator
from typing import Any

import driving
import llm
from driving import Job


async def talk(job: Job, model: llm.AsyncModel, **options: Any) -> AsyncIterator[str]:
    """Hold the conversation; `options` are those of the model."""
    tools = [tool_of(tool) for tool in job.tools]

    def gate(tool: Any, call: Any) -> None:
        job.gate([(tool.name, call.arguments)])
        reason = job.tool(tool.name).denies(call.arguments)
        if reason is not None:
            raise llm.CancelToolCall(reason)

    gated = {"before_call": gate} if any(tool.is_gated for tool in job.tools) else {}
    conversation = model.conversation(tools=tools, chain_limit=job.max_turns, **gated)
    for prompt in job.prompts:
        chain = conversation.chain(prompt, system=job.system, stream=job.stream, key=job.api_key, options=options)
        text = ""
        async for response in chain.responses():
            text = await response.text()
        yield text


def tool_of(tool: driving.Tool) -> llm.Tool:
    """Return a tool of the job, defined by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return llm.Tool(tool.name, tool.description, tool.parameters, call)
