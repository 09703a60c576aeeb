"""Drives LiteLLM's interface for Messages with Anthropic, which speaks it."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import litellm_messages
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    return litellm_messages.talk(job, model=f"anthropic/{job.model}", api_base=job.base_url.removesuffix("/v1"))


drive(talk, "litellm")
