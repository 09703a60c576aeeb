"""Drives the OpenAI Agents SDK with its LiteLLM model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agents.extensions.models.litellm_model import LitellmModel

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import openai_agents
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = LitellmModel(f"{job.provider}/{job.model}", base_url=job.base_url, api_key=job.api_key)
    return openai_agents.talk(job, model)


drive(talk, "openai-agents", "litellm", "openai")
