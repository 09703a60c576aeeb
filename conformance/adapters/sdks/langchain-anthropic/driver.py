"""Drives LangChain's agent with ChatAnthropic of langchain-anthropic."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from langchain_anthropic import ChatAnthropic

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import langchain_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = ChatAnthropic(
        model=job.model,
        base_url=job.base_url.removesuffix("/v1"),
        api_key=job.api_key,
        streaming=job.stream,
        max_tokens=4096,
        thinking={"type": "enabled", "budget_tokens": 2048},
        timeout=20,
    )
    return langchain_agent.talk(job, model)


drive(talk, "langchain-anthropic", "langchain-core", "langchain", "anthropic")
