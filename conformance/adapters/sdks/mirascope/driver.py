"""Drives Mirascope: responses are resumed with the results of their calls, with its OpenAI completions provider."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mirascope import llm
from mirascope.llm.tools.tool_schema import ToolParameterSchema

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation with the loop that its documentation shows."""
    llm.register_provider("openai:completions", scope="openai/", base_url=job.base_url, api_key=job.api_key)
    model = llm.Model(f"openai/{job.model}:completions")
    tools = [tool_of(tool) for tool in job.tools]
    history: list[Any] = [llm.messages.system(job.system)] if job.system else []
    for prompt in job.prompts:
        messages = [*history, llm.messages.user(prompt)]
        response = await (model.stream_async if job.stream else model.call_async)(messages, tools=tools)
        for _ in range(job.max_turns):
            if job.stream:
                await response.finish()
            if not response.tool_calls:
                break
            response = await response.resume(await response.execute_tools())
        history = list(response.messages)
        yield response.text()


def tool_of(tool: Tool) -> llm.AsyncTool[Any, str]:
    """Return a tool of the job, defined by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    properties, required = tool.parameters.get("properties", {}), tool.parameters.get("required", [])
    schema = ToolParameterSchema(properties=properties, required=required)
    return llm.AsyncTool(call, tool.name, tool.description, schema, strict=False)


drive(talk, "mirascope", "openai")
