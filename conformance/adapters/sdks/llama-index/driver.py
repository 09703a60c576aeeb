"""Drives LlamaIndex: its function agent with the provider's class; a memory keeps the history."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from llama_index.llms.deepseek import DeepSeek
from llama_index.llms.openai_like import OpenAILike
from pydantic import create_model

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive, without_none


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    agent = FunctionAgent(
        tools=[tool_of(tool) for tool in job.tools], llm=model_of(job), system_prompt=job.system, streaming=job.stream
    )
    memory = Memory.from_defaults(session_id="driven")
    for prompt in job.prompts:
        yield str(await agent.run(prompt, memory=memory, max_iterations=4 * job.max_turns))


def model_of(job: Job) -> FunctionCallingLLM:
    """Return a model of the provider's own class, or of the one for OpenAI-compatible servers.

    LlamaIndex's lists of models that call functions are years old, so the model's abilities must be given.
    """
    where = {"model": job.model, "api_base": job.base_url, "api_key": job.api_key, "timeout": 20}
    abilities = {"is_chat_model": True, "is_function_calling_model": True}
    model_class = DeepSeek if job.provider == "deepseek" else OpenAILike
    return model_class(**where, **abilities)


def tool_of(tool: Tool) -> FunctionTool:
    """Return a tool of the job; LlamaIndex takes its parameters from a pydantic class."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(without_none(arguments))

    parameters: Any = create_model(tool.name, **tool.fields())
    return FunctionTool.from_defaults(async_fn=call, name=tool.name, description=tool.description, fn_schema=parameters)


drive(talk, "llama-index-core", "llama-index-llms-openai", "llama-index-llms-openai-like")
