"""Drives Pydantic AI with its Anthropic model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import pydantic_agent
from driving import Job, drive

SETTINGS = AnthropicModelSettings(max_tokens=4096, anthropic_thinking={"type": "enabled", "budget_tokens": 2048})


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = AsyncAnthropic(base_url=job.base_url.removesuffix("/v1"), api_key=job.api_key, timeout=20)
    model = AnthropicModel(job.model, provider=AnthropicProvider(anthropic_client=client), settings=SETTINGS)
    return pydantic_agent.talk(job, model)


drive(talk, "pydantic-ai-slim", "anthropic")
