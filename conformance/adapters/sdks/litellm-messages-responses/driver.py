"""Drives LiteLLM's bridge: Messages as its caller speaks them, Responses as it sends them."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import litellm_messages
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    return litellm_messages.talk(job, model=f"openai/{job.model}", api_base=job.base_url)


drive(talk, "litellm", "openai")
