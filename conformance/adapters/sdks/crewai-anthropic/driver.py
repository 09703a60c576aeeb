"""Drives CrewAI: an agent without a crew, with its own client of Anthropic."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from crewai import LLM

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import crewai_agent
from driving import Job, drive

THINKING = {"type": "enabled", "budget_tokens": 2048}


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    where = {"model": f"anthropic/{job.model}", "base_url": job.base_url.removesuffix("/v1"), "api_key": job.api_key}
    return crewai_agent.talk(job, LLM(**where, stream=job.stream, max_tokens=4096, thinking=THINKING))


drive(talk, "crewai", "anthropic")
