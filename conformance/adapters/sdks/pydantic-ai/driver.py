"""Drives Pydantic AI: an agent with the provider's own class; the message history is kept between runs."""

import sys
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path

from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import pydantic_agent
from driving import Job, drive

# The provider's own class, where there is one, is what the documentation recommends.
CLASSES = {
    "deepseek": ("deepseek", "DeepSeekProvider"),
    "moonshot": ("moonshotai", "MoonshotAIProvider"),
    "openrouter": ("openrouter", "OpenRouterProvider"),
    "zai": ("zai", "ZaiProvider"),
    "vllm": ("vllm", "VLLMProvider"),
}


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    return pydantic_agent.talk(job, model_of(job))


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


drive(talk, "pydantic-ai-slim", "openai")
