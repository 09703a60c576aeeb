"""Drives Pydantic AI: an agent with the provider's own class; the message history is kept between runs."""

import sys
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, Tool, ToolDenied
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import driving
from driving import Job, ToolFailed, drive

# The provider's own class, where there is one, is what the documentation recommends.
CLASSES = {
    "deepseek": ("deepseek", "DeepSeekProvider"),
    "moonshot": ("moonshotai", "MoonshotAIProvider"),
    "openrouter": ("openrouter", "OpenRouterProvider"),
    "zai": ("zai", "ZaiProvider"),
    "vllm": ("vllm", "VLLMProvider"),
}


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    gates = [DeferredToolRequests] if any(tool.is_gated for tool in job.tools) else []
    agent: Agent[None, Any] = Agent(
        model_of(job),
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


def model_of(job: Job) -> Model:
    """Return the model with the provider's own class, if there is one."""
    if job.provider == "mistral":
        models, providers = import_module("pydantic_ai.models.mistral"), import_module("pydantic_ai.providers.mistral")
        server = job.base_url.removesuffix("/v1")
        return models.MistralModel(job.model, provider=providers.MistralProvider(api_key=job.api_key, base_url=server))
    module, name = CLASSES.get(job.provider, ("openai", "OpenAIProvider"))
    client = AsyncOpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    provider = getattr(import_module(f"pydantic_ai.providers.{module}"), name)(openai_client=client)
    if job.provider == "openrouter":
        return import_module("pydantic_ai.models.openrouter").OpenRouterModel(job.model, provider=provider)
    return OpenAIChatModel(job.model, provider=provider)


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


drive(talk, "pydantic-ai-slim", "openai")
