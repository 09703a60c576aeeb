"""Drives the OpenAI Agents SDK with chat completions, through a client configured for the provider."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agents import OpenAIChatCompletionsModel
from openai import AsyncOpenAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import openai_agents
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = AsyncOpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    return openai_agents.talk(job, OpenAIChatCompletionsModel(job.model, openai_client=client))


drive(talk, "openai-agents", "openai")
