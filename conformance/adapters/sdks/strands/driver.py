"""Drives Strands Agents: an agent with its OpenAI model, which always streams."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from strands.models.openai import OpenAIModel

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import strands_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = {"base_url": job.base_url, "api_key": job.api_key, "timeout": 20}
    return strands_agent.talk(job, OpenAIModel(client_args=client, model_id=job.model))


drive(talk, "strands-agents", "openai")
