"""Drives LangChain's agent with ChatOpenRouter of langchain-openrouter."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from langchain_openrouter import ChatOpenRouter

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import langchain_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = ChatOpenRouter(
        model=job.model, base_url=job.base_url, api_key=job.api_key, streaming=job.stream, timeout=20_000
    )
    return langchain_agent.talk(job, model)


drive(talk, "langchain-openrouter", "langchain-core", "langchain")
