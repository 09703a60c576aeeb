"""Drives Agno: an agent with its Anthropic model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agno.models.anthropic import Claude

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import agno_agent
from driving import Job, drive

THINKING = {"type": "enabled", "budget_tokens": 2048}


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = {"base_url": job.base_url.removesuffix("/v1")}
    model = Claude(
        id=job.model, api_key=job.api_key, client_params=client, max_tokens=4096, thinking=THINKING, timeout=20
    )
    return agno_agent.talk(job, model)


drive(talk, "agno", "anthropic")
