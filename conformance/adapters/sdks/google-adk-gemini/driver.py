"""Drives Google's ADK with its own Gemini model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from google.adk.models import Gemini
from google.genai import types

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import adk_agent
from driving import Job, drive

SETTINGS = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = {"api_key": job.api_key}
    model = Gemini(model=job.model, base_url=job.base_url.removesuffix("/v1"), client_kwargs=client)
    return adk_agent.talk(job, model, SETTINGS)


drive(talk, "google-adk", "google-genai")
