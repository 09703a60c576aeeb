"""Drives Strands Agents: an agent with its Anthropic model, which always streams."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from strands.models.anthropic import AnthropicModel

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import strands_agent
from driving import Job, drive

THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2048}}


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = {"base_url": job.base_url.removesuffix("/v1"), "api_key": job.api_key, "timeout": 20}
    model = AnthropicModel(client_args=client, model_id=job.model, max_tokens=4096, params=THINKING)
    return strands_agent.talk(job, model)


drive(talk, "strands-agents", "anthropic")
