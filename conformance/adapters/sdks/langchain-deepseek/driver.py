"""Drives LangChain's agent with ChatDeepSeek of langchain-deepseek."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from langchain_deepseek import ChatDeepSeek

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import langchain_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = ChatDeepSeek(model=job.model, api_base=job.base_url, api_key=job.api_key, streaming=job.stream, timeout=20)
    return langchain_agent.talk(job, model)


drive(talk, "langchain-deepseek", "langchain-core", "langchain")
