"""Drives the OpenAI Agents SDK on Responses, stateless unless the job leaves its state to the server."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agents import ModelSettings, OpenAIResponsesModel
from openai import AsyncOpenAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import openai_agents
from driving import Job, drive

STATELESS = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = AsyncOpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    settings = ModelSettings(store=True) if job.state else STATELESS
    return openai_agents.talk(job, OpenAIResponsesModel(job.model, openai_client=client), settings)


drive(talk, "openai-agents", "openai")
