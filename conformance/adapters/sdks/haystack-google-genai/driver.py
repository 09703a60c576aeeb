"""Drives Haystack with its Google GenAI chat generator."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from haystack.utils import Secret
from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import haystack_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation; only Google's own variable tells the generator another server."""
    os.environ["GOOGLE_GEMINI_BASE_URL"] = job.base_url.removesuffix("/v1")
    thinking = {"thinking_config": {"include_thoughts": True}}
    generator = GoogleGenAIChatGenerator(
        api_key=Secret.from_token(job.api_key), model=job.model, generation_kwargs=thinking
    )
    return haystack_agent.talk(job, generator)


drive(talk, "google-genai-haystack", "haystack-ai", "google-genai")
