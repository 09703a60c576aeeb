"""Drives Agno with its Gemini model."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agno.models.google import Gemini

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import agno_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = {"http_options": {"base_url": job.base_url.removesuffix("/v1"), "timeout": 20_000}}
    model = Gemini(id=job.model, api_key=job.api_key, include_thoughts=True, client_params=client)
    return agno_agent.talk(job, model)


drive(talk, "agno", "google-genai")
