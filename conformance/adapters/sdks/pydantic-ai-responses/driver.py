"""Drives Pydantic AI with its model for OpenAI Responses, which stores replies by default."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import pydantic_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = AsyncOpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    settings: Any = {"openai_previous_response_id": "auto"} if job.state == "response" else None
    model = OpenAIResponsesModel(job.model, provider=OpenAIProvider(openai_client=client), settings=settings)
    return pydantic_agent.talk(job, model)


drive(talk, "pydantic-ai-slim", "openai")
