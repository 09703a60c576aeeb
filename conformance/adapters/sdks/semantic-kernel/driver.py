"""Drives Semantic Kernel: a chat completion agent with its OpenAI service, in one thread of chat history."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import KernelFunctionFromMethod, KernelParameterMetadata, KernelPlugin, kernel_function

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = AsyncOpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    service = OpenAIChatCompletion(ai_model_id=job.model, async_client=client)
    plugin = KernelPlugin("tools", functions=[function_of(tool) for tool in job.tools])
    for function in plugin.functions.values():
        function.metadata.plugin_name = None  # otherwise its name on the wire is prefixed with the plugin's
    agent = ChatCompletionAgent(service=service, name="driven", instructions=job.system, plugins=[plugin])
    thread = ChatHistoryAgentThread()
    for prompt in job.prompts:
        if job.stream:
            yield "".join([str(chunk.message) async for chunk in agent.invoke_stream(prompt, thread=thread)])
        else:
            yield str((await agent.get_response(prompt, thread=thread)).message)


def function_of(tool: Tool) -> KernelFunctionFromMethod:
    """Return a tool of the job as a function of a plugin, defined by its schema."""

    @kernel_function(name=tool.name, description=tool.description)
    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    required = tool.parameters.get("required", [])
    parameters = [
        KernelParameterMetadata(name=name, schema_data=schema, is_required=name in required, type_object=object)
        for name, schema in tool.parameters.get("properties", {}).items()
    ]
    return KernelFunctionFromMethod(method=call, plugin_name="tools", parameters=parameters)


drive(talk, "semantic-kernel", "openai")
