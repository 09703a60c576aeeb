"""Drives Agno: an agent with the provider's model class."""

import sys
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path

from agno.models.base import Model

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import agno_agent
from driving import Job, drive

CLASSES = {
    "deepseek": ("deepseek", "DeepSeek"),
    "openrouter": ("openrouter", "OpenRouter"),
    "moonshot": ("moonshot", "MoonShot"),
    "openai": ("openai", "OpenAIChat"),
    "vllm": ("vllm", "VLLM"),
}


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    return agno_agent.talk(job, model_of(job))


def model_of(job: Job) -> Model:
    """Return a model of the provider's own class."""
    module, name = CLASSES[job.provider]
    model_class = getattr(import_module(f"agno.models.{module}"), name)
    return model_class(id=job.model, base_url=job.base_url, api_key=job.api_key, timeout=20)


drive(talk, "agno", "openai")
