"""Drives CrewAI: an agent without a crew."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from crewai import LLM

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import crewai_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = LLM(f"{job.provider}/{job.model}", base_url=job.base_url, api_key=job.api_key, stream=job.stream)
    return crewai_agent.talk(job, model)


drive(talk, "crewai", "openai")
