"""Drives Google's ADK with its LiteLlm model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from google.adk.models.lite_llm import LiteLlm

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import adk_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = LiteLlm(f"{job.provider}/{job.model}", api_base=job.base_url, api_key=job.api_key, timeout=20)
    return adk_agent.talk(job, model)


drive(talk, "google-adk", "litellm")
