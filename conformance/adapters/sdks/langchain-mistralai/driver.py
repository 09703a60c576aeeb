"""Drives LangChain's agent with ChatMistralAI of langchain-mistralai."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from langchain_mistralai import ChatMistralAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import langchain_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = ChatMistralAI(model=job.model, endpoint=job.base_url, api_key=job.api_key, streaming=job.stream, timeout=20)
    return langchain_agent.talk(job, model)


drive(talk, "langchain-mistralai", "langchain-core", "langchain")
