"""Drives Pydantic AI with its Google model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.providers.google import GoogleProvider

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import pydantic_agent
from driving import Job, drive

SETTINGS = GoogleModelSettings(google_thinking_config={"include_thoughts": True})


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    provider = GoogleProvider(api_key=job.api_key, base_url=job.base_url.removesuffix("/v1"))
    return pydantic_agent.talk(job, GoogleModel(job.model, provider=provider, settings=SETTINGS))


drive(talk, "pydantic-ai-slim", "google-genai")
