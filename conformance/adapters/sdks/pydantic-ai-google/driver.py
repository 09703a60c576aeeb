"""Drives Pydantic AI with its Google model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from google import genai
from google.genai import types
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.providers.google import GoogleProvider

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import pydantic_agent
from driving import Job, drive

SETTINGS = GoogleModelSettings(google_thinking_config={"include_thoughts": True})


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    options = types.HttpOptions(base_url=job.base_url.removesuffix("/v1"), timeout=20_000)
    provider = GoogleProvider(client=genai.Client(api_key=job.api_key, http_options=options))
    return pydantic_agent.talk(job, GoogleModel(job.model, provider=provider, settings=SETTINGS))


drive(talk, "pydantic-ai-slim", "google-genai")
