"""Drives Strands Agents: an agent with its Gemini model, which always streams."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from strands.models.gemini import GeminiModel

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import strands_agent
from driving import Job, drive

THINKING = {"thinking_config": {"include_thoughts": True}}


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    options = {"base_url": job.base_url.removesuffix("/v1"), "timeout": 20_000}
    client = {"api_key": job.api_key, "http_options": options}
    return strands_agent.talk(job, GeminiModel(client_args=client, model_id=job.model, params=THINKING))


drive(talk, "strands-agents", "google-genai")
