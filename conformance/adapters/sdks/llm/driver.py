"""Drives LLM, the library behind the command of that name: a conversation whose chains call tools themselves."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import llm
from llm.default_plugins.openai_models import AsyncChat

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import driving
from driving import Job, drive


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = AsyncChat(job.model, model_name=job.model, api_base=job.base_url, supports_tools=True)
    tools = [tool_of(tool) for tool in job.tools]

    def gate(tool: Any, call: Any) -> None:
        job.gate([(tool.name, call.arguments)])
        reason = job.tool(tool.name).denies(call.arguments)
        if reason is not None:
            raise llm.CancelToolCall(reason)

    gated = {"before_call": gate} if any(tool.is_gated for tool in job.tools) else {}
    conversation = model.conversation(tools=tools, chain_limit=job.max_turns, **gated)
    for prompt in job.prompts:
        chain = conversation.chain(prompt, system=job.system, stream=job.stream, key=job.api_key)
        text = ""
        async for response in chain.responses():
            text = await response.text()
        yield text


def tool_of(tool: driving.Tool) -> llm.Tool:
    """Return a tool of the job, defined by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return llm.Tool(tool.name, tool.description, tool.parameters, call)


drive(talk, "llm", "openai")
