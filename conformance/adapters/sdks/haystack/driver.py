"""Drives Haystack with its OpenAI chat generator."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import haystack_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    generator = OpenAIChatGenerator(
        api_key=Secret.from_token(job.api_key), model=job.model, api_base_url=job.base_url, timeout=20
    )
    return haystack_agent.talk(job, generator)


drive(talk, "haystack-ai", "openai")
